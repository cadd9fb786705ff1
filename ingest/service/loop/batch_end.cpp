#include "ingest/service/loop/batch_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/batch/refusals.hpp"

namespace deltamatch::ingest {

Offsets ends_before(const CommitPoint& last, const InputBatch& batch, std::size_t update) {
  const TopicPartition& at = batch.partition(update);
  Offsets ends = last.ends;
  for (const auto& [id, end] : batch.ends) {
    if (id < at || !last.ends.contains(id)) ends.insert_or_assign(id, end);
  }
  // A partition behind it that is new to the service begins with its first record in the batch.
  const auto begin_at = [&](const TopicPartition& id, std::int64_t offset) {
    if (id > at && !last.ends.contains(id)) ends.at(id) = std::min(ends.at(id), offset);
  };
  for (std::size_t i = update; i < batch.updates.size(); ++i) begin_at(batch.partition(i), batch.offset(i));
  for (const BadRecord& bad : batch.bad) begin_at(bad.at, bad.offset);
  ends.insert_or_assign(at, batch.offset(update));
  return ends;
}

std::map<TopicPartition, PartitionTime> times_before(const CommitPoint& last, const InputBatch& batch, std::size_t update) {
  std::map<TopicPartition, PartitionTime> times;
  if (batch.times.empty()) return times;
  const TopicPartition& at = batch.partition(update);
  for (const auto& [id, after] : batch.times) {
    if (id < at) {
      times.emplace(id, after);
      continue;
    }
    const auto before = last.times.find(id);
    times.emplace(id, PartitionTime{before == last.times.end() ? std::nullopt : before->second.largest, after.idle});
  }
  PartitionTime& there = times.at(at);
  for (std::size_t i = 0; i < update; ++i) {
    const Update& seen = batch.updates.updates()[i];
    if (batch.partition(i) == at && !seen.ahead) there.largest = std::max(there.largest, seen.time);
  }
  return times;
}

Leftover end_where_taken(const CommitPoint& last, InputBatch& batch, const BatchResult& result) {
  Leftover left;
  if (result.cut) {
    Offsets ends = ends_before(last, batch, result.consumed);
    std::map<TopicPartition, PartitionTime> times = times_before(last, batch, result.consumed);
    left.rest = batch.split_off(result.consumed, result.watermark);
    batch.ends = std::move(ends);
    batch.times = std::move(times);
  } else if (result.consumed < batch.updates.size()) {  // on_error is fail
    const Reject& reject = result.rejects.back();
    left.failure = BadRecord{batch.partition(reject.index),
                             batch.offset(reject.index),
                             reject.reason,
                             rejection_message(batch.updates.updates()[reject.index], reject.reason),
                             {},
                             {},
                             0};
    batch.ends = ends_before(last, batch, result.consumed);
  } else {
    left.failure = batch.failure;
  }
  return left;
}

void throw_for(const BadRecord& failure) {
  throw Error(ErrorKind::record, fmt::format("{} at offset {}", to_string(failure.at), failure.offset),
              fmt::format("{}: {}", reject_name(failure.reason), failure.message),
              "set input.on_error to skip or dead-letter to pass over it; or, if the record is right, change how its topic "
              "is read (format, columns, ids, time_unit, input.max_ahead). Without a change, the next start ends here again");
}

}  // namespace deltamatch::ingest
