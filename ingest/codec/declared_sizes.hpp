// Checks the sizes in the header of a whole graph against its records.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

/// Reads a number of a header. Returns what is wrong with it; empty if nothing is.
[[nodiscard]] inline std::string read_size(std::string_view field, std::int64_t& size) {
  switch (parse_integer(field, size)) {
    case NumberFault::none:
      return size < 0 ? fmt::format("the header's {} is negative", in_ticks(field)) : std::string();
    case NumberFault::not_a_number:
      return fmt::format("the header's {} is not an integer", in_ticks(field));
    case NumberFault::out_of_range:
      break;
  }
  return fmt::format("the header's {} exceeds 64 bits", in_ticks(field));
}

/// Counts records. After tell(), it can say whether ids and numbers fit the header.
class DeclaredSizes {
 public:
  /// `first_id` is the id of the first vertex.
  explicit DeclaredSizes(std::int64_t first_id) noexcept : first_id_(first_id) {}

  void tell(std::int64_t vertices, std::optional<std::int64_t> edges) noexcept {
    vertices_told_ = vertices;
    edges_told_ = edges;
  }
  [[nodiscard]] bool told() const noexcept { return vertices_told_.has_value(); }
  /// Whether a record was counted.
  [[nodiscard]] bool any() const noexcept { return vertices_ != 0 || edges_ != 0; }
  void count_vertex() noexcept { ++vertices_; }
  void count_edge() noexcept { ++edges_; }

  [[nodiscard]] bool holds(const Id& id) const noexcept {
    return !vertices_told_ || id.is_text() || (id.number() >= first_id_ && id.number() - first_id_ < *vertices_told_);
  }
  /// Says why an id does not fit.
  [[nodiscard]] std::string out_of_range(const Id& id) const {
    return fmt::format("vertex {} is out of range: the header says {} vertices, {} to {}", id.number(), *vertices_told_,
                       first_id_, first_id_ - 1 + *vertices_told_);
  }
  /// Says what is wrong with the numbers; empty if nothing is. A file may leave out all records of vertices.
  [[nodiscard]] std::string flaw() const {
    if (edges_told_ && *edges_told_ != edges_)
      return fmt::format("the header says {} edges, but {} follow", *edges_told_, edges_);
    if (vertices_told_ && vertices_ > 0 && *vertices_told_ != vertices_)
      return fmt::format("the header says {} vertices, but {} follow", *vertices_told_, vertices_);
    return {};
  }

 private:
  std::int64_t first_id_;
  std::optional<std::int64_t> vertices_told_;
  std::optional<std::int64_t> edges_told_;
  std::int64_t vertices_ = 0;
  std::int64_t edges_ = 0;
};

}  // namespace deltamatch::ingest
