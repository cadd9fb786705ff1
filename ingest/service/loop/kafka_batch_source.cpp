#include "ingest/service/loop/kafka_batch_source.hpp"

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t depth = 2;                                // batches waiting for the caller
constexpr std::size_t max_batch_bytes = std::size_t{32} << 20;  // limit for the records of one batch
constexpr auto soon = 1s;                                       // until the next look, if something is missing
constexpr auto longest_poll = 50ms;                             // bound on the delay of a stop or refresh

bool reads_headers(const InputTopics& topics) {
  const auto names_header = [](const std::string& text) { return text.find("kafka:header") != std::string::npos; };
  const auto reads = [&](const AttributeColumn& column) { return names_header(column.column); };
  const CodecOptions& codec = topics.codec;
  return names_header(codec.columns) || std::ranges::any_of(codec.attributes, reads) ||
         std::ranges::any_of(codec.vertex_attributes, reads);
}

}  // namespace

KafkaBatchSource::KafkaBatchSource(kafka::Input& input, Journal& journal, const InputOptions& options,
                                   const BatchingOptions& batching, const EngineOptions& engine,
                                   const std::vector<kafka::InputPartition>& partitions, const Offsets& from,
                                   std::optional<Timestamp> watermark, const std::map<TopicPartition, PartitionTime>& times,
                                   SchemaWaits& schemas, TopicWaits& topics)
    : input_(input),
      journal_(journal),
      schemas_(schemas),
      topics_(topics),
      options_(options),
      times_(times),
      batching_(batching),
      timed_(engine.window > 0),
      reads_headers_(std::ranges::any_of(options.topics, reads_headers)),
      assembler_(options, BatchLimits{batching.max_updates, batching.max_span}.within_window(engine.window), max_batch_bytes,
                 watermark, engine.window, engine.schema.model != EdgeModel::simple, schemas.source()),
      known_(from),
      last_refresh_(Clock::now()),
      next_refresh_(last_refresh_ + options.refresh_every),
      last_cut_(Clock::now()),
      queue_(depth),
      ends_(input, Watermarks::ask_every(options.idle_after), Watermarks::answer_counts(options.idle_after)) {
  for (const auto& [id, end] : from) {
    assembler_.hold(id, end);
    gone_.insert(id);
  }
  for (const kafka::InputPartition& partition : partitions) {
    gone_.erase(partition.id);
    open(partition, from.at(partition.id));
  }
  input_.add(partitions, from);
  for (const TopicPartition& partition : gone_) leave(partition);
  count_missing();
  thread_ = std::thread([this] { run(); });
}

KafkaBatchSource::~KafkaBatchSource() {
  stopping_ = true;
  queue_.abandon();
  thread_.join();
}

const UpdateBatch* KafkaBatchSource::upcoming(const std::stop_token& stop) {
  const InputBatch* batch = queue_.upcoming(stop);
  return batch == nullptr ? nullptr : &batch->updates;
}

void KafkaBatchSource::run() {
  std::exception_ptr failure;
  try {
    read_until_stopped();
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    if (!assembler_.empty()) hand_over();
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  queue_.end(std::move(failure));
}

void KafkaBatchSource::read_until_stopped() {
  while (!stopping_) {
    const auto now = Clock::now();
    if (assembler_.empty()) heed_ends(now);
    const auto due =
        assembler_.empty() ? now + longest_poll : std::min(assembler_.since() + batching_.max_delay, now + longest_poll);
    const auto wait = std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(due - now));
    if (const std::optional<kafka::Message> message = input_.poll(wait)) {
      take(*message, now);
    } else if (!assembler_.empty()) {
      fetching_ += Clock::now() - now;
    }
    if (is_due(now)) hand_over();
    // A partition may be reported many times a second.
    if (input_.disowned() || topics_.count() > 0) next_refresh_ = std::min(next_refresh_, last_refresh_ + soon);
    if (now >= next_refresh_) look_for_partitions();
  }
}

/// Whether the batch should be cut now.
bool KafkaBatchSource::is_due(Clock::time_point now) {
  if (assembler_.full()) return true;
  if (!assembler_.empty()) return Clock::now() - assembler_.since() >= batching_.max_delay && queue_.has_room();
  // Edges expire even if no record comes.
  return timed_ && now - last_cut_ >= std::max<Clock::duration>(batching_.max_delay, longest_poll) &&
         assembler_.watermark_moves(now);
}

void KafkaBatchSource::heed_ends(Clock::time_point now) {
  if (now < next_ends_) return;
  next_ends_ = now + longest_poll;
  assembler_.at_end(ends_.known());
}

void KafkaBatchSource::take(const kafka::Message& message, Clock::time_point asked) {
  if (reads_headers_) message.headers(headers_);
  note_key(message);
  const InputRecord record{message.partition, message.offset,    message.key.value_or(""),
                           message.value,     message.timestamp, headers_};
  const auto now = Clock::now();
  if (!assembler_.empty()) fetching_ += now - asked;  // before the first record, this is waiting for input
  bool taken = false;
  const auto add = [&] {
    taken = assembler_.add(record, now);
    if (taken) return;
    hand_over();
    taken = assembler_.add(record, now);  // uses `now`, because hand_over may have waited long
  };
  const auto before_waiting = [&] {
    if (!assembler_.empty()) hand_over();  // what was read need not wait for a schema
  };
  if (!schemas_.until_read(add, [this] { return stopping_.load(); }, before_waiting)) return;
  decoding_ += Clock::now() - now;
  if (!taken) throw Error("batch", "a record does not fit into an empty batch");
}

/// Producers send a record without a key, or with an empty one, to any partition, so to any shard.
void KafkaBatchSource::note_key(const kafka::Message& message) {
  if (!options_.shard.divided() || !message.key.value_or("").empty() || !keyless_.insert(message.partition).second) return;
  journal_.tell(
      Level::warn, "record_without_key",
      {{"partition", to_string(input_.partitions()[message.partition].id)},
       {"offset", std::to_string(message.offset)},
       {"effect", "edges of one tenant may lie in several shards, and their matches are not found"},
       {"remedy", "send the tenant as the key of each record, unless the producer chooses partitions by the tenant"}});
}

/// Closes the open batch and waits until the caller has room for it.
void KafkaBatchSource::hand_over() {
  last_cut_ = Clock::now();
  InputBatch batch = queue_.memory();
  assembler_.cut(batch, last_cut_);
  batch.fetch_seconds = std::chrono::duration<double>(std::exchange(fetching_, {})).count();
  batch.decode_seconds = std::chrono::duration<double>(std::exchange(decoding_, {})).count();
  const bool last = batch.failure.has_value();
  queue_.push(std::move(batch));
  if (last) stopping_ = true;
}

void KafkaBatchSource::look_for_partitions() {
  const auto deadline = Clock::now() + 5s;
  last_refresh_ = Clock::now();
  next_refresh_ = last_refresh_ + options_.refresh_every;
  kafka::Discovery found;
  std::vector<kafka::InputPartition> fresh, back;
  std::set<TopicPartition> lost;
  Offsets from;
  for (const auto& [id, start] : known_) {
    if (!gone_.contains(id)) lost.insert(id);
  }
  try {
    found = input_.discover(deadline);
    kafka::must_not_be_gone(found.absent, known_);
    for (const kafka::InputPartition& partition : found.partitions) {
      lost.erase(partition.id);
      if (!known_.contains(partition.id)) fresh.push_back(partition);
      if (gone_.contains(partition.id)) back.push_back(partition);
    }
    for (const kafka::InputPartition& partition : fresh) from.emplace(partition.id, input_.low(partition.id, deadline));
  } catch (const kafka::Unreachable&) {
    return;  // the next refresh tries again
  }
  if (!lost.empty() && !assembler_.empty()) hand_over();  // from the next batch on, they do not hold the watermark
  for (const TopicPartition& partition : lost) leave(partition);
  for (const kafka::InputPartition& partition : back) take_back(partition);
  if (!fresh.empty()) take_up(fresh, from);
  topics_.note(found.absent, last_refresh_);
  count_missing();
}

void KafkaBatchSource::count_missing() { missing_.store(gone_.size() + topics_.count(), std::memory_order_relaxed); }

/// Partitions that appear while the service runs are read from their first record, whatever the start policy says, because
/// nothing in them is old. A batch names their start before they are read. So the marks alone say which of their records were
/// read.
void KafkaBatchSource::take_up(const std::vector<kafka::InputPartition>& fresh, const Offsets& from) {
  for (const kafka::InputPartition& partition : fresh) {
    const std::int64_t next = from.at(partition.id);
    open(partition, next);
    known_.emplace(partition.id, next);
  }
  hand_over();
  input_.add(fresh, from);
}

void KafkaBatchSource::open(const kafka::InputPartition& partition, std::int64_t next) {
  const auto time = times_.find(partition.id);
  assembler_.open(partition.id, next, options_.topics[partition.topics], Clock::now(),
                  time == times_.end() ? std::nullopt : time->second.largest);
}

void KafkaBatchSource::leave(const TopicPartition& partition) {
  gone_.insert(partition);
  const std::optional<std::uint32_t> index = index_of(partition);
  if (index) {
    input_.leave(*index);
    assembler_.leave(*index);
  }
  journal_.tell(Level::error, "input_partition_gone",
                {{"partition", to_string(partition)},
                 {"next_offset", std::to_string(index ? input_.seen(*index) : known_.at(partition))},
                 {"effect", "it is not read until it is back; the other partitions are"},
                 {"remedy", "restore the topic; do not create another one of its name"}});
}

void KafkaBatchSource::take_back(const kafka::InputPartition& partition) {
  gone_.erase(partition.id);
  const std::optional<std::uint32_t> index = index_of(partition.id);
  const std::int64_t next = index ? input_.seen(*index) : known_.at(partition.id);
  journal_.tell(Level::warn, "input_partition_back",
                {{"partition", to_string(partition.id)}, {"next_offset", std::to_string(next)}});
  if (index) {
    input_.resume(*index);
    assembler_.resume(*index, Clock::now());
  } else {
    open(partition, next);
    input_.add({partition}, {{partition.id, next}});
  }
}

/// The index of a partition in the input, or nothing if it was missing since the start.
std::optional<std::uint32_t> KafkaBatchSource::index_of(const TopicPartition& partition) const {
  const auto& all = input_.partitions();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.id == partition; });
  if (at == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - all.begin());
}

}  // namespace deltamatch::ingest
