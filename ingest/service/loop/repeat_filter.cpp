#include "ingest/service/loop/repeat_filter.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::steady_clock::duration first_wait = 10s;
constexpr std::chrono::steady_clock::duration longest_wait = 10min;
constexpr std::chrono::steady_clock::duration forgotten_after = 1min;
constexpr std::size_t remembered_at_most = 256;

/// Different for events that differ in anything that is compared.
std::string key_of(Level level, std::string_view event, std::initializer_list<Field> fields) {
  std::string key = std::to_string(static_cast<int>(level));
  const auto append = [&](std::string_view text) {
    key += ' ';
    key += std::to_string(text.size());
    key += ' ';
    key += text;
  };
  append(event);
  for (const Field& field : fields) {
    if (field.key == "try" || field.key == "next_try_ms" || field.key == "example") continue;
    append(field.key);
    append(compared(field.value));
  }
  return key;
}

}  // namespace

std::string compared(std::string_view value) {
  static const RE2 thread(R"(^\[thrd:.*?\]: )");
  static const RE2 repeats(R"(, \d+ identical error\(s\) suppressed)");
  static const RE2 duration(R"(\b\d+ ?ms\b)");
  std::string text(value);
  RE2::Replace(&text, thread, "");
  RE2::GlobalReplace(&text, repeats, "");
  RE2::GlobalReplace(&text, duration, "ms");
  return text;
}

std::optional<std::size_t> RepeatFilter::told(Level level, std::string_view event, std::initializer_list<Field> fields,
                                              Time now) {
  if (level < Level::warn) return 0;
  std::string key = key_of(level, event, fields);
  const auto found = seen_.find(key);
  if (found == seen_.end()) {
    if (seen_.size() >= remembered_at_most) return 0;
    Seen seen{{std::string(event), {}, 0}, now, now + first_wait, first_wait};
    for (const Field& field : fields) seen.rest.fields.emplace_back(field.key, field.value);
    seen_.emplace(std::move(key), std::move(seen));
    return 0;
  }
  Seen& seen = found->second;
  seen.latest = now;
  if (now < seen.next) {
    ++seen.rest.left_out;
    return std::nullopt;
  }
  seen.wait = std::min(2 * seen.wait, longest_wait);
  seen.next = now + seen.wait;
  return std::exchange(seen.rest.left_out, 0);
}

std::vector<RepeatFilter::Rest> RepeatFilter::forget(Time now) {
  std::vector<Rest> rests;
  for (auto entry = seen_.begin(); entry != seen_.end();) {
    Seen& seen = entry->second;
    const bool forgotten = now - seen.latest >= forgotten_after;
    if (forgotten && seen.rest.left_out > 0) rests.push_back(std::move(seen.rest));
    entry = forgotten ? seen_.erase(entry) : std::next(entry);
  }
  return rests;
}

std::vector<RepeatFilter::Rest> RepeatFilter::forget_all() {
  std::vector<Rest> rests;
  for (auto& [key, seen] : seen_) {
    if (seen.rest.left_out > 0) rests.push_back(std::move(seen.rest));
  }
  seen_.clear();
  return rests;
}

}  // namespace deltamatch::ingest
