#include "ingest/batcher.hpp"

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/time_span.hpp"

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
  refusals_.clear();
  refused_.fill(0);
  records_.clear();
  record_ends_.clear();
}

std::string_view PositionedBatch::record(std::size_t index) const {
  if (record_ends_.empty()) return {};
  const std::size_t start = index == 0 ? 0 : record_ends_.at(index - 1);
  return std::string_view(records_).substr(start, record_ends_.at(index) - start);
}

/// Whether the held updates may join the batch; an empty batch takes anything.
bool Batcher::fits(const PositionedBatch& batch, TimeSpan& span) const {
  bool within = limits_.max_updates == 0 || batch.updates.size() + held_.size() <= limits_.max_updates;
  for (std::size_t i = 0; limits_.max_span != 0 && i < held_.size(); ++i) {
    if (held_[i].time) within = span.widen(*held_[i].time, limits_.max_span) && within;
  }
  return within || batch.updates.empty();
}

void Batcher::add(PositionedBatch& batch) {
  for (const Update& update : held_) {
    batch.updates.add(update);
    batch.positions_.push_back(record_.position);
    if (on_unreadable_ != OnUnreadable::list) continue;
    batch.records_.append(record_.bytes);
    batch.record_ends_.push_back(batch.records_.size());
  }
  held_ = {};
}

void Batcher::refuse(PositionedBatch& batch, RejectReason reason, std::string_view message) {
  ++batch.refused_[static_cast<std::size_t>(reason)];
  if (on_unreadable_ == OnUnreadable::count) return;
  batch.refusals_.push_back(
      {batch.updates.size(), record_.position, reason, std::string(message), std::string(record_.bytes), record_.length});
  if (on_unreadable_ == OnUnreadable::stop) ended_ = true;
}

/// Reads one record: it is held, refused or says nothing. False at the end.
bool Batcher::read(PositionedBatch& batch) {
  if (!source_.next(record_)) {
    ended_ = true;
    return false;
  }
  if (record_.fault == RecordFault::too_long) {
    refuse(batch, RejectReason::too_long, "the record has " + std::to_string(record_.length) + " bytes, more than the limit");
  } else if (record_.fault == RecordFault::unterminated_quote) {
    refuse(batch, RejectReason::malformed, "a quoted field does not end");
  } else {
    const Decoded decoded =
        within_max_name(record_.padded ? codec_.decode_padded(record_.bytes) : codec_.decode(record_.bytes));
    if (!decoded.remedy.empty()) throw Error(source_.where(record_.position), decoded.message, decoded.remedy);
    if (decoded.refused)
      refuse(batch, *decoded.refused, decoded.message);
    else
      held_ = decoded.updates;
  }
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
    if (!source_.next(record_)) return false;
    throw Error(source_.where(record_.position),
                "the stream goes on behind cut " + std::to_string(next_cut_) + ", the last one",
                "cut the whole stream, or end it where the cuts end");
  }
  const Cut& cut = (*cuts_)[next_cut_++];
  for (std::uint64_t done = 0; done < cut.records; ++done) {
    if (read(batch)) {
      add(batch);
    } else if (batch.refusals_.empty()) {
      throw Error(source_.where(record_.position),
                  "the stream ends with " + std::to_string(done) + " of the " + std::to_string(cut.records) +
                      " records of cut " + std::to_string(next_cut_),
                  "cut the stream where it ends");
    } else {
      break;  // the stream stops at the record that is refused
    }
  }
  if (cut.tells_watermark) batch.updates.set_watermark(cut.watermark);
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
