#include "engine/batch/counted_batches.hpp"

namespace deltamatch::engine {

void CountedBatches::add(const plan::BoundQuery& query, Timestamp span, const Watermarks& watermarks) {
  std::unique_ptr<match::CountedBatch>& added = batches_.emplace_back();
  if (!query.counts_something() || query.query.emit_final) return;
  if (query.vertices() == 1 && !vertices_) vertices_ = resolver_->vertex_changes();
  const auto aged = [&](std::optional<Timestamp> watermark) {
    Timestamp time = 0;
    const bool any = span > 0 && watermark && !__builtin_sub_overflow(*watermark, span, &time);
    return any ? std::optional(time) : std::nullopt;
  };
  added = std::make_unique<match::CountedBatch>(match::CountedBatch{.inserted = inserted_,
                                                                    .removed = removed_,
                                                                    .inserted_marks = inserted_marks_,
                                                                    .resolved = resolved_,
                                                                    .vertices = query.vertices() == 1 ? &*vertices_ : nullptr,
                                                                    .aged_before = aged(watermarks.before),
                                                                    .aged_after = aged(watermarks.after),
                                                                    .span = span});
}

void CountedBatches::filter(BatchListing& listing) const {
  for (std::size_t t = 0; t < batches_.size(); ++t) {
    if (batches_[t]) listing.filter(t, *batches_[t]);
  }
}

void CountedBatches::find_turned(std::size_t number, const match::QueryTask& task, Workers& workers,
                                 BatchListing& listing) const {
  if (!batches_[number]) return;
  const match::TurnedMatches turned = match::find_turned(task, *batches_[number], workers);
  listing.add(number, match::Pass::removed, turned.vanished);
  listing.add(number, match::Pass::added, turned.appeared);
}

}  // namespace deltamatch::engine
