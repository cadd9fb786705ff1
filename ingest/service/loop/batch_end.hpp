// Where a batch ends if the engine took only the first part of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "deltamatch/result.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// The ends of the input if the batch ends before this update. `last` is the mark of the batch before. Partitions of lower
/// order are read to the batch's end, those of higher order not at all.
[[nodiscard]] Offsets ends_before(const CommitPoint& last, const InputBatch& batch, std::size_t update);
/// What the partitions have contributed before an update of the batch.
[[nodiscard]] std::map<TopicPartition, PartitionTime> times_before(const CommitPoint& last, const InputBatch& batch,
                                                                   std::size_t update);

/// What is left of a batch.
struct Leftover {
  std::optional<InputBatch> rest;    ///< comes next, because the engine has cut the batch
  std::optional<BadRecord> failure;  ///< with OnError::fail, the record that stops the service
};

/// Lets the batch end where the engine ended it: its ends and times are then those of the updates that were taken. `last` is
/// the mark of the batch before. O(updates).
[[nodiscard]] Leftover end_where_taken(const CommitPoint& last, InputBatch& batch, const BatchResult& result);

/// Throws Error(record) for the record that stops the service.
[[noreturn]] void throw_for(const BadRecord& failure);

}  // namespace deltamatch::ingest
