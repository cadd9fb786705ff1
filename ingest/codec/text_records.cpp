#include "ingest/codec/text_records.hpp"

#include <fmt/format.h>

#include <iterator>

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

}  // namespace

void append_jsonl(std::string& out, const Update& update) {
  const bool vertex = is_vertex(update);
  const auto label = [&out](std::string_view name, std::string_view text) {
    out.append(",\"").append(name).append("\":");
    append_json_string(out, text);
  };
  out += inserts(update) ? "{" : R"({"op":"-",)";
  out += vertex ? R"("vertex":)" : R"("source":)";
  append_json_id(out, update.source);
  if (vertex) {
    if (update.source_label) label("label", *update.source_label);
  } else {
    out += R"(,"target":)";
    append_json_id(out, update.target);
    if (!update.label.empty()) label("label", update.label);
    if (update.source_label) label("source_label", *update.source_label);
    if (update.target_label) label("target_label", *update.target_label);
  }
  if (update.time) {
    out += R"(,"time":)";
    append_number(out, *update.time);
  }
  out += "}\n";
}

std::string_view append_tsv(std::string& out, const Update& update) {
  if (is_vertex(update)) return "a vertex";
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
