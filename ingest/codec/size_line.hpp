// A line of sizes above a list of edges, such as `5 7` or `5 5 7`. It would be read as an edge in silence.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Follows the records of an input whose first line may state sizes: `VERTICES EDGES` or `ROWS COLUMNS ENTRIES`. Not
/// thread-safe.
class SizeLine {
 public:
  /// Reads the first line of records. Nothing if it cannot state sizes.
  [[nodiscard]] static std::optional<SizeLine> of(std::string_view line, std::uint64_t number);

  /// Looks at an update of the record in line `number`. Returns false once it is clear that the line is an edge. O(1).
  bool see(const Update& update, std::uint64_t number) noexcept;
  /// Judges all records. Call it at the end of the input.
  [[nodiscard]] std::optional<Doubts::Doubt> doubt() const;

 private:
  [[nodiscard]] bool states_count() const noexcept;
  /// Whether each vertex up to this number occurs behind the line.
  [[nodiscard]] bool all_occur(std::int64_t vertices) const noexcept;

  static constexpr std::int64_t many = 100;  // so many vertices are no accident
  static constexpr std::int64_t fewest = 3;  // vertices or records; fewer say nothing

  std::string text_;
  std::uint64_t line_ = 0;
  std::int64_t first_ = 0;  // the numbers of the line
  std::int64_t second_ = 0;
  std::optional<std::int64_t> third_;
  bool read_ = false;           // as an edge
  std::int64_t records_ = 0;    // behind the line
  bool continues_ = false;      // the next record begins at an end of this one, as edges in order do
  std::bitset<many + 1> seen_;  // ids below
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace deltamatch::ingest
