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

/// The banner of a Matrix Market file, above which only comments and blank lines stand; an empty text: there is none.
[[nodiscard]] std::string_view mtx_banner_of(std::string_view head) noexcept;

/// Reads the banner of such a file. Returns what is wrong with it or is not read, or nothing.
[[nodiscard]] std::string read_mtx_banner(std::string_view line, MtxBanner& banner);

}  // namespace deltamatch::ingest
