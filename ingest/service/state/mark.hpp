// What names a committed batch of the service: its number, where it ends in every partition, and what was standing then.
// The log, snapshots and the commit records in Kafka all carry it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

struct TopicPartition {
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
};

/// "topic[3]".
[[nodiscard]] std::string to_string(const TopicPartition& partition);

/// Per partition the offset of the next record to read.
using Offsets = std::map<TopicPartition, std::int64_t>;

/// A standing query, by its name and what it is (query_fingerprint).
struct ActiveQuery {
  std::string name;
  std::string fingerprint;
  friend auto operator<=>(const ActiveQuery&, const ActiveQuery&) = default;
};

/// A query that stands no more, since a batch would have taken more than its budget.
struct SuspendedQuery {
  std::string name;
  std::string fingerprint;
  std::uint64_t batch = 0;                 ///< in which it exceeded its budget
  Shortfall shortfall = Shortfall::limit;  ///< limit: of matches; timeout: of time
  friend auto operator<=>(const SuspendedQuery&, const SuspendedQuery&) = default;
};

/// What decides the graph beside the records: alike in all instances of an application.
struct GraphIdentity {
  bool directed = true;
  Timestamp window = 0;  ///< microseconds; 0: none
  std::string start;     ///< the graph before the first batch (start_fingerprint)
  friend bool operator==(const GraphIdentity&, const GraphIdentity&) = default;
};

struct Mark {
  std::uint64_t batch = 0;  ///< 0: before the first batch
  Offsets ends;             ///< what lies before belongs to this batch or an earlier one
  std::optional<Timestamp> watermark;
  std::vector<ActiveQuery> queries;         ///< standing after the batch, by name
  std::string reading;                      ///< how its records were read (reading_fingerprint); empty: it does not tell
  std::optional<GraphIdentity> graph;       ///< nothing: it does not tell
  std::vector<SuspendedQuery> suspended{};  ///< by name; not among `queries`
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// Whether a mark can hold the name: it is UTF-8.
[[nodiscard]] bool is_name(std::string_view name);

/// {"v":1,"batch":17,"time":1700000000000000,"ends":{"payments":{"0":1200,"1":1187}},"queries":{"ring":"<32 hex digits>"},
/// "reading":"<32 hex digits>","graph":{"directed":true,"window":86400000000,"start":"<32 hex digits>"},
/// "suspended":{"hub":{"fingerprint":"<32 hex digits>","batch":16,"over":"limit"}}}; `reading` and `graph` only if they are
/// known, `suspended` only if there are any. `time` is null where there is no watermark. Topics, partitions and queries in
/// ascending order: equal marks, equal bytes. Throws Error(configuration) for a name that is not UTF-8.
[[nodiscard]] std::string to_json(const Mark& mark);

/// Reads what to_json wrote. Throws Error at `where` for anything else.
[[nodiscard]] Mark parse_mark(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
