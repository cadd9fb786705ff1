// How far the alerts of a batch are published, if they need several transactions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// Written to the commit topic by each of the batch's transactions except the last, which writes the commit record.
struct BatchProgress {
  CommitPoint mark;                                ///< the future commit record
  std::map<std::string, std::uint64_t> published;  ///< for each sink in Kafka, how many of its alerts with an id; the first
                                                   ///< ones
  std::vector<std::string> queries;                ///< names of those that stood, in the order of their alerts
  friend bool operator==(const BatchProgress&, const BatchProgress&) = default;
};

/// Returns {"v":1,"published":{"alerts":250000},"queries":["ring"],"mark":{…}}. The mark has the form of to_json(CommitPoint).
[[nodiscard]] std::string to_json(const BatchProgress& progress);

/// Returns nothing if the text is no progress record. Throws Error at `where` for a damaged one.
[[nodiscard]] std::optional<BatchProgress> parse_progress(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
