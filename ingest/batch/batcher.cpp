#include "ingest/batch/batcher.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/batch/time_span.hpp"

namespace deltamatch::ingest {

BatchLimits BatchLimits::within_window(Timestamp window) const noexcept {
  BatchLimits limits = *this;
  if (window > 0) {
    const Timestamp span = std::max<Timestamp>(1, window / 16);
    limits.max_span = max_span == 0 ? span : std::min(max_span, span);
  }
  return limits;
}

void PositionedBatch::clear() noexcept {
  updates.clear();
  positions_.clear();
  dropped_ = 0;
  refusals_.clear();
  first_refusals_.clear();
  taken_ = 0;
  refused_.fill(0);
  later_refusals_.clear();
  later_first_refusals_.clear();
  later_taken_ = 0;
  later_refused_.fill(0);
  kept_.clear();
}

void PositionedBatch::hold_back(std::size_t count) {
  const auto split = [&](std::vector<Refusal>& all, std::vector<Refusal>& later) {
    const auto at = std::ranges::partition_point(all, [&](const Refusal& refusal) { return refusal.index <= count; });
    later.assign(std::make_move_iterator(at), std::make_move_iterator(all.end()));
    all.erase(at, all.end());
    for (Refusal& refusal : later) refusal.index -= count;
  };
  split(refusals_, later_refusals_);
  std::ranges::sort(first_refusals_, {}, &Refusal::index);
  split(first_refusals_, later_first_refusals_);
  later_refused_.fill(0);
  for (const Refusal& refusal : later_refusals_) ++later_refused_[static_cast<std::size_t>(refusal.reason)];
  for (std::size_t r = 0; r < refused_.size(); ++r) {
    later_refused_[r] = std::min(later_refused_[r], refused_[r]);  // a record that stops the stream is listed, but not counted
    refused_[r] -= later_refused_[r];
  }
  later_taken_ = 0;
  for (const Update& update : updates.updates().subspan(count)) later_taken_ += update.continues ? 0 : 1;
  later_taken_ = std::min(later_taken_, taken_);
  taken_ -= later_taken_;
}

void PositionedBatch::drop_first(std::size_t count) noexcept {
  updates.drop_first(count);
  dropped_ += count;
  refusals_ = std::exchange(later_refusals_, {});
  first_refusals_ = std::exchange(later_first_refusals_, {});
  taken_ = std::exchange(later_taken_, 0);
  refused_ = std::exchange(later_refused_, {});
}

/// Whether the held updates may join the batch. An empty batch takes anything.
bool Batcher::fits(const PositionedBatch& batch, TimeSpan& span) const {
  bool within = limits_.max_updates == 0 || batch.updates.size() + held_.size() <= limits_.max_updates;
  for (std::size_t i = 0; limits_.max_span != 0 && i < held_.size() && !reading_.ahead; ++i) {
    if (held_[i].time) within = span.widen(*held_[i].time, limits_.max_span) && within;
  }
  return within || batch.updates.empty();
}

void Batcher::add(PositionedBatch& batch) {
  if (!held_.empty()) ++batch.taken_;
  for (const Update& update : held_) {
    if (reading_.ahead) [[unlikely]] {
      Update ahead = update;
      ahead.ahead = true;
      batch.updates.add(ahead);
    } else {
      batch.updates.add(update);
    }
    batch.positions_.push_back(reading_.record.position);
    if (on_unreadable_ != OnUnreadable::list) continue;
    if (update.continues)
      batch.kept_.repeat();
    else
      batch.kept_.add({}, reading_.record.bytes);
  }
  held_ = {};
}

/// Refuses the record read last.
void Batcher::refuse(PositionedBatch& batch) {
  const Record& record = reading_.record;
  const auto reason = static_cast<std::size_t>(*reading_.refused);
  ++batch.refused_[reason];
  const bool first = !std::exchange(seen_[reason], true);
  if (on_unreadable_ == OnUnreadable::count && !first) return;
  Refusal refusal{batch.updates.size(), record.position, *reading_.refused, std::string(reading_.message), {}, record.length};
  if (first) batch.first_refusals_.push_back(refusal);
  if (on_unreadable_ == OnUnreadable::count) return;
  refusal.bytes = record.bytes;
  batch.refusals_.push_back(std::move(refusal));
  if (on_unreadable_ == OnUnreadable::stop) ended_ = true;
}

/// Reads one record, which is held, refused, or means nothing. Returns false at the end.
bool Batcher::read(PositionedBatch& batch) {
  if (!reader_.next(reading_)) {
    ended_ = true;
    return false;
  }
  if (reading_.refused)
    refuse(batch);
  else
    held_ = reading_.updates;
  return !ended_;
}

void Batcher::fill_to_limits(PositionedBatch& batch) {
  TimeSpan span;
  while (!ended_) {
    if (held_.empty() && !read(batch)) return;
    if (held_.empty()) {
      if (batch.refusals_.size() >= max_listed) return;
      continue;
    }
    if (!fits(batch, span)) return;
    add(batch);
    if (limits_.max_updates != 0 && batch.updates.size() >= limits_.max_updates) return;
  }
}

bool Batcher::fill_cut(PositionedBatch& batch) {
  if (ended_) return false;
  if (next_cut_ == cuts_->size()) {
    ended_ = true;
    if (!reader_.next(reading_)) return false;
    throw Error(source_.where(reading_.record.position),
                "the stream goes on after cut " + std::to_string(next_cut_) + ", the last one",
                "add cuts for the whole stream, or end it with the last cut");
  }
  const Cut& cut = (*cuts_)[next_cut_++];
  for (std::uint64_t done = 0; done < cut.records; ++done) {
    if (read(batch)) {
      add(batch);
    } else if (reader_.stopped()) {
      batch.clear();
      return false;
    } else if (batch.refusals_.empty()) {
      throw Error(source_.where(reading_.record.position),
                  "the stream ends with " + std::to_string(done) + " of the " + std::to_string(cut.records) +
                      " records of cut " + std::to_string(next_cut_),
                  "correct the last cuts");
    } else {
      break;  // the stream stops at the refused record
    }
  }
  if (cut.sets_watermark) batch.updates.set_watermark(cut.watermark);
  return true;
}

bool Batcher::fill(PositionedBatch& batch) {
  batch.clear();
  if (cuts_) return fill_cut(batch);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  try {
    fill_to_limits(batch);
  } catch (...) {
    ended_ = true;
    if (batch.updates.empty() && batch.refusals_.empty()) throw;
    failure_ = std::current_exception();
  }
  const bool counted =
      std::any_of(batch.refused_.begin(), batch.refused_.end(), [](std::uint64_t count) { return count != 0; });
  return !batch.updates.empty() || counted;
}

}  // namespace deltamatch::ingest
