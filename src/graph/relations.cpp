#include "graph/relations.hpp"

#include <algorithm>

namespace deltamatch::graph {

namespace {

std::uint64_t key_of(LabelId edge_label, LabelId neighbour_label) noexcept {
  return std::uint64_t{edge_label} << 32 | neighbour_label;
}

bool holds(const std::vector<LabelId>& labels, LabelId label) noexcept {
  return labels.empty() || std::binary_search(labels.begin(), labels.end(), label);
}

}  // namespace

bool QueryRelation::covers(const BaseRelation& relation) const noexcept {
  const bool along = relation.direction == Direction::loop ? loops || direction == Direction::loop
                                                           : direction == Direction::both || direction == relation.direction;
  return along && holds(edge_labels, relation.edge_label) && holds(neighbour_labels, relation.neighbour_label);
}

RelationId BaseRelations::intern(Direction direction, LabelId edge_label, LabelId neighbour_label) {
  auto& numbers = numbers_[static_cast<unsigned>(direction)];
  const std::uint64_t key = key_of(edge_label, neighbour_label);
  if (const RelationId known = find(direction, edge_label, neighbour_label); known != no_relation) return known;
  const auto number = static_cast<RelationId>(all_.size());
  if (edge_label >= of_label_.size())
    of_label_.resize(std::max<std::size_t>(std::size_t{edge_label} + 1, 2 * of_label_.size()));
  of_label_[edge_label].push_back(number);
  try {
    all_.push_back({direction, edge_label, neighbour_label});
    numbers.emplace(key, number);
  } catch (...) {
    if (all_.size() > number) all_.pop_back();
    of_label_[edge_label].pop_back();
    throw;
  }
  if (edge_label < few_labels && neighbour_label < few_labels) few_[place(direction, edge_label, neighbour_label)] = number;
  return number;
}

RelationId BaseRelations::find_among_many(Direction direction, LabelId edge_label, LabelId neighbour_label) const noexcept {
  const auto& numbers = numbers_[static_cast<unsigned>(direction)];
  const auto at = numbers.find(key_of(edge_label, neighbour_label));
  return at == numbers.end() ? no_relation : at->second;
}

}  // namespace deltamatch::graph
