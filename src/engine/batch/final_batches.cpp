#include "engine/batch/final_batches.hpp"

#include <algorithm>

namespace deltamatch::engine {

FinalBatches::FinalBatches(const graph::DataGraph& graph, const graph::ResolvedBatch& resolved,
                           std::optional<Timestamp> watermark_before, Timestamp window)
    : graph_(&graph), batch_(&resolved), watermark_before_(watermark_before), window_(window), resolved_(graph.resolved()) {
  for (const graph::Edge& edge : resolved.net.removed) {
    const auto passed = std::ranges::lower_bound(resolved.passed, edge, {}, &graph::Expired::edge);
    const bool expired = passed != resolved.passed.end() && passed->edge == edge;
    if (!expired) gone_.push_back(edge);
  }
}

void FinalBatches::add(FinalWait* wait) {
  std::unique_ptr<Query>& added = queries_.emplace_back();
  if (wait == nullptr) return;
  added = std::make_unique<Query>();
  added->batch = {.rule = wait->rule(),
                  .resolved = resolved_,
                  .inserted = batch_->net.inserted,
                  .inserted_marks = batch_->inserted_marks,
                  .gone = gone_,
                  .expired = batch_->passed,
                  .window = window_,
                  .watermark_before = watermark_before_,
                  .watermark = batch_->watermark};
  if (batch_->watermark) added->due = wait->take(*graph_, *batch_->watermark);
  due_ = due_ || std::ranges::any_of(added->due, [](const auto& edges) { return !edges.empty(); });
}

void FinalBatches::filter(BatchListing& listing) const {
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    if (queries_[q]) listing.filter(q, queries_[q]->batch);
  }
}

void FinalBatches::find(std::size_t query, const match::QueryTask& task, Workers& workers, BatchListing& listing) const {
  if (!queries_[query]) return;
  const Query& own = *queries_[query];
  listing.add(query, match::Pass::added, match::find_final(task, own.batch, own.due, workers));
}

}  // namespace deltamatch::engine
