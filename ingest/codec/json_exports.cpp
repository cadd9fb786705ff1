#include "ingest/codec/json_exports.hpp"

#include <fmt/format.h>

#include <optional>

#include "ingest/codec/operation_columns.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

namespace dom = simdjson::dom;

std::optional<dom::element> member(dom::object object, std::string_view name) {
  dom::element found;
  if (object.at_key(name).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

std::string_view text_of(dom::object object, std::string_view name) {
  std::string_view text;
  const std::optional<dom::element> found = member(object, name);
  return found && found->get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

bool has_array(dom::object object, std::string_view name) {
  const std::optional<dom::element> found = member(object, name);
  return found && found->is_array();
}

bool has_object(dom::object object, std::string_view name) {
  const std::optional<dom::element> found = member(object, name);
  return found && found->is_object();
}

std::string command(std::string_view of, std::string_view program) {
  return fmt::format("; it is {}: `jq -c '{}'` makes a line of each edge", of, program);
}

/// An update is a deletion of the row before, which `old` holds in part, and an insertion.
constexpr std::string_view canal =
    ".type as $t | select(.data) | if $t == \"UPDATE\" then [.data, .old] | transpose[] | .[0] + .[1] + {op: \"DELETE\"}, "
    ".[0] + {op: \"INSERT\"} else .data[] + {op: $t} end";

/// The same with objects in place of arrays. Messages about a bootstrap that hold no row are left out.
constexpr std::string_view maxwell =
    ".type as $t | select($t | test(\"insert$|^update$|^delete$\")) | if $t == \"update\" then .data + .old + {op: "
    "\"delete\"}, "
    ".data + {op: \"insert\"} elif $t == \"delete\" then .data + {op: $t} else .data + {op: \"insert\"} end";

constexpr std::string_view wal2json_1 =
    ".change[] | (select(.oldkeys) | [.oldkeys | [.keynames, .keyvalues] | transpose[] | {(.[0]): .[1]}] | add + {op: "
    "\"delete\"}), (select(.columnnames) | [[.columnnames, .columnvalues] | transpose[] | {(.[0]): .[1]}] | add + {op: "
    "\"insert\"})";

constexpr std::string_view wal2json_2 =
    "(select(.identity) | [.identity[] | {(.name): .value}] | add + {op: \"delete\"}), (select(.columns) | [.columns[] | "
    "{(.name): .value}] | add + {op: \"insert\"})";

constexpr std::string_view apoc =
    "select(.type == \"relationship\") | {source: .start.id, target: .end.id, label: .label, source_label: .start.labels[0]?, "
    "target_label: .end.labels[0]?}";

}  // namespace

std::vector<std::string_view> operation_beside(dom::object row) {
  for (const auto [name, value] : row) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS && read_word(text)) return {name};
  }
  for (const auto [name, value] : row) {
    dom::object inner;
    if (!is_metadata(name) || value.get_object().get(inner) != simdjson::SUCCESS) continue;
    for (const auto [key, field] : inner) {
      std::string_view text;
      if (is_operation_in_metadata(key) && field.get_string().get(text) == simdjson::SUCCESS) return {name, key};
    }
  }
  return {};
}

std::string advice_on_export(dom::object row, bool configured) {
  const std::string_view type = text_of(row, "type");
  const std::string_view action = text_of(row, "action");
  const bool canal_type = type == "INSERT" || type == "UPDATE" || type == "DELETE";
  if (has_array(row, "data") && (member(row, "isDdl") || (canal_type && member(row, "table"))))
    return command("a message of Canal", canal);
  const bool maxwell_type = type == "insert" || type == "update" || type == "delete" || type.starts_with("bootstrap-");
  if (!configured && maxwell_type && has_object(row, "data") && member(row, "database") && member(row, "table"))
    return command("a message of Maxwell", maxwell);
  if (has_array(row, "change")) return command("a transaction of wal2json", wal2json_1);
  const bool transaction = action == "B" || action == "C" || action == "I" || action == "U" || action == "D";
  if (transaction && (has_array(row, "columns") || has_array(row, "identity") || action == "B" || action == "C"))
    return command("a message of wal2json", wal2json_2);
  if ((type == "node" && member(row, "id")) || (type == "relationship" && has_object(row, "start") && has_object(row, "end")))
    return command("an export of neo4j's APOC", apoc);
  dom::object data;
  const std::optional<dom::element> inner = member(row, "data");
  if (inner && inner->get_object().get(data) == simdjson::SUCCESS && member(data, "id") && !member(data, "source"))
    return "; if it is a vertex of Cytoscape, `jq -c 'select(.data.source)'` keeps the edges";
  return {};
}

}  // namespace deltamatch::ingest
