#include "engine/batch/batch_listing.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/batch/division.hpp"
#include "match/counted_filter.hpp"

namespace deltamatch::engine {

void BatchListing::open(const graph::DataGraph& graph, std::span<match::QueryTask> tasks,
                        std::span<const Delivery* const> deliveries, bool differ, bool keep, BatchWatch& watch) {
  graph_ = &graph;
  watch_ = &watch;
  differ_ = differ;
  collectors_.clear();
  collectors_.reserve(tasks.size());  // the tasks point into it
  std::vector<Spool::Shape> shapes;
  for (std::size_t q = 0; q < tasks.size(); ++q) {
    shapes.insert(shapes.end(), lists, {tasks[q].query->vertices(), tasks[q].query->edges.size()});
    collectors_.emplace_back(*this, q, *deliveries[q], tasks[q]);
    if (tasks[q].list) tasks[q].taker = &collectors_.back();
  }
  spool_.open(shapes, keep, watch.stop());
}

void BatchListing::clear() noexcept {
  spool_.clear();
  collectors_.clear();
}

std::vector<ListReader> BatchListing::read(const Tasks& tasks, match::Pass pass) const {
  const match::Pass other = pass == match::Pass::added ? match::Pass::removed : match::Pass::added;
  const bool is_final = collectors_[tasks.first].is_final();
  const bool differs = (differ_ || is_final) && pass != match::Pass::transient;
  std::vector<ListReader> readers;
  if (is_final && pass == match::Pass::removed) return readers;  // nothing vanishes
  for (std::size_t t = tasks.first; t < tasks.first + tasks.count; ++t) {
    readers.emplace_back(spool_, list_of(t, pass), differs ? std::optional(list_of(t, other)) : std::nullopt, tasks.count);
  }
  return readers;
}

void BatchListing::deliver(const Tasks& tasks, const Delivery::MatchContext& context, std::uint64_t most, MatchSink& sink,
                           const std::vector<MatchId>* only, std::span<const SlotRule* const> slots) const {
  std::vector<Delivery::Writer> writers;
  for (std::size_t t = tasks.first; t < tasks.first + tasks.count; ++t) {
    writers.emplace_back(collectors_[t].delivery(), *graph_, context, sink, slots.empty() ? nullptr : slots[t]);
  }
  const match::Pass pass = context.transient ? match::Pass::transient
                           : context.added   ? match::Pass::added
                                             : match::Pass::removed;
  std::vector<ListReader> readers = read(tasks, pass);
  visit_in_order(tasks, readers, most, [&](std::size_t task, const ListedMatch& match) {
    if (only == nullptr || std::ranges::binary_search(*only, match.id)) writers[task - tasks.first].write(match);
  });
}

void BatchListing::add(std::size_t task, match::Pass pass, const match::FoundMatches& found) {
  if (found.count == 0) return;
  const Collector& collector = collectors_[task];
  Delivery::Batch batch = collector.own(collector.delivery().translate(*graph_, found), false);
  watch_->handed(collector.task().progress_index, batch.ids.size());
  spool_.add(list_of(task, pass), std::move(batch));
}

void BatchListing::Collector::take(const match::Records& records, match::Pass pass) {
  BatchWatch& watch = *listing_->watch_;
  throw_if_stopped(watch.stop());
  const match::Records* left = &records;
  match::Records kept;
  if (counted_ != nullptr) {
    kept = match::keep_counted(*task_->query, records, pass, *counted_);
    left = &kept;
  }
  if (final_ != nullptr) {
    kept = match::keep_final(*task_->query, records, pass, *final_);
    left = &kept;
    if (pass == match::Pass::transient) pass = match::Pass::added;  // nothing vanishes
  }
  Delivery::Batch batch = own(delivery_->translate(*listing_->graph_, *task_, *left, watch.stop()), true);
  watch.handed(task_->progress_index, batch.ids.size());
  listing_->spool_.add(list_of(number_, pass), std::move(batch));
}

Delivery::Batch BatchListing::Collector::own(Delivery::Batch&& matches, bool anchored) const {
  if (own_ == nullptr || (anchored && by_anchor_)) return std::move(matches);
  const std::size_t vertices = task_->query->vertices();
  const std::size_t edges = task_->query->edges.size();
  Delivery::Batch kept;
  for (std::size_t i = 0; i < matches.ids.size(); ++i) {
    const ListedMatch match = matches.match(i, vertices, edges);
    if (own_->has(match)) kept.append(match);
  }
  return kept;
}

}  // namespace deltamatch::engine
