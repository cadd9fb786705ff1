#include "ingest/service/loop/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ingest/codec/formats.hpp"

namespace deltamatch::ingest {
namespace {

/// How far an event time is ahead of the record's time in Kafka, in milliseconds, rounded up. 0 if it is not ahead or the
/// record has no time. The clock is not used, so the result is the same if the record is read again.
std::int64_t milliseconds_ahead(Timestamp time, std::int64_t recorded) {
  Timestamp recorded_us = 0;
  Timestamp ahead = 0;
  if (recorded < 0 || __builtin_mul_overflow(recorded, 1000, &recorded_us) || time <= recorded_us) return 0;
  if (__builtin_sub_overflow(time, recorded_us, &ahead)) return std::numeric_limits<std::int64_t>::max();
  return ahead / 1000 + (ahead % 1000 != 0 ? 1 : 0);
}

/// What surrounds the record's value. An empty key is none.
MessageFrame frame_of(const InputRecord& record) noexcept {
  MessageFrame frame;
  if (!record.key.empty()) frame.key = record.key;
  frame.headers = record.headers;
  Timestamp time = 0;
  if (record.timestamp >= 0 && !__builtin_mul_overflow(record.timestamp, 1000, &time)) frame.time = time;
  return frame;
}

Position position_of(const InputRecord& record) noexcept {
  return {static_cast<std::uint64_t>(record.offset), static_cast<std::uint32_t>(record.part)};
}

}  // namespace

void UpdateRun::add(const Update& update, Position position) {
  updates.add(update);
  positions.push_back(position);
}

void UpdateRun::append(UpdateRun& other) {
  if (updates.empty()) {  // most batches have updates of one partition only; then nothing is copied
    std::swap(*this, other);
    return;
  }
  for (const Update& update : other.updates.updates()) updates.add(update);
  positions.insert(positions.end(), other.positions.begin(), other.positions.end());
  kept.append(other.kept);
}

void UpdateRun::clear() noexcept {
  updates.clear();
  positions.clear();
  kept.clear();
}

InputBatch InputBatch::split_off(std::size_t first, std::optional<Timestamp> reached) {
  InputBatch rest;
  for (const Update& update : updates.updates().subspan(first)) rest.updates.add(update);
  rest.positions.assign(positions.begin() + static_cast<std::ptrdiff_t>(first), positions.end());
  rest.kept = kept.from(first);
  rest.updates.set_watermark(updates.watermark());
  if (const auto steps = updates.steps()) {
    std::vector<WatermarkStep> earlier;
    std::vector<WatermarkStep> later;
    for (const WatermarkStep& step : *steps) {
      if (step.first < first)
        earlier.push_back(step);
      else
        later.push_back({step.first - first, step.time});
    }
    rest.updates.set_steps(std::move(later));
    updates.set_steps(std::move(earlier));
  }
  updates.set_watermark(reached);
  rest.parts = parts;
  rest.ends = ends;
  rest.times = times;
  rest.since = since;
  for (const Update& update : rest.updates.updates()) rest.records += update.continues ? 0 : 1;
  records -= std::min(records, rest.records);
  const auto behind = [&](const BadRecord& record) {
    return std::pair(record.at, record.offset) >= std::pair(partition(first), offset(first));
  };
  const auto moved = std::stable_partition(bad.begin(), bad.end(), [&](const BadRecord& record) { return !behind(record); });
  rest.bad.assign(std::make_move_iterator(moved), std::make_move_iterator(bad.end()));
  bad.erase(moved, bad.end());
  rest.failure = std::exchange(failure, std::nullopt);
  return rest;
}

Assembler::Assembler(const InputOptions& options, BatchLimits limits, std::size_t max_bytes, std::optional<Timestamp> watermark,
                     Timestamp window, bool stepwise, SchemaSource* schemas)
    : on_error_(options.on_error),
      max_record_(options.max_record),
      max_ahead_(options.max_ahead),
      limits_(limits),
      max_bytes_(max_bytes),
      watermarks_(options.idle_after, watermark),
      window_(window),
      stepwise_(stepwise),
      schemas_(schemas),
      id_doubts_({.prefix = {}, .in_configuration = true}) {
  id_doubts_.watch_ids();
}

std::size_t Assembler::open(const TopicPartition& partition, std::int64_t next, const InputTopics& topics,
                            Clock::time_point now, std::optional<Timestamp> largest) {
  CodecOptions reading = topics.codec;
  Doubts& doubts = doubts_.try_emplace(topics.name, OptionSpelling{.prefix = {}, .in_configuration = true}).first->second;
  reading.doubts = &doubts;
  reading.schemas = schemas_;
  const FormatTraits& traits = traits_of(topics.format);
  const bool watches_ids = !reading.ids && (traits.tells_kinds || traits.has_names_as_ids);
  std::unique_ptr<Codec> codec = make_message_codec(topics.format, reading);
  const auto number = static_cast<std::uint32_t>(parts_.size());
  const auto place = std::upper_bound(order_.begin(), order_.end(), partition,
                                      [&](const TopicPartition& at, std::uint32_t other) { return at < parts_[other].at; });
  order_.insert(place, number);
  parts_.push_back({partition, std::move(codec), &doubts, watches_ids, traits.has_names_as_ids, next, {}});
  held_.erase(partition);
  watermarks_.open(now, largest);
  if (stepwise_ && (!empty() || repeats_)) begun_.push_back({largest, false});
  auto names = std::make_shared<std::vector<TopicPartition>>();
  for (const Part& part : parts_) names->push_back(part.at);
  names_ = std::move(names);
  return number;
}

bool Assembler::full() const noexcept {
  return failure_ || bad_.size() >= max_listed || bytes_ >= max_bytes_ ||
         (limits_.max_updates != 0 && updates_ >= limits_.max_updates);
}

bool Assembler::add(const InputRecord& record, Clock::time_point now) {
  if (full()) return false;
  // If idle partitions let the watermark move far, that becomes a batch of its own. Otherwise it might expire edges of this
  // batch.
  if (empty() && too_far(watermarks_.at(now))) return false;
  Part& part = parts_[record.part];
  largest_.reset();
  const std::size_t updates = part.run.updates.size();
  if (!decode(part, record)) return false;
  if (stepwise_ && empty() && !std::exchange(repeats_, false)) begun_ = watermarks_.times(now);
  if (stepwise_) note_reached(static_cast<std::uint32_t>(record.part), updates);
  watermarks_.see(record.part, largest_, now);
  if (records_++ == 0) begin(now);
  bytes_ += record.key.size() + record.value.value_or("").size();
  if (!failure_) part.next = record.offset + 1;
  return true;
}

void Assembler::repeat(std::optional<Timestamp> watermark, const std::map<TopicPartition, PartitionTime>& times,
                       Clock::time_point now) {
  watermarks_.set(watermark);
  begun_ = watermarks_.times(now);
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const auto at = times.find(parts_[number].at);
    begun_[number].idle = at != times.end() && at->second.idle;
  }
  repeats_ = true;
}

/// Notes that the partition's largest time may have risen, or that it is no longer idle, with a record that has been decoded.
void Assembler::note_reached(std::uint32_t number, std::size_t updates) {
  std::vector<Reached>& reached = parts_[number].reached;
  const std::optional<Timestamp> before = reached.empty() ? begun_[number].largest : reached.back().largest;
  if (reached.empty() || largest_ > before) reached.push_back({updates, std::max(before, largest_)});
}

/// Goes through the records of the batch in their order. Returns how the watermark rises, and says in `batch` what the
/// partitions contributed. A record without a time ends no idleness. O(records + partitions).
std::vector<WatermarkStep> Assembler::take_steps(InputBatch& batch) {
  std::vector<WatermarkLevel> rest(order_.size() + 1);  // of the partitions from a place on, before the batch
  for (std::size_t i = order_.size(); i-- > 0;) rest[i] = WatermarkLevel::of(begun_[order_[i]]).with(rest[i + 1]);
  std::vector<WatermarkStep> steps;
  std::optional<Timestamp> running = watermarks_.current();
  const auto rise = [&](std::size_t first, const WatermarkLevel& level) {
    const std::optional<Timestamp> watermark = level.watermark();
    if (watermark <= running) return;
    running = watermark;
    if (!steps.empty() && steps.back().first == first)
      steps.back().time = *running;
    else
      steps.push_back({first, *running});
  };
  rise(0, rest[0]);
  WatermarkLevel done;
  std::size_t first = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Part& part = parts_[order_[i]];
    PartitionTime time = begun_[order_[i]];
    for (const Reached& reached : part.reached) {
      time = {reached.largest, time.idle && !reached.largest};
      rise(first + reached.updates, done.with(WatermarkLevel::of(time)).with(rest[i + 1]));
    }
    done = done.with(WatermarkLevel::of(time));
    first += part.run.updates.size();
    batch.times[part.at] = {time.largest, begun_[order_[i]].idle};
    part.reached.clear();
  }
  return steps;
}

void Assembler::at_end(std::span<const std::optional<IdleEvidence>> ends) {
  for (std::size_t part = 0; part < std::min(ends.size(), parts_.size()); ++part) watermarks_.at_end(part, ends[part]);
}

/// Whether a watermark exceeds what one batch may move it by.
bool Assembler::too_far(std::optional<Timestamp> watermark) const {
  const std::optional<Timestamp> before = watermarks_.current();
  if (limits_.max_span == 0 || watermark <= before) return false;
  Timestamp step = 0;
  return !before || __builtin_sub_overflow(*watermark, *before, &step) || step > limits_.max_span;
}

/// Starts a batch. The first record is taken, however far it moves the watermark. After it, the watermark is limited and the
/// set of idle partitions is fixed. So edges are settled before a watermark that expires them.
void Assembler::begin(Clock::time_point now) {
  since_ = now;
  if (limits_.max_span == 0) return;
  std::optional<Timestamp> bound = watermarks_.at(now);
  if (bound && __builtin_add_overflow(*bound, limits_.max_span, &*bound)) bound = std::numeric_limits<Timestamp>::max();
  watermarks_.limit(bound, now);
}

/// Returns false if the batch cannot take the record any more.
bool Assembler::decode(Part& part, const InputRecord& record) {
  if (record.value && record.value->size() > max_record_) {
    refuse(part, record, RejectReason::too_long,
           fmt::format("the record has {} bytes, more than the limit of {}", record.value->size(), max_record_));
    return true;
  }
  const Position position = position_of(record);
  part.doubts->at(position);
  const Decoded decoded = within_max_name(part.codec->decode_message(record.value, frame_of(record)));
  if (decoded.refused) {
    refuse(part, record, *decoded.refused, decoded.message);
    return true;
  }
  const std::optional<Timestamp> largest = largest_time(decoded.updates);
  if (const std::int64_t ahead = largest ? milliseconds_ahead(*largest, record.timestamp) : 0;
      max_ahead_.count() != 0 && ahead > max_ahead_.count()) {
    refuse(
        part, record, RejectReason::bad_time,
        fmt::format("its time lies {} ms ahead of the record's timestamp in Kafka, more than input.max_ahead, which is {} ms",
                    ahead, max_ahead_.count()));
    return true;
  }
  largest_ = largest;
  if (limits_.max_span != 0 && !empty() && watermarks_.passes(record.part, largest_)) return false;
  take(part, record, decoded.updates);
  if (!part.watches_ids) return true;
  id_doubts_.at(position);
  for (const Update& update : decoded.updates) id_doubts_.see_ids(update, part.spells_ids);
  return true;
}

void Assembler::take(Part& part, const InputRecord& record, std::span<const Update> updates) {
  for (const Update& update : updates) {
    part.run.add(update, position_of(record));
    if (on_error_ != OnError::dead_letter) continue;
    if (update.continues)
      part.run.kept.repeat();
    else
      part.run.kept.add(record.key, record.value.value_or(""));
  }
  updates_ += updates.size();
}

void Assembler::refuse(Part& part, const InputRecord& record, RejectReason reason, std::string_view message) {
  const std::string_view value = record.value.value_or("");
  ++refused_[static_cast<std::size_t>(reason)];
  if (!first_refused_) {
    first_refused_ = BadRecord{part.at, record.offset, reason, std::string(message), {}, {}, value.size()};
  }
  if (on_error_ == OnError::skip) return;
  BadRecord bad{part.at,     record.offset, reason, std::string(message), std::string(record.key), std::string(value),
                value.size()};
  if (on_error_ == OnError::fail)
    failure_ = std::move(bad);
  else
    bad_.push_back(std::move(bad));
}

void Assembler::report_doubts(InputBatch& batch) {
  batch.warnings.clear();
  const auto tell = [&](Doubts& doubts) {
    for (Doubts::Doubt& doubt : doubts.fresh(window_)) {
      batch.warnings.push_back({std::move(doubt.code),
                                fmt::format("{} at offset {}", to_string(parts_[doubt.at.part].at), doubt.at.number),
                                std::move(doubt.what), std::move(doubt.remedy), doubt.count});
    }
  };
  for (auto& [name, doubts] : doubts_) tell(doubts);
  tell(id_doubts_);
}

bool Assembler::watermark_moves(Clock::time_point now) const { return watermarks_.at(now) != watermarks_.current(); }

void Assembler::cut(InputBatch& batch, Clock::time_point now) {
  batch.clear();
  batch.parts = names_;
  batch.ends = held_;
  batch.times.clear();
  std::optional<std::vector<WatermarkStep>> steps;
  if (stepwise_) {
    if (empty() && !repeats_) begun_ = watermarks_.times(now);
    repeats_ = false;
    steps = take_steps(batch);
  }
  for (const std::uint32_t number : order_) {
    Part& part = parts_[number];
    if (!part.run.updates.empty()) batch.append(part.run);
    part.run.clear();
    batch.ends.emplace(part.at, part.next);
  }
  const std::optional<Timestamp> before = watermarks_.current();
  std::optional<Timestamp> watermark = watermarks_.at(empty() ? now : since_);
  if (steps && window_ == 0) watermark = steps->empty() ? before : std::optional(steps->back().time);
  watermarks_.set(watermark);
  batch.updates.set_watermark(watermark);
  if (steps) {
    for (WatermarkStep& step : *steps) step.time = std::min(step.time, watermark.value_or(step.time));
    batch.updates.set_steps(std::move(*steps));
  }
  batch.records = records_;
  batch.since = since_;
  batch.bad = std::exchange(bad_, {});
  batch.refused = std::exchange(refused_, {});
  batch.first_refused = std::exchange(first_refused_, std::nullopt);
  batch.failure = std::exchange(failure_, std::nullopt);
  report_doubts(batch);
  updates_ = bytes_ = 0;
  records_ = 0;
}

}  // namespace deltamatch::ingest
