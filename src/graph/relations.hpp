// Relations: (direction, edge label, neighbour's vertex label). Every entry of the adjacency store belongs to exactly one base
// relation.
//
// What a query edge reads at one of its ends is a query relation. With wildcards or alternative labels it is the union of
// several base relations. If it covers only one, it resolves to that one. So an unlabelled graph never pays for
// wildcards. Otherwise it resolves to a derived relation that the graph materialises.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

/// The direction of an edge, seen from a vertex: out to the neighbour, or in from it. `both` is the only direction in
/// undirected data. In directed data it is the union of the other two. `loop` is that of an edge from a vertex to itself. So no
/// list of neighbours has the vertex itself, unless it asks for loops.
enum class Direction : std::uint8_t { out, in, both, loop };

constexpr Direction reverse(Direction direction) noexcept {
  return direction == Direction::out ? Direction::in : direction == Direction::in ? Direction::out : direction;
}

/// The common properties of the entries in one base relation.
struct BaseRelation {
  Direction direction;
  LabelId edge_label;
  LabelId neighbour_label;
};

/// The entries that a query edge may read, seen from one of its ends. Label sets ascend; an empty set means any label.
struct QueryRelation {
  Direction direction = Direction::both;
  std::vector<LabelId> edge_labels;
  std::vector<LabelId> neighbour_labels;
  bool loops = false;  ///< beside those of the direction
  friend bool operator==(const QueryRelation&, const QueryRelation&) = default;

  [[nodiscard]] bool covers(const BaseRelation& relation) const noexcept;
};

/// Identifies a registered query relation.
using QueryRelationId = std::uint32_t;

/// The base relations by number, in order of their first occurrence.
class BaseRelations {
 public:
  BaseRelations() { few_.fill(no_relation); }

  /// Returns the number of a relation, a new one if needed. O(1).
  RelationId intern(Direction direction, LabelId edge_label, LabelId neighbour_label);
  [[nodiscard]] RelationId find(Direction direction, LabelId edge_label, LabelId neighbour_label) const noexcept {
    if (edge_label < few_labels && neighbour_label < few_labels) [[likely]]
      return few_[place(direction, edge_label, neighbour_label)];
    return find_among_many(direction, edge_label, neighbour_label);
  }
  [[nodiscard]] const BaseRelation& operator[](RelationId relation) const noexcept { return all_[relation]; }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The relations of an edge label. A relation's number outlives its labels. If both label numbers are given to new labels, it
  /// stands for the new ones.
  [[nodiscard]] std::span<const RelationId> of(LabelId edge_label) const noexcept {
    return edge_label < of_label_.size() ? std::span<const RelationId>(of_label_[edge_label]) : std::span<const RelationId>();
  }

 private:
  // Relations of labels with small numbers stand in a table of their own, because each look-up of an edge asks for one.
  static constexpr LabelId few_labels = 16;
  [[nodiscard]] static constexpr std::size_t place(Direction direction, LabelId edge_label, LabelId neighbour_label) noexcept {
    return (static_cast<std::size_t>(direction) * few_labels + edge_label) * few_labels + neighbour_label;
  }
  [[nodiscard]] RelationId find_among_many(Direction direction, LabelId edge_label, LabelId neighbour_label) const noexcept;

  std::array<RelationId, 4 * std::size_t{few_labels} * few_labels> few_;
  std::vector<BaseRelation> all_;
  std::vector<std::vector<RelationId>> of_label_;
  boost::unordered_flat_map<std::uint64_t, RelationId> numbers_[4];  // by direction; key: edge label, neighbour label
};

}  // namespace deltamatch::graph
