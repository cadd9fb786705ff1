// Automorphisms of queries with a condition.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"
#include "query/arcs.hpp"
#include "query/structure.hpp"

namespace deltamatch::query {

/// Knows which permutations of a query's vertices map the normal form of its condition to itself.
class ConditionSymmetry {
 public:
  /// Requires a valid query with a condition.
  explicit ConditionSymmetry(const Query& query);

  /// Finds an automorphism of the structure that keeps the condition, fixes all vertices below `base` and maps `base` to
  /// `image`. It assigns images in order of the vertices. A part of the condition is checked as soon as all of its vertices
  /// have images. The search is exponential only if parts with many vertices look alike.
  [[nodiscard]] std::optional<Permutation> find(const Structure& structure, Vertex base, Vertex image) const;

 private:
  struct Part {
    Expression conjunct;
    Vertex last;  ///< the greatest vertex that it speaks of, also through its edges
  };
  bool extend(const Structure& structure, Vertex vertex, Permutation& images, std::uint32_t taken) const;
  [[nodiscard]] bool fits(const Structure& structure, Vertex vertex, const Permutation& images) const;
  [[nodiscard]] bool keeps(const Part& part, const Permutation& images) const;

  EdgeAction action_;
  std::vector<std::uint32_t> own_numbers_;  // of edges
  std::vector<Part> parts_;
  std::set<std::string> forms_;  // of all parts, as bytes
};

}  // namespace deltamatch::query
