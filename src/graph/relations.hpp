// Relations: (direction, edge label, neighbour's vertex label). Every entry of the adjacency store belongs to exactly one base
// relation. A query edge with wildcards or label alternatives reads a union of base relations: it is a Reading, which resolves
// to the one base relation it covers where there is only one (an unlabelled graph never pays for wildcards), and else to a
// derived relation that the graph materialises.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

/// Where the neighbour stands: the edge goes out to it, or comes in from it; `both` is the only direction of undirected data
/// and in directed data the union of the two.
enum class Direction : std::uint8_t { out, in, both };

constexpr Direction reverse(Direction direction) noexcept {
  return direction == Direction::both ? direction : direction == Direction::out ? Direction::in : Direction::out;
}

/// What one base relation holds.
struct BaseRelation {
  Direction direction;
  LabelId edge_label;
  LabelId neighbour_label;
};

/// Which entries a query edge may read, seen from one of its ends. Label sets ascend; empty = any.
struct Reading {
  Direction direction = Direction::both;
  std::vector<LabelId> edge_labels;
  std::vector<LabelId> neighbour_labels;
  friend bool operator==(const Reading&, const Reading&) = default;

  [[nodiscard]] bool covers(const BaseRelation& relation) const noexcept;
};

/// Names a reading that a query has registered.
using ReadingId = std::uint32_t;

/// Base relations by number, in the order they first occurred.
class BaseRelations {
 public:
  /// The number of a relation, a new one if need be. O(1).
  RelationId intern(Direction direction, LabelId edge_label, LabelId neighbour_label);
  [[nodiscard]] RelationId find(Direction direction, LabelId edge_label, LabelId neighbour_label) const noexcept;
  [[nodiscard]] const BaseRelation& operator[](RelationId relation) const noexcept { return all_[relation]; }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The relations of an edge label. A number outlives its labels: once both numbers are given again, it stands for the new
  /// ones.
  [[nodiscard]] std::span<const RelationId> of(LabelId edge_label) const noexcept {
    return edge_label < of_label_.size() ? std::span<const RelationId>(of_label_[edge_label]) : std::span<const RelationId>();
  }

 private:
  std::vector<BaseRelation> all_;
  std::vector<std::vector<RelationId>> of_label_;
  boost::unordered_flat_map<std::uint64_t, RelationId> numbers_[3];  // by direction; key: edge label, neighbour label
};

}  // namespace deltamatch::graph
