// The beginning of Matrix Market files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/text_head.hpp"
#include "ingest/source/line_source.hpp"

namespace deltamatch::ingest {

/// `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, in any case.
struct MtxBanner {
  enum class Field : std::uint8_t { pattern, integer, real };
  Field field = Field::pattern;
  bool symmetric = false;  ///< symmetric or skew-symmetric: an entry also stands for the one across the diagonal
};

/// Returns the banner of a Matrix Market file. Only comments and blank lines may stand above it. Empty if there is none.
[[nodiscard]] std::string_view mtx_banner_of(std::string_view head) noexcept;

/// Reads the banner of such a file. Returns what is wrong with it or not supported; empty if nothing is.
[[nodiscard]] std::string read_mtx_banner(std::string_view line, MtxBanner& banner);

/// Whether there is a banner.
[[nodiscard]] bool begins_mtx(const TextHead& head);

/// Whether edges are directed, by the banner.
[[nodiscard]] bool mtx_is_directed(LineSource& lines, const CodecOptions& options);

}  // namespace deltamatch::ingest
