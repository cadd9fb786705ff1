#include "ingest/batch/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

// The search for later records skips at most this many comments and blank lines, which are no records.
constexpr std::size_t most_held = std::size_t{1} << 12;

constexpr Timestamp second = 1'000'000;
constexpr Timestamp since_1990 = 631'152'000 * second;
constexpr Timestamp until_2100 = 4'102'444'800 * second;
constexpr std::uint64_t century = std::uint64_t{36'525} * 86'400 * 1'000'000;
constexpr std::uint64_t far_longer = 10;  // times as long
constexpr std::size_t few = 4;            // one in this many

/// The distance of two times, which a Timestamp may not be able to hold.
constexpr std::uint64_t apart(Timestamp later, Timestamp earlier) noexcept {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

/// "2033-11-12T08:00:00Z". The number itself if no calendar has the time.
std::string date_of(Timestamp time) {
  constexpr Timestamp last_year = 253'402'300'800 * second;
  if (time < 0 || time >= last_year) return fmt::format("{} us", time);
  const std::chrono::sys_seconds at{std::chrono::seconds(time / second)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

}  // namespace

std::optional<Timestamp> largest_time(std::span<const Update> updates) noexcept {
  if (updates.size() == 1) return updates.front().time;
  std::optional<Timestamp> largest;
  for (const Update& update : updates) largest = std::max(largest, update.time);  // nothing is less than any time
  return largest;
}

/// Takes a record from the source. After stop() a record may be torn, and a failure may be a consequence of it. Both are
/// ignored.
bool RecordReader::take(Record& record) {
  try {
    return source_.next(record) && !stopped();
  } catch (...) {
    if (!stopped()) throw;
    return false;
  }
}

/// Reads one record from the source.
bool RecordReader::read(DecodedRecord& reading) {
  if (ended_ || !take(reading.record)) return false;
  const Record& record = reading.record;
  reading.updates = {};
  reading.refused.reset();
  reading.ahead = false;
  doubts_.at(record.position);
  if (record.fault == RecordFault::none) [[likely]] {
    const Decoded decoded = within_max_name(record.padded ? codec_.decode_padded(record.bytes) : codec_.decode(record.bytes));
    if (!decoded.remedy.empty()) throw Error(source_.where(record.position), decoded.message, decoded.remedy);
    reading.refused = decoded.refused;
    reading.message = decoded.message;
    reading.updates = decoded.updates;
  } else {
    const bool too_long = record.fault == RecordFault::too_long;
    reading.refused = too_long ? RejectReason::too_long : RejectReason::malformed;
    message_ = too_long ? fmt::format("the record has {} bytes, more than the limit", record.length)
                        : std::string("a quoted field does not end");
    reading.message = message_;
  }
  for (const Update& update : reading.updates) {
    if (update.kind == UpdateKind::insert_edge) doubts_.edge_with_time(update.time.has_value());
    doubts_.see_update(update);
  }
  if (doubts_.watches_ids()) {
    for (const Update& update : reading.updates) doubts_.see_ids(update);
  }
  return true;
}

void RecordReader::hold(const DecodedRecord& reading) {
  Held& held = held_.emplace_back();
  held.bytes = reading.record.bytes;
  held.message = reading.message;
  for (const Update& update : reading.updates) held.updates.add(update);
  held.time = reading.time();
  held.reading = reading;
  held.reading.record.bytes = held.bytes;
  held.reading.record.padded = false;
  held.reading.message = held.message;
  held.reading.updates = held.updates.updates();
}

/// Returns false at the end of the input. The end may be a failure, which is thrown after all records have been given.
bool RecordReader::read_in_advance() {
  if (ended_) return false;
  DecodedRecord reading;
  try {
    ended_ = !read(reading);
  } catch (...) {
    failure_ = std::current_exception();
    ended_ = true;
  }
  if (ended_) return false;
  hold(reading);
  ended_ = stops_ && reading.refused;
  return true;
}

bool RecordReader::far_above(Timestamp time, Timestamp other) const noexcept {
  Timestamp lead = 0;
  if (__builtin_sub_overflow(time, other, &lead)) return time > other;
  return lead > *max_ahead_;
}

void RecordReader::pass(Timestamp time) noexcept {
  steps_[passed_ % ring] = passed_ != 0 && time > watermark_ ? apart(time, watermark_) : 0;
  if (passed_ == 0 || time > watermark_) {
    watermark_ = time;
    if (__builtin_add_overflow(time, *max_ahead_, &calm_)) calm_ = std::numeric_limits<Timestamp>::max();
  }
  last_[passed_++ % ring] = time;
}

/// Whether a step is so much greater than all before that one later record is not enough to confirm it.
bool RecordReader::is_unlike_others(Timestamp time) const noexcept {
  if (passed_ < 2) return time >= until_2100;  // the first times have none before them
  std::uint64_t longest = 0;
  for (std::size_t back = 1; back <= std::min(passed_, horizon); ++back)
    longest = std::max(longest, steps_[(passed_ - back) % ring]);
  return apart(time, watermark_) / far_longer > longest;
}

/// Whether the first record held lies far ahead of the records after it.
bool RecordReader::is_ahead() {
  const Timestamp time = *held_.front().time;
  const bool unlike = is_unlike_others(time);
  std::vector<Timestamp> following;
  std::size_t near = 0;  // how many of them confirm it
  std::size_t records = 0;
  for (std::size_t i = 1; i < most_held; ++i) {
    if (i == held_.size() && !read_in_advance()) return is_ahead_at_the_end(time, std::move(following), near);
    const Held& next = held_[i];
    if (next.time) {
      following.push_back(*next.time);
      if (!far_above(time, *next.time)) ++near;
      if (near > (unlike ? horizon / 2 : 0)) return false;
    }
    if (next.reading.updates.empty() && !next.reading.refused) continue;  // no record
    if (++records == horizon) break;
  }
  if (near == 0) return !following.empty();
  const bool few_are_near = few * near < following.size();
  return 2 * near < following.size() && lead(time, following) > (few_are_near ? 0 : century);
}

/// The same, if fewer than `horizon` records follow.
bool RecordReader::is_ahead_at_the_end(Timestamp time, std::vector<Timestamp> following, std::size_t near) const {
  const bool few_are_near = few * near < following.size();
  std::vector<Timestamp>& rest = following;
  for (std::size_t back = 1; back <= std::min(passed_, horizon) && rest.size() < horizon; ++back) {
    rest.push_back(last_[(passed_ - back) % ring]);
  }
  if (rest.size() < 2) return false;
  if (near != 0) {
    const std::uint64_t leads_by = 2 * near < rest.size() ? lead(time, rest) : 0;
    return leads_by > (few_are_near ? 0 : century);
  }
  std::ranges::sort(rest);
  if (!far_above(time, rest.back())) return false;
  std::uint64_t widest = 0;
  for (std::size_t i = 1; i < rest.size(); ++i) widest = std::max(widest, apart(rest[i], rest[i - 1]));
  return apart(time, rest.back()) > widest;
}

/// How far a time lies above the bulk, which is more than half of `rest`. Other times may be wrong with it. 0 if it does not
/// stand out. It stands out above a gap longer than max_ahead, and longer than the bulk reaches above the median. Sorts `rest`.
std::uint64_t RecordReader::lead(Timestamp time, std::vector<Timestamp>& rest) const {
  std::ranges::sort(rest);
  const std::size_t middle = (rest.size() - 1) / 2;
  const Timestamp median = rest[middle];
  if (median < since_1990 && time >= since_1990 && time < until_2100) return 0;  // the bulk has no real times
  for (std::size_t i = middle; i < rest.size() && rest[i] < time; ++i) {
    const Timestamp above = i + 1 < rest.size() ? std::min(rest[i + 1], time) : time;
    const std::uint64_t gap = apart(above, rest[i]);
    if (far_above(above, rest[i]) && gap > apart(rest[i], median)) return gap;
  }
  return 0;
}

void RecordReader::report_ahead(const Held& held) {
  if (doubts_.again("time_ahead")) return;
  // The least limit that lets this time pass. If it is years, the time is wrong.
  constexpr std::uint64_t day = 86'400'000'000;
  constexpr std::uint64_t most_days = 3650;
  std::uint64_t gap = passed_ != 0 && watermark_ < *held.time ? apart(*held.time, watermark_) : 0;
  for (const Held& other : held_) {
    if (other.time && *other.time < *held.time) gap = std::max(gap, apart(*held.time, *other.time));
  }
  const std::uint64_t days = gap / day + 1;
  const std::string limit =
      days > most_days ? std::string() : doubts_.spelling().common("max-ahead", fmt::format("{}d", days)) + ", or ";
  doubts_.report_at(held.reading.record.position, "time_ahead",
                    fmt::format("the time {} lies far ahead of the rest, so it does not move the watermark; the edge is kept",
                                date_of(*held.time)),
                    fmt::format("correct the time, or set how far a time may lie ahead: {}{} for no limit", limit,
                                doubts_.spelling().common("max-ahead", "none")));
}

bool RecordReader::next(DecodedRecord& reading) {
  if (given_) held_.pop_front();
  given_ = false;
  if (held_.empty()) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (!read(reading)) return false;
    if (!max_ahead_) return true;
    const std::optional<Timestamp> time = reading.time();
    if (!leaps(time)) [[likely]] {
      if (time) pass(*time);
      return true;
    }
    hold(reading);
  }
  Held& first = held_.front();
  if (leaps(first.time) && is_ahead()) {
    first.reading.ahead = true;
    report_ahead(first);
  } else if (first.time) {
    pass(*first.time);
  }
  reading = first.reading;
  given_ = true;
  return true;
}

}  // namespace deltamatch::ingest
