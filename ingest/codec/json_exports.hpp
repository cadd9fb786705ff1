// Records of other programs that hold no edge as it is read, and the command that makes edges of them.
#pragma once

#include <string>
#include <string_view>

#include "ingest/codec/json_value.hpp"

namespace deltamatch::ingest {

/// Continues the fault in a message, behind a semicolon, if the record is of Canal, wal2json, APOC (neo4j) or Cytoscape.
/// Empty if it is none of them.
[[nodiscard]] std::string advice_on_export(simdjson::dom::object row);

/// The name of a field of the record whose text is a word for an operation. Empty if there is none.
[[nodiscard]] std::string_view operation_beside(simdjson::dom::object row);

}  // namespace deltamatch::ingest
