// The factors of a sum. Free query vertices form components; a component is a tree, or a vertex to enumerate with its inner
// factors.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/estimates.hpp"

namespace deltamatch::plan {

/// A look-up costs about as much as reading this many list entries.
inline constexpr double list_overhead = 8;

/// A bit set of query vertices; a block of those that are merged into one.
using Mask = std::uint32_t;

/// Returns an end of a tree's edge that is a leaf and whose candidates depend on the root alone. The other end must have
/// candidates too.
[[nodiscard]] std::optional<std::uint8_t> root_leaf(const Factor& tree, const TreeEdge& edge);

/// Builds the factors with the lowest estimated cost. All arguments of the constructors must outlive it. Throws PlanningStopped
/// once `stop` is set (it may be null).
class FactorBuilder {
 public:
  /// Candidates must differ from the first `enumerated` positions; see candidates_for.
  FactorBuilder(const BoundQuery& query, const Estimates& estimates, std::uint32_t anchor, std::size_t enumerated,
                const std::atomic<bool>* stop)
      : query_(query), estimates_(estimates), anchor_(anchor), enumerated_(enumerated), stop_(stop) {}
  /// For rooted sums: position 0 is a root, greater than the vertices `below`. Sums that depend on the root alone are kept in
  /// tables.
  FactorBuilder(const BoundQuery& query, const Estimates& estimates, Mask below, const std::atomic<bool>* stop)
      : FactorBuilder(query, estimates, no_anchor, 1, stop) {
    rooted_ = true;
    below_root_ = below;
  }

  /// Returns one factor for each component of the free blocks, cheap ones first. `positions`: the matched query vertices.
  [[nodiscard]] std::vector<Factor> factors(std::vector<Mask> blocks, const std::vector<Mask>& positions) const;
  [[nodiscard]] static double product_cost(const std::vector<Factor>& factors);

 private:
  [[nodiscard]] bool joined(Mask a, Mask b) const;
  [[nodiscard]] Mask neighbours(Mask block) const;
  [[nodiscard]] Candidates wanted(Mask block, const std::vector<Mask>& positions) const;
  [[nodiscard]] bool has_cycle(const std::vector<Mask>& component) const;
  [[nodiscard]] std::optional<TreeEdge> tree_edge(const std::vector<Mask>& blocks, std::size_t a, std::size_t b) const;
  [[nodiscard]] std::optional<Factor> tree(const std::vector<Mask>& component, const std::vector<Mask>& positions) const;
  [[nodiscard]] Factor component_factor(const std::vector<Mask>& component, const std::vector<Mask>& positions) const;
  static void note_reads(const Factor& factor, Position position, std::vector<graph::QueryRelationId>& reads);
  [[nodiscard]] std::vector<std::size_t> enumerable(const std::vector<Mask>& component,
                                                    const std::vector<Mask>& positions) const;
  static std::vector<std::uint32_t> members(Mask block);

  const BoundQuery& query_;
  const Estimates& estimates_;
  std::uint32_t anchor_;
  std::size_t enumerated_;  // number of positions of the anchor and the prefix
  bool rooted_ = false;
  Mask below_root_ = 0;
  const std::atomic<bool>* stop_;
};

}  // namespace deltamatch::plan
