// Counts the records that are refused, tells them, and says whether they are too many.
#pragma once

#include <mutex>
#include <string>

#include "deltamatch/match.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/loop/refused_share.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Whoever reads the input notes its batches. Any thread may ask.
class RefusedRecords {
 public:
  struct Seen {
    RefusedShare share;
    std::string last;  ///< in the last batch with a refused record: the first such record, and the reason
  };

  RefusedRecords(const InputOptions& options, Metrics& metrics, Journal& journal) noexcept
      : options_(options), metrics_(metrics), journal_(journal) {}

  /// What codec and engine refused of a batch.
  void note(const InputBatch& batch, const BatchResult& result);
  /// Why the service is not ready: their share is larger than InputOptions::max_refused. Empty if it is not.
  [[nodiscard]] std::string why() const;
  [[nodiscard]] Seen seen() const;
  /// Another instance reads the input from now on.
  void forget();

 private:
  std::string tell(const TopicPartition& at, std::int64_t offset, RejectReason reason, std::string_view message) const;
  std::string tell_first(const InputBatch& batch, const BatchResult& result) const;

  const InputOptions& options_;
  Metrics& metrics_;
  Journal& journal_;
  mutable std::mutex mutex_;
  Seen seen_;  // guarded by mutex_
};

}  // namespace deltamatch::ingest
