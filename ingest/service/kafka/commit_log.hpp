// The marks of the committed batches, as the commit topic holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/state/mark.hpp"
#include "ingest/service/state/publish_progress.hpp"

namespace deltamatch::ingest::kafka {

/// Reads the records that the application's transactions wrote to its commit topic: to_json(Mark) each. What it tells is final
/// once a Transactions object has been made, which no older transaction outlives; before that it waits for an open one to end.
/// One thread uses it.
class CommitLog {
 public:
  explicit CommitLog(const Cluster& cluster);
  ~CommitLog();
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  /// The mark of the last committed batch; none if there is none or no such topic. Reads back from the end, past whatever was
  /// aborted there. A record that another program wrote there is told to the journal and passed over: it is no mark, or that of
  /// a batch that was marked already. Throws Error for a mark of another version or a damaged one, Unreachable at the deadline.
  [[nodiscard]] std::optional<Mark> last(Deadline deadline);

  /// What last found of a batch behind that one: how far it is published.
  [[nodiscard]] const std::optional<BatchProgress>& progress() const noexcept;

  /// Goes to the mark of this batch, or of the first one behind it. Throws as last does.
  void seek(std::uint64_t batch, Deadline deadline);

  /// The next mark after seek; none at the end, as it was when seek was called. Throws as last does.
  [[nodiscard]] std::optional<Mark> next(Deadline deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka
