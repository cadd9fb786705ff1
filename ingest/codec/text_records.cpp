#include "ingest/codec/text_records.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "deltamatch/labels.hpp"
#include "deltamatch/value_text.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr Timestamp second = 1'000'000;

bool is_vertex(const Update& update) noexcept {
  return update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::delete_vertex;
}
bool inserts(const Update& update) noexcept {
  return update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::insert_edge;
}

/// Whether an id is read back from a text field as the same id.
bool survives_text(const Id& id) noexcept {
  if (!id.is_text()) return true;
  if (without_blanks(id.text()) != id.text()) return false;
  Id read;
  return parse_id(id.text(), IdKind::automatic, read) == IdFault::none && read == id;
}

void append_plain(std::string& out, const Id& id) {
  if (id.is_text())
    out += id.text();
  else
    append_number(out, id.number());
}

void append_time(std::string& out, const Update& update) {
  if (!update.time) return;
  out += R"(,"time":)";
  append_number(out, *update.time);
}

void append_value(std::string& out, const AttributeValue& value, const AttributeType& type) {
  if (std::holds_alternative<std::monostate>(value)) {
    out += "null";
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_json_string(out, *text);
  } else if (const auto* real = std::get_if<double>(&value)) {
    fmt::format_to(std::back_inserter(out), "{}", *real);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    out += *truth ? "true" : "false";
  } else if (type.kind == AttributeType::Kind::decimal) {
    append_json_string(out, decimal_text(std::get<std::int64_t>(value), type.scale));
  } else {
    append_number(out, std::get<std::int64_t>(value));
  }
}

void append_properties(std::string& out, const Properties& properties, const std::vector<Attribute>& declared) {
  if (properties.key) {
    out += R"(,"edge":)";
    append_json_id(out, *properties.key);
  }
  for (std::size_t i = 0; i < properties.attributes.size() && i < declared.size(); ++i) {
    out += ',';
    append_json_string(out, declared[i].name);
    out += ':';
    append_value(out, properties.attributes[i], declared[i].type);
  }
}

}  // namespace

void append_jsonl(std::string& out, const Update& update, const Schema& schema) {
  const bool vertex = is_vertex(update);
  const auto label = [&out](std::string_view name, std::string_view text) {
    out.append(",\"").append(name).append("\":");
    append_json_string(out, text);
  };
  const auto list = [&out](std::string_view name, std::string_view text) {
    out.append(",\"").append(name).append("\":[");
    for (const std::string_view each : split_labels(text)) {
      if (each.empty()) continue;
      if (out.back() != '[') out += ',';
      append_json_string(out, each);
    }
    out += ']';
  };
  const auto labels = [&](std::string_view name, std::string_view names, std::string_view text) {
    is_several_labels(text) ? list(names, text) : label(name, text);
  };
  out += inserts(update) ? "{" : R"({"op":"-",)";
  if (update.by_key) {
    out += R"("edge":)";
    append_json_id(out, update.key().value_or(Id()));
    append_time(out, update);
    out += "}\n";
    return;
  }
  out += vertex ? R"("vertex":)" : R"("source":)";
  append_json_id(out, update.source);
  if (vertex) {
    if (update.source_label) labels("label", "labels", *update.source_label);
    if (inserts(update) && !update.label.empty()) list("add_labels", update.label);
    if (inserts(update) && update.target_label) list("remove_labels", *update.target_label);
  } else {
    out += R"(,"target":)";
    append_json_id(out, update.target);
    if (!update.label.empty()) label("label", update.label);
    if (update.source_label) labels("source_label", "source_label", *update.source_label);
    if (update.target_label) labels("target_label", "target_label", *update.target_label);
  }
  append_time(out, update);
  if (update.properties != nullptr) append_properties(out, *update.properties, vertex ? schema.vertices : schema.edges);
  out += "}\n";
}

std::string_view append_tsv(std::string& out, const Update& update) {
  if (is_vertex(update)) return "a vertex";
  if (update.properties != nullptr && update.properties->key) return "the key of an edge";
  if (update.properties != nullptr && !update.properties->attributes.empty()) return "attributes";
  if (update.source_label || update.target_label) return "a vertex's label";
  if (!survives_text(update.source) || !survives_text(update.target)) return "an id that would be read as something else";
  if (update.label.find_first_of("\t\n") != std::string_view::npos) return "a label with a tab or a line end";
  if (without_blanks(update.label) != update.label) return "a label with blanks at its ends";
  out += inserts(update) ? "+\t" : "-\t";
  append_plain(out, update.source);
  out += '\t';
  append_plain(out, update.target);
  out += '\t';
  out += update.label;
  out += '\t';
  if (update.time) {
    const bool negative = *update.time < 0;
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(*update.time) : static_cast<std::uint64_t>(*update.time);
    fmt::format_to(std::back_inserter(out), "{}{}.{:06}", negative ? "-" : "", size / second, size % second);
  }
  out += '\n';
  return {};
}

}  // namespace deltamatch::ingest
