#include "ingest/service/loop/recutter.hpp"

#include <fmt/format.h>

#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/topic_expression.hpp"
#include "ingest/service/loop/reading.hpp"

namespace deltamatch::ingest {
namespace {

using Clock = std::chrono::steady_clock;

/// Records that were refused then are refused again.
InputOptions lenient(InputOptions input, bool letters) {
  if (input.on_error != OnError::dead_letter || (input.dead_letter_file.empty() && !letters)) input.on_error = OnError::skip;
  return input;
}

}  // namespace

Recutter::Recutter(const StartupContext& context, Engine& engine, CommitPoint& reached, const KnownQueries* known, bool letters)
    : context_(context),
      engine_(engine),
      reached_(reached),
      queries_(engine, known),
      reading_(reading_fingerprint(context.options.input)),
      commits_(kafka::commit_topic(context.options.application)),
      ranges_(context.cluster, reached.ends, context.options.input.queue_bytes),
      assembler_(lenient(context.options.input, letters), {}, SIZE_MAX, std::nullopt, context.options.engine.window,
                 context.options.engine.schema.model != EdgeModel::simple, context.schemas.source()) {
  for (const auto& [partition, time] : reached.times) open(partition, time.largest);
}

void Recutter::repeat(const CommitPoint& mark, const std::function<void(InputBatch&)>& absorb) {
  if (mark.batch != engine_.batch() + 1) {
    throw Error(commits_, fmt::format("the commit record of batch {} is missing", engine_.batch() + 1),
                "restore the state directory from a backup, or choose another application name");
  }
  cut(mark);
  // Unlike the log, the input has refused records, so the limit on labels is applied again.
  if (absorb) {
    absorb(batch_);
  } else {
    queries_.stand(mark);
    BatchOptions how;
    how.on_reject = OnReject::skip;
    how.record_by_record = queries_.any();
    static_cast<void>(engine_.process(batch_.updates, how));
  }
  try {
    must_be_digest_of(mark, engine_.digest(), commits_,
                      "the input has changed since, or another release made the batch: restore the state directory from a "
                      "backup, or choose another application name");
  } catch (const Error& error) {
    throw OtherDigest("", error.what());
  }
  reached_ = mark;
}

InputBatch Recutter::next(const CommitPoint& mark) {
  cut(mark);
  return std::move(batch_);
}

void Recutter::cut(const CommitPoint& mark) {
  must_be_read_alike(mark);
  if (!mark.times.empty()) {
    for (const auto& [partition, time] : mark.times) open(partition, std::nullopt);
    assembler_.repeat(engine_.watermark(), mark.times, Clock::now());
  }
  const bool done =
      ranges_.read(mark.ends, [&](const kafka::Message& message) { take(message); }, context_.stop, context_.waits);
  if (!done) throw StartupCancelled();
  assembler_.cut(batch_, Clock::now());
  batch_.updates.set_watermark(mark.watermark);
}

void Recutter::must_be_read_alike(const CommitPoint& mark) const {
  if (mark.reading.empty() || mark.reading == reading_) return;
  throw Error(
      ErrorKind::configuration, "input",
      fmt::format("batch {} must be read again, but this configuration or release would read it differently", mark.batch),
      "restore topics, formats, columns, max_record, max_ahead and max_labels for this start, or restore the state directory "
      "from a backup");
}

void Recutter::take(const kafka::Message& message) {
  while (parts_.size() < ranges_.partitions().size()) {
    parts_.push_back(open(ranges_.partitions()[parts_.size()], std::nullopt));
  }
  message.headers(headers_);
  const InputRecord record{parts_[message.partition], message.offset, message.key.value_or(""), message.value,
                           message.timestamp,         headers_};
  const auto wait = [this] { context_.progress(context_.schemas.why()); };
  const bool read = context_.schemas.until_read([&] { static_cast<void>(assembler_.add(record, Clock::now())); },
                                                [this] {
                                                  if (context_.waits) context_.waits();
                                                  return context_.stop.stop_requested();
                                                },
                                                wait);
  if (!read) throw StartupCancelled();
}

/// The assembler's number of a partition.
std::size_t Recutter::open(const TopicPartition& at, std::optional<Timestamp> largest) {
  const auto [place, fresh] = opened_.try_emplace(at, 0);
  if (!fresh) return place->second;
  const InputTopics& topics = context_.options.input.topics[entry_of(context_.options.input.topics, at.topic)];
  return place->second = assembler_.open(at, 0, topics, Clock::now(), largest);
}

std::size_t entry_of(const std::vector<InputTopics>& topics, const std::string& topic) {
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (topics[i].name == topic) return i;
  }
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (kafka::TopicExpression::is_one(topics[i].name) && kafka::TopicExpression(topics[i].name).matches(topic)) return i;
  }
  throw Error(ErrorKind::configuration, "input.topics",
              fmt::format("the topic {} was read before, but is not listed now", topic), "list it again");
}

}  // namespace deltamatch::ingest
