// Reads all partitions in a thread of its own and hands over batches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/batch/batch_queue.hpp"
#include "ingest/batch/batch_source.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/loop/end_watch.hpp"
#include "ingest/service/loop/schema_waits.hpp"
#include "ingest/service/loop/topic_waits.hpp"

namespace deltamatch::ingest {

/// A batch closes when it has the maximum number of updates or when its first record is max_delay old. It also closes before it
/// would move the watermark too far. While the caller is busy, an open batch keeps growing, so batches are larger under load.
/// If the caller falls behind for long, reading stops, and the clients' queues bound the memory.
///
/// New partitions are added between two batches. A topic that is named and not there yet is looked for every second. If a
/// partition is gone, that is reported to the journal, and so is its return. It is then read from where it was left; if that is
/// out of its range, it is refused. Meanwhile, batches name where it was left.
class KafkaBatchSource {
 public:
  /// `input` must read nothing yet. It and the journal must outlive the source. Begins at `from`, which holds an offset for
  /// each of `partitions`. Any other partition in `from` is gone. `times` are those of the last batch's mark. `schemas` and
  /// `topics` must outlive the source; `topics` knows what `partitions` lack.
  KafkaBatchSource(kafka::Input& input, Journal& journal, const InputOptions& options, const BatchingOptions& batching,
                   const EngineOptions& engine, const std::vector<kafka::InputPartition>& partitions, const Offsets& from,
                   std::optional<Timestamp> watermark, const std::map<TopicPartition, PartitionTime>& times,
                   SchemaWaits& schemas, TopicWaits& topics);
  /// Ends the thread and drops what it has read.
  ~KafkaBatchSource();
  KafkaBatchSource(const KafkaBatchSource&) = delete;
  KafkaBatchSource& operator=(const KafkaBatchSource&) = delete;

  // See BatchSource.
  Arrival next_within(InputBatch& batch, std::chrono::milliseconds timeout) { return queue_.next_within(batch, timeout); }
  const UpdateBatch* upcoming(const std::stop_token& stop);
  void wake() { queue_.wake(); }
  void stop() { stopping_ = true; }
  /// The number of partitions that are gone, and of topics that are not there yet. Any thread may call it.
  [[nodiscard]] std::size_t missing() const noexcept { return missing_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void read_until_stopped();
  [[nodiscard]] bool is_due(Clock::time_point now);
  void take(const kafka::Message& message, Clock::time_point asked);
  void note_key(const kafka::Message& message);
  void hand_over();
  void heed_ends(Clock::time_point now);
  void look_for_partitions();
  void count_missing();
  void take_up(const std::vector<kafka::InputPartition>& fresh, const Offsets& from);
  void take_back(const kafka::InputPartition& partition);
  void open(const kafka::InputPartition& partition, std::int64_t next);
  void leave(const TopicPartition& partition);
  [[nodiscard]] std::optional<std::uint32_t> index_of(const TopicPartition& partition) const;

  kafka::Input& input_;
  Journal& journal_;
  SchemaWaits& schemas_;
  TopicWaits& topics_;
  const InputOptions options_;
  const std::map<TopicPartition, PartitionTime> times_;  // before the first batch
  const BatchingOptions batching_;
  const bool timed_;
  const bool reads_headers_;
  std::vector<MessageHeader> headers_;  // of the message that is taken
  Assembler assembler_;
  Offsets known_;  // the start of each partition
  std::set<TopicPartition> gone_;
  std::set<std::uint32_t> keyless_;  // partitions of a shard in which a record had no key
  std::atomic<std::size_t> missing_{0};
  Clock::time_point last_refresh_;
  Clock::time_point next_refresh_;
  Clock::time_point last_cut_;
  Clock::time_point next_ends_;
  Clock::duration fetching_{};  // since the last cut, like the next
  Clock::duration decoding_{};

  BatchQueue<InputBatch> queue_;
  std::atomic<bool> stopping_ = false;
  EndWatch ends_;
  std::thread thread_;
};
static_assert(BatchSource<KafkaBatchSource, InputBatch>);

}  // namespace deltamatch::ingest
