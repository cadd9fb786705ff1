// How far the alerts of a batch are published that takes several transactions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// Stands in the commit topic in place of the batch's commit record, in each of the batch's transactions but the last.
struct BatchProgress {
  Mark mark;                                       ///< what the commit record will be
  std::map<std::string, std::uint64_t> published;  ///< by sink in Kafka: so many of its alerts that bear an id, the first ones
  friend bool operator==(const BatchProgress&, const BatchProgress&) = default;
};

/// {"v":1,"published":{"alerts":250000},"mark":{…}}, the mark as to_json(Mark) has it.
[[nodiscard]] std::string to_json(const BatchProgress& progress);

/// Nothing if it is no record of progress. Throws Error at `where` for one that is broken.
[[nodiscard]] std::optional<BatchProgress> parse_progress(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
