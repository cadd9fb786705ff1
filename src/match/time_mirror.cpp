#include "match/time_mirror.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <utility>

namespace deltamatch::match {

TimePass TimeMirror::show(const graph::DataGraph& graph, const PassWork& work, const std::vector<bool>& wanted) {
  catch_up(graph, wanted);
  if (work.pass == Pass::whole) return TimePass(lists_);
  const std::span<const graph::Edge> changed = work.changed;
  const std::uint64_t store = std::exchange(store_, 0);  // if memory runs out below, the lists must be built anew
  mark(changed);
  if (work.pass == Pass::removed) {
    if (after_) go_back(graph);
    removed_ = changed;
    store_ = store;
    return TimePass(lists_, *graph.edge_table, Pass::removed, bits_);
  }
  if (!after_) {
    newest_ = lists_.newest();
    lists_.remove(graph, removed_);
    order(graph, changed);
    lists_.insert(graph, arrivals_);
    inserted_ = changed;
    after_ = true;
  }
  if (work.pass == Pass::transient && !both_) {
    lists_.insert(graph, removed_);
    both_ = true;
  }
  store_ = store;
  TimePass pass(lists_, *graph.edge_table, work.pass, bits_);
  if (in_order_) pass.is_in_order(newest_);
  return pass;
}

void TimeMirror::hide_removed(const graph::DataGraph& graph) {
  if (!both_) return;
  const std::uint64_t store = std::exchange(store_, 0);
  lists_.remove(graph, removed_);
  both_ = false;
  store_ = store;
}

/// Begins with the staged batch, if it is another one. Builds the lists, if they do not show all that is wanted of the settled
/// graph.
void TimeMirror::catch_up(const graph::DataGraph& graph, const std::vector<bool>& wanted) {
  const graph::Adjacency::Mark mark = graph.base().mark();
  const std::uint64_t stage = graph.base().staged().rows == 0 ? 0 : graph.base().stages();
  std::vector<graph::RelationId> missing = missing_of(wanted);
  if (store_ == mark.store && stage != 0 && staged_ == stage && missing.empty()) return;
  if (after_) batch_ = staged_;
  after_ = false;
  staged_ = stage;
  removed_ = inserted_ = {};
  const bool follows = store_ == mark.store && batch_ == mark.settled;
  if (follows && missing.empty()) return;
  store_ = 0;
  if (!follows) {
    listed_.clear();
    missing = missing_of(wanted);
  }
  listed_.resize(std::max(listed_.size(), wanted.size()));
  for (const graph::RelationId relation : missing) listed_[relation] = true;
  lists_.list_only(listed_);
  // A relation that appeared since has no settled edges. Nothing has to be read for it.
  const std::span<const graph::RelationFigures> figures = graph.base().figures();
  const auto has_edges = [&](graph::RelationId relation) { return relation < figures.size() && figures[relation].entries > 0; };
  if (!follows || std::ranges::any_of(missing, has_edges)) {
    both_ = false;
    lists_.build(graph);
  }
  store_ = mark.store;
  batch_ = mark.settled;
}

/// The relations that are wanted and not listed.
std::vector<graph::RelationId> TimeMirror::missing_of(const std::vector<bool>& wanted) const {
  std::vector<graph::RelationId> missing;
  for (std::size_t relation = 0; relation < wanted.size(); ++relation) {
    if (wanted[relation] && !(relation < listed_.size() && listed_[relation]))
      missing.push_back(static_cast<graph::RelationId>(relation));
  }
  return missing;
}

void TimeMirror::go_back(const graph::DataGraph& graph) {
  lists_.remove(graph, inserted_);
  lists_.insert(graph, removed_);
  after_ = false;
}

void TimeMirror::mark(std::span<const graph::Edge> changed) {
  for (const graph::Slot slot : marked_) bits_[slot / 64] = 0;
  marked_.clear();
  for (const graph::Edge& edge : changed) {
    marked_.push_back(edge.which);
    if (bits_.size() <= edge.which / 64) bits_.resize(std::max<std::size_t>(edge.which / 64 + 1, 2 * bits_.size()));
    bits_[edge.which / 64] |= std::uint64_t{1} << edge.which % 64;
  }
}

/// Puts the inserted edges in the order in which they arrived.
void TimeMirror::order(const graph::DataGraph& graph, std::span<const graph::Edge> inserted) {
  const graph::EdgeTable& table = *graph.edge_table;
  std::uint64_t first = UINT64_MAX;
  for (const graph::Edge& edge : inserted) first = std::min(first, table.ordinal(edge.which));
  keys_.clear();
  for (std::size_t i = 0; i < inserted.size(); ++i) keys_.emplace_back(table.ordinal(inserted[i].which) - first, i);
  boost::sort::pdqsort_branchless(keys_.begin(), keys_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  arrivals_.clear();
  in_order_ = true;
  Timestamp newest = newest_;
  for (const auto& [ordinal, i] : keys_) {
    arrivals_.push_back(inserted[i]);
    const auto time = table.time(inserted[i].which);
    in_order_ = in_order_ && time && *time >= newest;
    newest = time.value_or(newest);
  }
}

}  // namespace deltamatch::match
