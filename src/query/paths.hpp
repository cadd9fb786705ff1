// Expands queries with paths. A path is a query edge with a quantifier. A variant has a fixed length for each path, and is a
// query without paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "query/flaw.hpp"

namespace deltamatch::query {

/// Where a variant has the steps of a path, and the vertices between them.
struct Path {
  std::string name;              ///< of the edge
  std::uint32_t edge = 0;        ///< index into the edges of the query with paths
  std::uint32_t first_edge = 0;  ///< of the steps, which follow each other
  std::uint32_t steps = 1;
  std::uint32_t first_vertex = 0;  ///< of the `steps - 1` vertices between the steps, which follow each other
  friend bool operator==(const Path&, const Path&) = default;
};

/// A query for one choice of lengths. Its first vertices are those of the query with paths, in that order.
struct Variant {
  Query query;
  std::vector<Path> paths;  ///< in the order of their edges
};

[[nodiscard]] bool has_paths(const Query& query) noexcept;

/// The variants that can have matches, shortest first; at least one. A query without paths is its own variant. Requires a valid
/// query.
[[nodiscard]] std::vector<Variant> expand(const Query& query);

/// Returns the first flaw of the paths of a query that has no other flaw, or of one of its variants.
[[nodiscard]] std::optional<Flaw> find_path_flaw(const Query& query);

}  // namespace deltamatch::query
