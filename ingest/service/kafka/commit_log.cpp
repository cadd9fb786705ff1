#include "ingest/service/kafka/commit_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "ingest/service/kafka/metadata.hpp"
#include "ingest/service/kafka/partition_reader.hpp"
#include "ingest/service/workers/records.hpp"

namespace deltamatch::ingest::kafka {
namespace {

/// Whether a record is probably a mark, but of another version or damaged.
bool claims_to_be_mark(std::string_view value) {
  const nlohmann::json object = nlohmann::json::parse(value, nullptr, false);
  return object.is_object() && object.contains("v") && object.contains("batch");
}

bool claims_to_be_cut(std::string_view value) {
  const nlohmann::json object = nlohmann::json::parse(value, nullptr, false);
  return object.is_object() && object.contains("v") && object.contains("mark");
}

/// The marks between two offsets of the commit topic.
class Marks {
 public:
  Marks(const Cluster& cluster, const TopicPartition& topic, std::int64_t from, std::int64_t end, std::set<std::int64_t>& told)
      : reader_(cluster, "commits", {}), topic_(topic), end_(end), told_(told) {
    reader_.add(topic, from);
    reader_.fetch_added();
  }

  std::optional<CommitPoint> next(Deadline deadline) {
    while (reader_.seen(0) < end_) {
      Message::Handle message(rd_kafka_consumer_poll(reader_.client().c(), std::min(remaining_ms(deadline), 100)));
      if (message != nullptr) {
        auto record = reader_.take(std::move(message));
        if (record && record->offset >= end_) {
          held_ = std::move(record);  // for follow()
          return std::nullopt;
        }
        if (!record) continue;
        if (auto mark = heed(*record)) return mark;
      } else if (Clock::now() >= deadline) {
        throw Unreachable(to_string(topic_),
                          fmt::format("only read to offset {} of {} in the time allowed", reader_.seen(0), end_),
                          "check that the brokers are up");
      }
    }
    return std::nullopt;
  }

  std::optional<CommitPoint> follow(Deadline deadline) {
    if (const auto held = std::exchange(held_, std::nullopt)) {
      if (auto mark = heed(*held)) return mark;
    }
    do {
      Message::Handle message(rd_kafka_consumer_poll(reader_.client().c(), std::min(remaining_ms(deadline), 100)));
      if (message == nullptr) continue;
      const auto record = reader_.take(std::move(message));
      if (!record) continue;
      if (auto mark = heed(*record)) return mark;
    } while (Clock::now() < deadline);
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t written() const noexcept { return written_; }
  [[nodiscard]] const std::optional<workers::Cut>& cut() const noexcept { return cut_; }

  /// The progress of a batch after the mark that next() returned last.
  [[nodiscard]] const std::optional<BatchProgress>& progress() const noexcept { return progress_; }
  /// The latest note of deliveries that was passed.
  [[nodiscard]] const std::optional<DeliveryNote>& note() const noexcept { return note_; }

 private:
  /// Takes a record. Returns its mark if it is one.
  std::optional<CommitPoint> heed(const Message& record) {
    const std::string where = fmt::format("{} at offset {}", to_string(topic_), record.offset);
    if (auto progress = parse_progress(record.value.value_or(""), where)) {
      progress_ = std::move(progress);
      return std::nullopt;
    }
    if (auto note = parse_note(record.value.value_or(""), where)) {
      note_ = std::move(note);
      return std::nullopt;
    }
    auto mark = mark_in(record);
    if (!mark) return std::nullopt;
    progress_.reset();
    written_ = record.timestamp;
    return mark;
  }

  /// Returns nothing if another program wrote the record. Such a record says nothing about commits.
  std::optional<CommitPoint> mark_in(const Message& record) {
    const std::string_view value = record.value.value_or("");
    const std::string where = fmt::format("{} at offset {}", to_string(topic_), record.offset);
    try {
      std::optional<workers::Cut> cut = workers::parse_cut(value, where);
      CommitPoint mark = cut ? cut->mark : parse_mark(value, where);
      if (last_ && mark.batch <= *last_) {
        pass_over(record.offset, fmt::format("the mark of batch {} follows that of batch {}", mark.batch, *last_));
        return std::nullopt;
      }
      last_ = mark.batch;
      cut_ = std::move(cut);
      return mark;
    } catch (const Error& error) {
      if (claims_to_be_mark(value) || claims_to_be_cut(value)) {
        throw Error("", error.what(),
                    "use the release that wrote it; or, if another program wrote it, choose another application name and an "
                    "empty state directory, and allow only the service to write to its topic");
      }
      pass_over(record.offset, "not a commit record");
      return std::nullopt;
    }
  }

  void pass_over(std::int64_t offset, const std::string& what) {
    if (!told_.insert(offset).second) return;
    reader_.client().client_log().tell(
        Level::warn, "stray_commit_record",
        {{"topic", topic_.topic},
         {"partition", std::to_string(topic_.partition)},
         {"offset", std::to_string(offset)},
         {"what", what},
         {"effect", "it is passed over"},
         {"remedy",
          "find out who writes to this topic, and allow only the service to write to it (by an ACL of the brokers)"}});
  }

  Reader reader_;
  TopicPartition topic_;
  std::int64_t end_;
  std::optional<std::uint64_t> last_;  // batch
  std::set<std::int64_t>& told_;       // offsets of reported strays
  std::optional<BatchProgress> progress_;
  std::int64_t written_ = -1;
  std::optional<workers::Cut> cut_;  // that held the last mark
  std::optional<DeliveryNote> note_;
  std::optional<Message> held_;  // a record after end_
};

}  // namespace

struct CommitLog::State {
  explicit State(const Cluster& of) : cluster(of), topic{commit_topic(of.application), 0} {}

  /// Opens the topic close to its end, then farther back, until `enough` accepts what was opened. At last it opens all of it.
  /// Ends of transactions and aborted records use offsets too, so the distance to a record is not known. Returns nothing if
  /// there is no topic.
  std::unique_ptr<Marks> walk_back(Deadline deadline, const std::function<bool(Marks&)>& enough) {
    std::int64_t low = 0, end = 0;
    {
      // Asks for the end of all records, not only of committed ones. Just after a commit they differ, and reading then waits.
      Consumer client(cluster, "commits",
                      configure(cluster, {}, {{"group.id", cluster.application}, {"isolation.level", "read_uncommitted"}}));
      if (count_partitions(client, topic.topic, deadline) == 0) return nullptr;
      std::tie(low, end) = watermarks(client, topic, deadline);
    }
    for (std::int64_t step = 64;; step *= 8) {
      const std::int64_t from = std::max(low, end - step);
      auto opened = std::make_unique<Marks>(cluster, topic, from, end, told);
      if (enough(*opened) || from == low) return opened;
    }
  }

  const Cluster cluster;
  const TopicPartition topic;
  std::set<std::int64_t> told;       // offsets of strays that were logged
  std::unique_ptr<Marks> marks;      // what next() reads
  std::optional<CommitPoint> first;  // the first of them, read already
  std::optional<workers::Cut> first_cut;
  std::int64_t written = -1;
  std::optional<workers::Cut> cut;
  std::optional<BatchProgress> progress;
  std::optional<DeliveryNote> note;
};

CommitLog::CommitLog(const Cluster& cluster) : state_(std::make_unique<State>(cluster)) {}
CommitLog::~CommitLog() = default;

std::optional<CommitPoint> CommitLog::last(Deadline deadline) {
  std::optional<CommitPoint> last;
  static_cast<void>(state_->walk_back(deadline, [&](Marks& marks) {
    while (auto mark = marks.next(deadline)) last = std::move(mark);
    if (last) state_->cut = marks.cut();
    state_->progress = marks.progress();
    state_->note = marks.note();
    return last.has_value();
  }));
  return last;
}

const std::optional<BatchProgress>& CommitLog::progress() const noexcept { return state_->progress; }

const std::optional<DeliveryNote>& CommitLog::delivered() const noexcept { return state_->note; }

void CommitLog::seek(std::uint64_t batch, Deadline deadline) {
  State& s = *state_;
  s.first.reset();
  s.marks = s.walk_back(deadline, [&](Marks& marks) {
    s.first = marks.next(deadline);
    return s.first && s.first->batch <= batch;
  });
  while (s.first && s.first->batch < batch) s.first = s.marks->next(deadline);
  if (s.first) s.first_cut = s.marks->cut();
}

std::optional<CommitPoint> CommitLog::next(Deadline deadline) {
  State& s = *state_;
  if (s.marks != nullptr && s.first) {
    s.written = s.marks->written();
    s.cut = s.first_cut;
    return std::exchange(s.first, std::nullopt);
  }
  std::optional<CommitPoint> mark = s.marks == nullptr ? std::nullopt : s.marks->next(deadline);
  if (mark) {
    s.written = s.marks->written();
    s.cut = s.marks->cut();
  }
  return mark;
}

std::optional<CommitPoint> CommitLog::follow(std::chrono::milliseconds wait) {
  State& s = *state_;
  if (s.first || s.marks == nullptr) return next(Clock::now() + wait);
  std::optional<CommitPoint> mark = s.marks->follow(Clock::now() + wait);
  if (mark) {
    s.written = s.marks->written();
    s.cut = s.marks->cut();
  }
  return mark;
}

const std::optional<workers::Cut>& CommitLog::cut() const noexcept { return state_->cut; }

std::int64_t CommitLog::written() const noexcept { return state_->written; }

}  // namespace deltamatch::ingest::kafka
