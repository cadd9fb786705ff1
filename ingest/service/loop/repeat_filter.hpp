// Keeps a log readable while the same thing fails again and again.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// The part of a value that counts when events are compared. Durations in ms do not count. Of librdkafka's messages, neither
/// the thread at the beginning counts, nor how many like it were left out.
[[nodiscard]] std::string compared(std::string_view value);

/// Decides which warnings and errors are repeats that a log leaves out. A repeat has the level, the event and the fields of one
/// that was told before; the fields `try`, `next_try_ms` and `example` do not count. The first is told at once, the next one 10
/// s later at the earliest. Each wait is twice as long as the one before, up to 10 minutes. What has not come for a minute is
/// forgotten, so it is news when it comes again. Other levels are always told. Up to 256 different events are remembered; what
/// is beyond them is told. Not thread-safe.
class RepeatFilter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How many were left out since this event was last told, or nothing if it is itself to be left out.
  [[nodiscard]] std::optional<std::size_t> told(Level level, std::string_view event, std::initializer_list<Field> fields,
                                                Time now);

  /// An event of which some were left out since it was last told, with its fields as they were told first.
  struct Rest {
    std::string event;
    std::vector<std::pair<std::string, std::string>> fields;
    std::size_t left_out = 0;
  };
  /// Forgets what has not come for a minute. Returns those of which some were left out.
  [[nodiscard]] std::vector<Rest> forget(Time now);
  /// Forgets everything, likewise.
  [[nodiscard]] std::vector<Rest> forget_all();

 private:
  struct Seen {
    Rest rest;
    Time latest;
    Time next;
    std::chrono::steady_clock::duration wait;
  };
  std::map<std::string, Seen> seen_;  // by all that is compared
};

}  // namespace deltamatch::ingest
