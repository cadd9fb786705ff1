#include "engine/batch/batch_listing.hpp"

#include <optional>
#include <utility>

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
  const bool differs = differ_ && pass != match::Pass::transient;
  std::vector<ListReader> readers;
  for (std::size_t t = tasks.first; t < tasks.first + tasks.count; ++t) {
    readers.emplace_back(spool_, list_of(t, pass), differs ? std::optional(list_of(t, other)) : std::nullopt, tasks.count);
  }
  return readers;
}

void BatchListing::deliver(const Tasks& tasks, const Delivery::MatchContext& context, std::uint64_t most,
                           MatchSink& sink) const {
  std::vector<Delivery::Writer> writers;
  for (std::size_t t = tasks.first; t < tasks.first + tasks.count; ++t) {
    writers.emplace_back(collectors_[t].delivery(), *graph_, context, sink);
  }
  const match::Pass pass = context.transient ? match::Pass::transient
                           : context.added   ? match::Pass::added
                                             : match::Pass::removed;
  std::vector<ListReader> readers = read(tasks, pass);
  visit_in_order(tasks, readers, most,
                 [&](std::size_t task, const ListedMatch& match) { writers[task - tasks.first].write(match); });
}

void BatchListing::add(std::size_t task, match::Pass pass, const match::FoundMatches& found) {
  if (found.count == 0) return;
  Delivery::Batch batch = collectors_[task].delivery().translate(*graph_, found);
  watch_->handed(collectors_[task].task().progress_index, batch.ids.size());
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
  Delivery::Batch batch = delivery_->translate(*listing_->graph_, *task_, *left, watch.stop());
  watch.handed(task_->progress_index, batch.ids.size());
  listing_->spool_.add(list_of(number_, pass), std::move(batch));
}

}  // namespace deltamatch::engine
