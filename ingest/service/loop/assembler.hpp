// Builds batches from the records of many partitions: decodes them on arrival, limits number and time span, and orders them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/batch/kept_records.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/service/loop/watermarks.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// A record of a topic. The views are valid during the call that takes it.
struct InputRecord {
  std::size_t part = 0;  ///< number of the partition, from Assembler::open
  std::int64_t offset = 0;
  std::string_view key;
  std::optional<std::string_view> value;  ///< nothing for a tombstone
  std::int64_t timestamp = -1;            ///< milliseconds since the epoch, as in Kafka; -1 if none
  std::span<const MessageHeader> headers{};
};

/// A record that its codec or the engine refused.
struct BadRecord {
  TopicPartition at;
  std::int64_t offset = 0;
  RejectReason reason{};
  std::string message;
  std::string key;
  std::string value;         ///< the bytes of the value, or the first of them
  std::uint64_t length = 0;  ///< length of the value in Kafka
};

/// Updates with the records that they came from.
struct UpdateRun {
  UpdateBatch updates;
  std::vector<Position> positions;  ///< by update: the number of the partition, from Assembler::open, and the offset
  KeptRecords kept;                 ///< empty unless OnError::dead_letter

  void add(const Update& update, Position position);
  /// Moves all of another run to the end of this one. The other run must then be cleared.
  void append(UpdateRun& other);
  /// Keeps the memory for reuse.
  void clear() noexcept;
};

/// The input of one batch. Updates are in the order of (topic, partition, offset) and carry the watermark.
struct InputBatch : UpdateRun {
  std::shared_ptr<const std::vector<TopicPartition>> parts;  ///< by the numbers in positions
  Offsets ends;                                              ///< of every partition, even if it did not move
  std::map<TopicPartition, PartitionTime> times;             ///< as in a mark; empty if the watermark has no steps
  std::uint64_t records = 0;
  std::vector<BadRecord> bad;                                ///< unreadable records, with OnError::dead_letter
  std::array<std::uint64_t, reject_reason_count> refused{};  ///< number of unreadable records, whether kept or not
  std::optional<BadRecord> first_refused;                    ///< the first unreadable record, without its bytes
  std::vector<Warning> warnings;                             ///< doubtful readings that no earlier batch reported
  std::optional<BadRecord> failure;             ///< with OnError::fail, the record that stops the service; `ends` excludes it
  std::chrono::steady_clock::time_point since;  ///< arrival of its first record
  double fetch_seconds = 0;                     ///< time spent waiting for its records and taking them over
  double decode_seconds = 0;

  [[nodiscard]] const TopicPartition& partition(std::size_t update) const { return (*parts)[positions[update].part]; }
  [[nodiscard]] std::int64_t offset(std::size_t update) const { return static_cast<std::int64_t>(positions[update].number); }

  /// A batch of the updates from `first` on, which must begin a record, with what comes behind them. This one keeps all
  /// updates. Its steps go up to `first`, and its watermark is then `reached`. Its ends and times are as before. O(updates).
  [[nodiscard]] InputBatch split_off(std::size_t first, std::optional<Timestamp> reached);
};

/// Not thread-safe.
class Assembler {
 public:
  using Clock = std::chrono::steady_clock;

  /// `limits` bounds the updates of a batch, and how far it may move the watermark (max_span). A batch also closes at
  /// `max_bytes` of records, so that long records cannot fill the memory. `window` is the engine's; it is used to detect
  /// doubtful times. `stepwise`: batches state the watermark after each of their records, in their order. A partition that was
  /// idle before the batch is so until its first record. Without a window, the last step is then the batch's watermark.
  /// `schemas` outlives the assembler; null: there is no registry.
  Assembler(const InputOptions& options, BatchLimits limits, std::size_t max_bytes, std::optional<Timestamp> watermark,
            Timestamp window = 0, bool stepwise = false, SchemaSource* schemas = nullptr);

  /// Adds a partition whose next record is at `next`. Returns its number, from 0. `topics` says how its records are read.
  /// `largest` is the largest time seen in it so far. Throws Error(usage) as make_message_codec does.
  std::size_t open(const TopicPartition& partition, std::int64_t next, const InputTopics& topics, Clock::time_point now,
                   std::optional<Timestamp> largest = std::nullopt);
  [[nodiscard]] std::size_t partitions() const noexcept { return parts_.size(); }
  /// Sets the end of a missing partition. Nothing is read from it, but every batch names this end until open() adds it.
  void hold(const TopicPartition& partition, std::int64_t end) { held_.insert_or_assign(partition, end); }

  /// Sets what is known of the partitions' ends, by number; the last ones may be missing. Call it between two batches.
  void at_end(std::span<const std::optional<IdleEvidence>> ends);
  /// A partition that is gone does not hold the watermark until it returns.
  void leave(std::size_t part) { watermarks_.leave(part); }
  void resume(std::size_t part, Clock::time_point now) { watermarks_.resume(part, now); }

  /// Begins a batch that was cut before. `watermark` is the one before it; `times` says which partitions were idle.
  void repeat(std::optional<Timestamp> watermark, const std::map<TopicPartition, PartitionTime>& times, Clock::time_point now);

  /// Takes a record into the open batch. Returns false if the batch must be cut first, even if it is empty. The same record
  /// must then be passed again. Throws SchemaUnavailable; the record was not taken then, and can be passed again.
  bool add(const InputRecord& record, Clock::time_point now);

  /// Whether no record was taken since the last cut.
  [[nodiscard]] bool empty() const noexcept { return records_ == 0; }
  /// Whether the batch is complete, because of its limits or of a record that stops the service.
  [[nodiscard]] bool full() const noexcept;
  /// The arrival of the open batch's first record.
  [[nodiscard]] Clock::time_point since() const noexcept { return since_; }
  /// Whether a cut would move the watermark.
  [[nodiscard]] bool watermark_moves(Clock::time_point now) const;

  /// Closes the batch and moves it into `batch`, whose memory is reused.
  void cut(InputBatch& batch, Clock::time_point now);

 private:
  struct Reached {
    std::size_t updates;  // of the partition in this batch, before the record
    std::optional<Timestamp> largest;
  };
  struct Part {
    TopicPartition at;
    std::unique_ptr<Codec> codec;
    Doubts* doubts = nullptr;  // about the times of its topics
    bool watches_ids = false;  // whether its ids are checked by id_doubts_
    bool spells_ids = false;   // whether they come from text fields, so that spellings such as 007 are compared
    std::int64_t next = 0;
    UpdateRun run;
    std::vector<Reached> reached{};  // in this batch; ascending
  };

  bool decode(Part& part, const InputRecord& record);
  [[nodiscard]] bool too_far(std::optional<Timestamp> watermark) const;
  void begin(Clock::time_point now);
  void take(Part& part, const InputRecord& record, std::span<const Update> updates);
  void refuse(Part& part, const InputRecord& record, RejectReason reason, std::string_view message);
  void report_doubts(InputBatch& batch);
  void note_reached(std::uint32_t number, std::size_t updates);
  std::vector<WatermarkStep> take_steps(InputBatch& batch);

  OnError on_error_;
  std::size_t max_record_;
  std::chrono::milliseconds max_ahead_;
  BatchLimits limits_;
  std::size_t max_bytes_;
  Watermarks watermarks_;
  std::vector<Part> parts_;
  std::shared_ptr<const std::vector<TopicPartition>> names_;
  Offsets held_;
  std::vector<std::uint32_t> order_;  // numbers of the partitions, by (topic, partition)
  std::size_t updates_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t records_ = 0;
  Clock::time_point since_;
  std::optional<Timestamp> largest_;  // largest time of the current record
  std::vector<BadRecord> bad_;
  std::array<std::uint64_t, reject_reason_count> refused_{};
  std::optional<BadRecord> first_refused_;
  std::optional<BadRecord> failure_;
  Timestamp window_;
  bool stepwise_;
  SchemaSource* schemas_;
  bool repeats_ = false;                  // whether begun_ was stated for the next batch
  std::vector<PartitionTime> begun_;      // what the partitions contributed before the batch, by number
  std::map<std::string, Doubts> doubts_;  // by the configured name of the topics
  Doubts id_doubts_;                      // about ids, which all topics share
};

}  // namespace deltamatch::ingest
