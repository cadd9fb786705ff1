// Looks up the commit records of batches.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "ingest/service/kafka/commit_log.hpp"

namespace deltamatch::ingest {

/// The commit records of batches up to `last`. While the batches asked for ascend, each record is read once. Uses the position
/// of `commits`, which must outlive it.
class CommitRecords {
 public:
  CommitRecords(kafka::CommitLog& commits, std::uint64_t last) : commits_(&commits), last_(last) {}

  /// The record of the batch, or nothing if there is none. Throws as CommitLog::next does.
  [[nodiscard]] std::optional<CommitPoint> of(std::uint64_t batch) {
    if (batch > last_) return std::nullopt;
    if (!sought_ || batch < asked_) {
      commits_->seek(batch, deadline());
      next_ = commits_->next(deadline());
      sought_ = true;
    }
    asked_ = batch;
    while (next_ && next_->batch < batch) next_ = commits_->next(deadline());
    return next_ && next_->batch == batch ? next_ : std::nullopt;
  }

 private:
  static kafka::Deadline deadline() { return kafka::Clock::now() + std::chrono::seconds(60); }

  kafka::CommitLog* commits_;
  std::uint64_t last_;
  bool sought_ = false;
  std::uint64_t asked_ = 0;  // last
  std::optional<CommitPoint> next_;
};

}  // namespace deltamatch::ingest
