// A change of a query that was made over HTTP, as the topic of such queries keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

struct QueryRecord {
  std::string name;
  std::uint64_t batch = 0;                ///< the batch in which the change takes effect; its mark is in the same transaction
  std::optional<std::string> definition;  ///< one JSON object (definition_of); nothing if the query was deleted
  friend bool operator==(const QueryRecord&, const QueryRecord&) = default;
};

/// {"v":1,"batch":17,"name":"ring","definition":{…}}. The definition is null for a query that was deleted.
[[nodiscard]] std::string to_json(const QueryRecord& record);

/// Reads the result of to_json. Returns nothing for what is no such record. Throws Error at `where` for one of another version,
/// or one that is damaged.
[[nodiscard]] std::optional<QueryRecord> parse_query_record(std::string_view json, std::string_view where);

/// The queries that are left after the changes, by name. `records` are in the order of the topic.
[[nodiscard]] std::map<std::string, QueryRecord> left_after(std::span<const QueryRecord> records);

}  // namespace deltamatch::ingest
