// Decodes the next batches while the caller works on one.
#pragma once

#include <cstddef>
#include <thread>

#include "ingest/batch/batch_queue.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Runs a batcher in a thread of its own, at most `depth` >= 1 batches ahead. Batcher and source must outlive it. The
/// destructor stops the thread, even while it waits for input.
class ReadAhead {
 public:
  ReadAhead(Batcher& batcher, RecordSource& source, std::size_t depth);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Holds what has been read.
  [[nodiscard]] BatchQueue<PositionedBatch>& queue() noexcept { return queue_; }

 private:
  void run();

  Batcher& batcher_;
  RecordSource& source_;
  BatchQueue<PositionedBatch> queue_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest
