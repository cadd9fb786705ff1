#include "engine/batch_listing.hpp"

namespace deltamatch::engine {

void BatchListing::open(const graph::DataGraph& graph, std::span<match::QueryTask> tasks,
                        std::span<const Delivery* const> deliveries, bool differ, bool keep) {
  graph_ = &graph;
  differ_ = differ;
  collectors_.clear();
  collectors_.reserve(tasks.size());  // the tasks point into it
  std::vector<Spool::Shape> shapes;
  for (std::size_t q = 0; q < tasks.size(); ++q) {
    shapes.insert(shapes.end(), 2, {tasks[q].query->vertices(), tasks[q].query->edges.size()});
    collectors_.emplace_back(*this, q, *deliveries[q], tasks[q]);
    if (tasks[q].list) tasks[q].taker = &collectors_.back();
  }
  spool_.open(shapes, keep);
}

void BatchListing::clear() noexcept {
  spool_.clear();
  collectors_.clear();
}

void BatchListing::deliver(std::size_t query, const Delivery::Occasion& occasion, MatchSink& sink) const {
  Delivery::Writer writer(collectors_[query].delivery(), *graph_, occasion, sink);
  for_each(query, occasion.added, [&](const ListedMatch& match) { writer.write(match); });
}

void BatchListing::Collector::take(const match::Records& records, match::Pass pass) {
  listing_->spool_.add(list_of(query_, pass == match::Pass::added), delivery_->translate(*listing_->graph_, *task_, records));
}

}  // namespace deltamatch::engine
