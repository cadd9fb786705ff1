#include "ingest/service/loop/refused_records.hpp"

#include <fmt/format.h>

#include <utility>

namespace deltamatch::ingest {

void RefusedRecords::note(const InputBatch& batch, const BatchResult& result) {
  std::uint64_t records = 0;
  for (const Update& update : batch.updates.updates().first(result.consumed)) records += update.continues ? 0 : 1;
  std::uint64_t refused = result.rejects.size();
  for (const Reject& reject : result.rejects) metrics_.bad_records(reject.reason);
  for (std::size_t r = 0; r < reject_reason_count; ++r) {
    const std::uint64_t unreadable = batch.refused[r];
    records += unreadable;
    refused += unreadable;
    if (unreadable != 0) metrics_.bad_records(static_cast<RejectReason>(r), unreadable);
  }
  std::string first = tell_first(batch, result);
  bool before = false;
  bool now = false;
  {
    const std::scoped_lock lock(mutex_);
    before = seen_.share.exceeds(options_.max_refused);
    seen_.share.add(records, refused);
    now = seen_.share.exceeds(options_.max_refused);
    if (!first.empty()) seen_.last = std::move(first);
    metrics_.refused_share(seen_.share.share());
  }
  if (now && !before) journal_.tell(Level::error, "too many records are refused", {{"why", why()}});
  if (before && !now) journal_.tell(Level::info, "the share of refused records is allowed again");
}

/// The first one in words. Empty if there is none.
std::string RefusedRecords::tell_first(const InputBatch& batch, const BatchResult& result) const {
  if (const auto& first = batch.first_refused) return tell(first->at, first->offset, first->reason, first->message);
  if (result.rejects.empty()) return {};
  const Reject& reject = result.rejects.front();
  return tell(batch.partition(reject.index), batch.offset(reject.index), reject.reason,
              rejection_message(batch.updates.updates()[reject.index], reject.reason));
}

std::string RefusedRecords::tell(const TopicPartition& at, std::int64_t offset, RejectReason reason,
                                 std::string_view message) const {
  if (options_.on_error != OnError::fail) {
    journal_.tell(Level::warn, "records are refused",
                  {{"topic", at.topic},
                   {"reason", std::string(reject_name(reason))},
                   {"example", fmt::format("{} at offset {}: {}", to_string(at), offset, message)}});
  }
  return fmt::format("{} at offset {}: {}: {}", to_string(at), offset, reject_name(reason), message);
}

std::string RefusedRecords::why() const {
  const std::scoped_lock lock(mutex_);
  const double most = options_.max_refused;
  if (!seen_.share.exceeds(most)) return {};
  return fmt::format("{} of the last {} records were refused, more than input.max_refused ({}) allows; the last one: {}",
                     seen_.share.refused(), seen_.share.records(), most, seen_.last);
}

RefusedRecords::Seen RefusedRecords::seen() const {
  const std::scoped_lock lock(mutex_);
  return seen_;
}

void RefusedRecords::forget() {
  const std::scoped_lock lock(mutex_);
  seen_ = {};
  metrics_.refused_share(0);
}

}  // namespace deltamatch::ingest
