#include "estimate/selector.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "estimate/choice_schedule.hpp"
#include "estimate/fill.hpp"
#include "estimate/merge_ranges.hpp"

namespace deltamatch::estimate {

namespace {

// The weight of a batch in the mean over the batches before.
constexpr double newest_share = 0.25;
// Moving a list into the cache takes as long as reading it over the bus and this many bytes more. That is a tenth of a
// microsecond of bookkeeping, a row and a copy.
constexpr double move_bytes = 0x1p12;
// Batches for which a vertex that fills free room stays: as long as a choice may be kept.
constexpr double batches_stayed = ChoiceSchedule::most_batches;
// Batches without a look-up after which a vertex is forgotten.
constexpr unsigned most_unseen = 8;

}  // namespace

Selection Selector::select(const Posterior& posterior, const BytesOf& bytes, std::size_t budget, const Terms& terms) {
  const Merge<Expected, TrackedVertex> merge(posterior.lists, tracked_);
  together_.resize(merge.size());
  workers_->for_each(merge.parts(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      merge.run(part, together_, [&](const Expected* now, const TrackedVertex* before) {
        TrackedVertex tracked =
            before != nullptr ? *before : TrackedVertex{now->at, now->bytes, 0, now->usual, 0, false, false};
        if (before != nullptr) {
          tracked.unseen = now == nullptr ? before->unseen + 1 : 0;
          tracked.bytes = now != nullptr ? now->bytes : tracked.unseen <= most_unseen ? bytes(tracked.at) : 0;
        }
        tracked.known = std::exchange(tracked.kept, false);
        tracked.times = posterior.times(tracked.usual, now == nullptr ? Findings{} : now->found);
        tracked.usual += (tracked.times - tracked.usual) * newest_share;
        return tracked;
      });
    }
  });
  // What holding a list saves over so many batches, this one among them, less what it costs to bring it.
  const auto saved = [&](const TrackedVertex& tracked, double batches) {
    const double times = tracked.times + (batches - 1) * tracked.usual;
    const double moving = tracked.known ? 0 : move_bytes + static_cast<double>(tracked.bytes);
    return saving(tracked.at, tracked.bytes, times, terms.miss, moving);
  };
  Selection selection =
      fill(together_.size(), [&](std::size_t i) { return saved(together_[i], terms.batches); }, budget, workers_);
  keep(selection.hot);
  if (budget - selection.bytes > budget / least_share) {
    const auto rest = [&](std::size_t i) { return together_[i].kept ? Candidate{} : saved(together_[i], batches_stayed); };
    const Selection more = fill(together_.size(), rest, budget - selection.bytes, workers_);
    keep(more.hot);
    const auto first = static_cast<std::ptrdiff_t>(selection.hot.size());
    selection.hot.insert(selection.hot.end(), more.hot.begin(), more.hot.end());
    std::inplace_merge(selection.hot.begin(), selection.hot.begin() + first, selection.hot.end());
    selection.bytes += more.bytes;
  }
  tracked_.clear();
  std::ranges::copy_if(together_, std::back_inserter(tracked_), &TrackedVertex::kept);
  return selection;
}

void Selector::keep(std::span<const StoredVertex> hot) noexcept {
  auto tracked = together_.begin();
  for (const StoredVertex& at : hot) {
    while (tracked->at != at || tracked->bytes == 0) ++tracked;
    tracked->kept = true;
  }
}

}  // namespace deltamatch::estimate
