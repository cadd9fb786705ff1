// From the records of many partitions to one batch: decoded as they come, cut by number and span, put in order.
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
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/service/loop/watermarks.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// A record of a topic. Views hold during the call that takes it.
struct InputRecord {
  std::size_t part = 0;  ///< the partition, as Assembler::open numbered it
  std::int64_t offset = 0;
  std::string_view key;
  std::optional<std::string_view> value;  ///< nothing: a tombstone, which says nothing
  std::int64_t timestamp = -1;            ///< milliseconds since the epoch, as Kafka holds it; -1: none
};

/// A record that was refused, by its codec or by the engine.
struct BadRecord {
  TopicPartition at;
  std::int64_t offset = 0;
  RejectReason reason{};
  std::string message;
  std::string key;
  std::string value;         ///< its bytes, or the first of them
  std::uint64_t length = 0;  ///< of the value in Kafka
};

/// Updates that know where they came from.
class UpdateRun {
 public:
  struct Origin {
    std::uint32_t part = 0;  ///< the partition, as Assembler::open numbered it
    std::int64_t offset = 0;
    friend bool operator==(const Origin&, const Origin&) = default;
  };

  UpdateBatch updates;
  std::vector<Origin> origins;  ///< by update

  /// Key and value of an update's record, where they are kept: with OnError::dead_letter.
  [[nodiscard]] std::string_view key(std::size_t update) const;
  [[nodiscard]] std::string_view value(std::size_t update) const;

  void add(const Update& update, Origin origin);
  /// Notes the record of the update added last; once for all updates of a record.
  void keep(std::string_view key, std::string_view value);
  /// Moves all of another run behind this one; the other is then to be cleared.
  void append(UpdateRun& other);
  /// Keeps the memory.
  void clear() noexcept;

 private:
  struct Kept {
    std::size_t begin;
    std::size_t key_end;
    std::size_t value_end;
  };
  std::string bytes_;
  std::vector<Kept> kept_;  // by update
};

/// What one batch is made of. Updates stand in the order of (topic, partition, offset) and bear the watermark.
struct InputBatch : UpdateRun {
  std::shared_ptr<const std::vector<TopicPartition>> parts;  ///< by the numbers that origins give
  Offsets ends;                                              ///< of every partition, whether it moved or not
  std::uint64_t records = 0;
  std::vector<BadRecord> bad;                                ///< unreadable ones, with OnError::dead_letter
  std::array<std::uint64_t, reject_reason_count> refused{};  ///< unreadable ones, kept or not
  std::optional<BadRecord> first_refused;                    ///< of the unreadable ones, without its bytes
  std::vector<Warning> warnings;                             ///< doubtful readings that no batch before has told
  std::optional<BadRecord> failure;             ///< with OnError::fail: the record that stops the service; `ends` excludes it
  std::chrono::steady_clock::time_point since;  ///< when its first record came
  double fetch_seconds = 0;                     ///< spent on waiting for its records and taking them over
  double decode_seconds = 0;

  [[nodiscard]] const TopicPartition& partition(std::size_t update) const { return (*parts)[origins[update].part]; }
};

/// Not thread-safe.
class Assembler {
 public:
  using Clock = std::chrono::steady_clock;

  /// `limits` of updates and of how far a batch may move the watermark (max_span); a batch also closes at `max_bytes` of
  /// records, so that no flood of long ones fills the memory. `window` is the engine's, for what is doubtful about times.
  Assembler(const InputOptions& options, BatchLimits limits, std::size_t max_bytes, std::optional<Timestamp> watermark,
            Timestamp window = 0);

  /// Takes up a partition, whose next record is the one at `next`. Gives its number, from 0. `topics`: how its records are
  /// read. Throws Error(usage) as make_message_codec does.
  std::size_t open(const TopicPartition& partition, std::int64_t next, const InputTopics& topics, Clock::time_point now);
  [[nodiscard]] std::size_t partitions() const noexcept { return parts_.size(); }
  /// Of a partition that is not there nothing is read, but every batch tells where it ended; until open takes it up.
  void hold(const TopicPartition& partition, std::int64_t end) { held_.insert_or_assign(partition, end); }

  /// What is known of partitions' ends, by their numbers; the last may be missing. To be told between two batches.
  void at_end(std::span<const std::optional<AtEnd>> ends);
  /// A partition that is gone does not hold the watermark until it is back.
  void leave(std::size_t part) { watermarks_.leave(part); }
  void resume(std::size_t part, Clock::time_point now) { watermarks_.resume(part, now); }

  /// Takes a record into the open batch. False where the batch, be it empty, must be cut before this record, which is then to
  /// be given again.
  bool add(const InputRecord& record, Clock::time_point now);

  /// Whether nothing was taken since the last cut.
  [[nodiscard]] bool empty() const noexcept { return records_ == 0; }
  /// Whether the batch is complete: by its limits, or because a record stops the service.
  [[nodiscard]] bool full() const noexcept;
  /// When the first record of the open batch came.
  [[nodiscard]] Clock::time_point since() const noexcept { return since_; }
  /// Whether a cut would move the watermark.
  [[nodiscard]] bool watermark_moves(Clock::time_point now) const;

  /// Closes the batch into `batch`, whose memory is reused.
  void cut(InputBatch& batch, Clock::time_point now);

 private:
  struct Part {
    TopicPartition at;
    std::unique_ptr<Codec> codec;
    Doubts* doubts = nullptr;  // about the times of its topics
    bool tells_kinds = false;  // whether its ids go to id_doubts_
    std::int64_t next = 0;
    UpdateRun run;
  };

  bool decode(Part& part, const InputRecord& record);
  [[nodiscard]] bool too_far(std::optional<Timestamp> watermark) const;
  void begin(Clock::time_point now);
  void take(Part& part, const InputRecord& record, std::span<const Update> updates);
  void refuse(Part& part, const InputRecord& record, RejectReason reason, std::string_view message);
  void report_doubts(InputBatch& batch);

  OnError on_error_;
  std::size_t max_record_;
  std::chrono::milliseconds max_ahead_;
  BatchLimits limits_;
  std::size_t max_bytes_;
  Watermarks watermarks_;
  std::vector<Part> parts_;
  std::shared_ptr<const std::vector<TopicPartition>> names_;
  Offsets held_;
  std::vector<std::uint32_t> order_;  // numbers of the parts, by (topic, partition)
  std::size_t updates_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t records_ = 0;
  Clock::time_point since_;
  std::optional<Timestamp> largest_;  // time of the record being read
  std::vector<BadRecord> bad_;
  std::array<std::uint64_t, reject_reason_count> refused_{};
  std::optional<BadRecord> first_refused_;
  std::optional<BadRecord> failure_;
  Timestamp window_;
  std::map<std::string, Doubts> doubts_;  // by the name under which topics are configured
  Doubts id_doubts_;                      // ids of all topics are those of one graph
};

}  // namespace deltamatch::ingest
