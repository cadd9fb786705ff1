#include "engine/batch/batch_listing.hpp"

#include <algorithm>
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

void BatchListing::deliver(std::size_t query, const Delivery::MatchContext& context, std::uint64_t most, MatchSink& sink,
                           const std::vector<MatchId>* only) const {
  Delivery::Writer writer(collectors_[query].delivery(), *graph_, context, sink);
  const auto write = [&](const ListedMatch& match) {
    if (only == nullptr || std::ranges::binary_search(*only, match.id)) writer.write(match);
  };
  if (context.transient)
    for_each_in(list_of(query, match::Pass::transient), most, write);
  else
    for_each(query, context.added, most, write);
}

void BatchListing::add(std::size_t query, match::Pass pass, const match::FoundMatches& found) {
  if (found.count == 0) return;
  Delivery::Batch batch = collectors_[query].delivery().translate(*graph_, found);
  watch_->handed(query, batch.ids.size());
  spool_.add(list_of(query, pass), std::move(batch));
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
  Delivery::Batch batch = delivery_->translate(*listing_->graph_, *task_, *left, watch.stop());
  watch.handed(query_, batch.ids.size());
  listing_->spool_.add(list_of(query_, pass), std::move(batch));
}

}  // namespace deltamatch::engine
