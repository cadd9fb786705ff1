// The banner of Matrix Market files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, letters of either case.
struct MtxBanner {
  enum class Field : std::uint8_t { pattern, integer, real };
  Field field = Field::pattern;
  bool symmetric = false;  ///< symmetric or skew-symmetric: each entry stands for itself and the one across the diagonal
};

/// Whether a text begins as Matrix Market files do.
[[nodiscard]] bool begins_as_mtx(std::string_view head) noexcept;

/// Reads the first line of such a file. Returns what is wrong with it or is not read, or nothing.
[[nodiscard]] std::string read_mtx_banner(std::string_view line, MtxBanner& banner);

}  // namespace deltamatch::ingest
