// Records of other programs that hold no edge as it is read, and the command that makes edges of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/json_value.hpp"

namespace deltamatch::ingest {

/// Continues the fault in a message, behind a semicolon, if the record is of Canal, Maxwell, wal2json, APOC (neo4j) or
/// Cytoscape. Empty if it is none of them. `configured`: for a service, which reads records of Maxwell without a command.
[[nodiscard]] std::string advice_on_export(simdjson::dom::object row, bool configured);

/// The name of a field of the record whose text is a word for an operation. If it stands in an object such as `metadata`, the
/// name of that object comes first. Empty if there is none.
[[nodiscard]] std::vector<std::string_view> operation_beside(simdjson::dom::object row);

}  // namespace deltamatch::ingest
