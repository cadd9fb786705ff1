// Identifies a committed batch of the service: its number, its end in every partition, and the queries that were standing. The
// log, snapshots and commit records in Kafka all contain it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/digest.hpp"
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

/// For each partition, the offset of the next record to read.
using Offsets = std::map<TopicPartition, std::int64_t>;

/// What a partition contributes to the watermark.
struct PartitionTime {
  std::optional<Timestamp> largest;  ///< that was seen there
  bool idle = false;                 ///< it does not hold the watermark
  friend bool operator==(const PartitionTime&, const PartitionTime&) = default;
};

/// A standing query: its name and the fingerprint of its definition (query_fingerprint).
struct ActiveQuery {
  std::string name;
  std::string fingerprint;
  friend auto operator<=>(const ActiveQuery&, const ActiveQuery&) = default;
};

/// A query that was suspended because a batch would have exceeded its budget.
struct SuspendedQuery {
  std::string name;
  std::string fingerprint;
  std::uint64_t batch = 0;                 ///< the batch in which it exceeded its budget
  Shortfall shortfall = Shortfall::limit;  ///< limit: too many matches; timeout: too much time
  friend auto operator<=>(const SuspendedQuery&, const SuspendedQuery&) = default;
};

/// What determines the graph, besides the records. It is the same in all instances of an application.
struct GraphIdentity {
  bool directed = true;
  Timestamp window = 0;    ///< microseconds; 0 if none
  std::string start;       ///< the graph before the first batch (start_fingerprint)
  std::string edges{};     ///< the model of edges and their attributes, as text; empty for simple edges
  std::string vertices{};  ///< the attributes of vertices; empty if there are none
  Timestamp lateness = 0;  ///< EngineOptions::allowed_lateness
  std::string shard{};     ///< which part of the input it is made of, "0 of 4" (shard_text); empty if of all
  friend bool operator==(const GraphIdentity&, const GraphIdentity&) = default;
};

/// The formats, messages and names of functions call it a mark (docs/reference/formats.md).
struct CommitPoint {
  std::uint64_t batch = 0;  ///< 0: before the first batch
  Offsets ends;             ///< records before these offsets belong to this batch or an earlier one
  std::optional<Timestamp> watermark;
  std::vector<ActiveQuery> queries;         ///< those standing after the batch, by name
  std::string reading;                      ///< how its records were read (reading_fingerprint); empty if unknown
  std::optional<GraphIdentity> graph;       ///< nothing if unknown
  std::vector<SuspendedQuery> suspended{};  ///< by name; not among `queries`
  /// The largest time in each partition after the batch, and whether it was idle before. Empty for a graph of simple edges.
  std::map<TopicPartition, PartitionTime> times{};
  Timestamp retention = 0;                ///< Engine::retention in the batch
  bool watches_vertices = false;          ///< Engine::watches_vertices in the batch
  std::optional<RunningDigest> digest{};  ///< Engine::digest after the batch; nothing if unknown, as in batch 0
  std::vector<std::string> over_http{};   ///< names of the queries that were made over HTTP, suspended ones too; ascending
  friend bool operator==(const CommitPoint&, const CommitPoint&) = default;
};

/// Whether a mark can hold the name. It must be UTF-8.
[[nodiscard]] bool is_name(std::string_view name);

/// Returns the mark as one line of JSON.
///   {"v":1,"batch":17,"time":1700000000000000,"ends":{"payments":{"0":1200,"1":1187}},"queries":{"ring":"<32 hex digits>"},
///   "reading":"<32 hex digits>","graph":{"directed":true,"window":86400000000,"start":"<32 hex digits>"},
///   "suspended":{"hub":{"fingerprint":"<32 hex digits>","batch":16,"over":"limit"}}}
/// `reading` and `graph` are present only if known, `suspended` only if there are any. So is "watches_vertices":true, and
/// "digest":{"begin":"<32 hex digits>","now":"<32 hex digits>"}, and "over_http":["ring"]. A graph whose edges are not simple
/// also has "times":{"payments":{"0":1700000000000000,"1":null}},"idle":{"payments":[1]},"retention":86400000000. `time` is
/// null without a watermark. `graph` has "shard":"0 of 4" only if it is that of a shard. Topics, partitions and queries ascend,
/// so equal marks have equal bytes.
/// Throws Error(configuration) for a name that is not UTF-8.
[[nodiscard]] std::string to_json(const CommitPoint& mark);

/// Throws Error at `where` if the engine, after the mark's batch, has another digest than the mark. It can only tell if both
/// digests began alike.
void must_be_digest_of(const CommitPoint& mark, const RunningDigest& digest, std::string_view where, std::string_view remedy);

/// Reads the result of to_json. Throws Error at `where` for anything else.
[[nodiscard]] CommitPoint parse_mark(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
