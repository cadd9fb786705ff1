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
/// destructor stops the thread, even while it waits for input.
class ReadAhead {
 public:
  /// Whether to stop waiting. Called a few times a second. Empty: never stop.
  using Stop = std::function<bool()>;

  ReadAhead(Batcher& batcher, RecordSource& source, unsigned depth);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Exchanges `batch` for the next one and gives its memory to the reader. Returns false at the end. Throws what the batcher
  /// threw, after all batches before that. If `stop` says so while it waits, reading ends; the part of the batch that was read
  /// is the last batch.
  bool next(PositionedBatch& batch, const Stop& stop = {});

  /// Waits for the batch that the next call of next will hand over, and returns it. Null if `stop` is requested or there is
  /// none. Any thread may call it between two calls of next.
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
