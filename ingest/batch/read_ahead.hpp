// Decodes the next batches while the caller works on one.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/batch/batcher.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Runs a batcher in a thread of its own, at most `depth` >= 1 batches ahead. Batcher and source must outlive it. The
/// destructor stops the thread, also one that waits for input.
class ReadAhead {
 public:
  /// Whether to wait no longer; asked a few times a second. Empty: never.
  using Stop = std::function<bool()>;

  ReadAhead(Batcher& batcher, RecordSource& source, unsigned depth);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Exchanges `batch` for the next one, whose memory it gives back to the reader. False at the end. Throws what the batcher
  /// threw, once all batches before that have been handed over. Where `stop` says so while the batch is waited for, reading
  /// ends: what was read of the batch is the last one.
  bool next(PositionedBatch& batch, const Stop& stop = {});

  /// What the following call of next will hand over, as it will; waits for it. Null where that is to stop or there is none. Any
  /// thread, between two calls of next.
  const PositionedBatch* upcoming(const std::stop_token& stop);

 private:
  void run();

  Batcher& batcher_;
  RecordSource& source_;
  const std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<PositionedBatch> ready_;  // guarded by mutex_, as all below
  std::vector<PositionedBatch> free_;
  std::exception_ptr failure_;
  bool ended_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace deltamatch::ingest
