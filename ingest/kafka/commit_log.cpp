#include "ingest/kafka/commit_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ingest/kafka/metadata.hpp"
#include "ingest/kafka/reader.hpp"

namespace deltamatch::ingest::kafka {
namespace {

/// The marks between two offsets of the commit topic.
class Marks {
 public:
  Marks(const Cluster& cluster, const TopicPartition& topic, std::int64_t from, std::int64_t end)
      : reader_(cluster, "commits", {}), topic_(topic), end_(end) {
    reader_.add(topic, from);
    reader_.fetch_added();
  }

  std::optional<Mark> next(Deadline deadline) {
    while (reader_.seen(0) < end_) {
      Message::Handle message(rd_kafka_consumer_poll(reader_.client().c(), std::min(remaining_ms(deadline), 100)));
      if (message != nullptr) {
        const auto record = reader_.take(std::move(message));
        if (record && record->offset >= end_) return std::nullopt;
        if (record)
          return parse_mark(record->value.value_or(""), fmt::format("{} at offset {}", to_string(topic_), record->offset));
      } else if (Clock::now() >= deadline) {
        throw Unreachable(to_string(topic_), fmt::format("read to offset {} of {} in the time given", reader_.seen(0), end_),
                          "check that the brokers are up");
      }
    }
    return std::nullopt;
  }

 private:
  Reader reader_;
  TopicPartition topic_;
  std::int64_t end_;
};

}  // namespace

struct CommitLog::State {
  explicit State(const Cluster& of) : cluster(of), topic{commit_topic(of.application), 0} {}

  /// Opens the topic from nearer its end to farther from it, until `enough` says so of what was opened; all of it at last. The
  /// ends of transactions and aborted records take offsets too, so how far back a record lies is not known. None: no topic.
  std::unique_ptr<Marks> walk_back(Deadline deadline, const std::function<bool(Marks&)>& enough) const {
    std::int64_t low = 0, end = 0;
    {
      // The end of all records, not of the committed ones: for a moment after a commit they differ, and reading then waits.
      Consumer client(cluster, "commits",
                      configure(cluster, {}, {{"group.id", cluster.application}, {"isolation.level", "read_uncommitted"}}));
      if (count_partitions(client, topic.topic, deadline) == 0) return nullptr;
      std::tie(low, end) = watermarks(client, topic, deadline);
    }
    for (std::int64_t step = 64;; step *= 8) {
      const std::int64_t from = std::max(low, end - step);
      auto opened = std::make_unique<Marks>(cluster, topic, from, end);
      if (enough(*opened) || from == low) return opened;
    }
  }

  const Cluster cluster;
  const TopicPartition topic;
  std::unique_ptr<Marks> marks;  // what next reads
  std::optional<Mark> first;     // of them, read already
};

CommitLog::CommitLog(const Cluster& cluster) : state_(std::make_unique<State>(cluster)) {}
CommitLog::~CommitLog() = default;

std::optional<Mark> CommitLog::last(Deadline deadline) {
  std::optional<Mark> last;
  static_cast<void>(state_->walk_back(deadline, [&](Marks& marks) {
    while (auto mark = marks.next(deadline)) last = std::move(mark);
    return last.has_value();
  }));
  return last;
}

void CommitLog::seek(std::uint64_t batch, Deadline deadline) {
  State& s = *state_;
  s.first.reset();
  s.marks = s.walk_back(deadline, [&](Marks& marks) {
    s.first = marks.next(deadline);
    return s.first && s.first->batch <= batch;
  });
  while (s.first && s.first->batch < batch) s.first = s.marks->next(deadline);
}

std::optional<Mark> CommitLog::next(Deadline deadline) {
  State& s = *state_;
  if (s.first) return std::exchange(s.first, std::nullopt);
  return s.marks == nullptr ? std::nullopt : s.marks->next(deadline);
}

}  // namespace deltamatch::ingest::kafka
