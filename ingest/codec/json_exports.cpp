#include "ingest/codec/json_exports.hpp"

#include <fmt/format.h>

#include <optional>

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

std::string_view operation_beside(dom::object row) {
  for (const auto [name, value] : row) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS && read_word(text)) return name;
  }
  return {};
}

std::string advice_on_export(dom::object row) {
  const std::string_view type = text_of(row, "type");
  const std::string_view action = text_of(row, "action");
  const bool canal_type = type == "INSERT" || type == "UPDATE" || type == "DELETE";
  if (has_array(row, "data") && (member(row, "isDdl") || (canal_type && member(row, "table"))))
    return command("a message of Canal", canal);
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
