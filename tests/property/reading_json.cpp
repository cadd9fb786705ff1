// Forms of JSON: rows, arrays, change events.
#include <algorithm>
#include <utility>

#include "ingest/text/json_text.hpp"
#include "property/reading_draw.hpp"

namespace deltamatch::property {
namespace {

using ingest::Format;

using Fields = std::vector<std::pair<std::string, std::string>>;  // names and values, as JSON

const Range rows{.letters = "ab Z0,;\t\"\\{}[]:\n\xc3\xa9", .vertices = true, .end_labels = true};

std::string string_of(std::string_view text) {
  std::string out;
  // Sometimes uses escapes that are not needed.
  if (!coin(4)) {
    ingest::append_json_string(out, text);
    return out;
  }
  out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80)
      out += c;
    else
      out += fmt::format("\\u{:04x}", byte);
  }
  return out + '"';
}

std::string id_of(const std::string& id, bool text) { return text ? string_of(id) : id; }

/// The names of the fields of a stream's rows.
struct Names {
  std::string source = "source";
  std::string target = "target";
  std::string vertex = "vertex";
  std::string label = "label";
  std::string time = "time";
  std::string operation;  // "": none; else a usual one
};

Fields fields_of(const Fact& fact, const Names& names) {
  Fields fields;
  if (fact.vertex) {
    fields.emplace_back(names.vertex, id_of(fact.source, fact.source_text));
  } else {
    fields.emplace_back(names.source, id_of(fact.source, fact.source_text));
    fields.emplace_back(names.target, id_of(fact.target, fact.target_text));
  }
  if (!fact.label.empty()) fields.emplace_back(names.label, string_of(fact.label));
  if (fact.source_label) fields.emplace_back("source_label", string_of(*fact.source_label));
  if (fact.target_label) fields.emplace_back("target_label", string_of(*fact.target_label));
  if (fact.time) fields.emplace_back(names.time, std::to_string(*fact.time));
  if (names.operation == "__deleted") {
    if (!fact.inserts || coin())
      fields.emplace_back("__deleted", coin() ? std::string(fact.inserts ? "false" : "true") : string_of(flag(fact.inserts)));
  } else if (!names.operation.empty()) {
    if (!fact.inserts || coin()) fields.emplace_back(names.operation, string_of(operation(fact.inserts)));
  }
  if (coin(3)) fields.emplace_back("other", pick({"null", "[1,{\"source\":2}]", "\"x\\\"\"", "-1.5e3", "{\"target\":[]}"}));
  shuffle(fields);
  return fields;
}

/// An object. With `indent`, it has many lines.
std::string object(const Fields& fields, bool indent) {
  std::string out = indent ? "{\n" : "{";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out += (indent ? "  " : blanks(0)) + string_of(fields[i].first) + blanks(0) + ":" + blanks(0) + fields[i].second;
    if (i + 1 < fields.size()) out += ',';
    if (indent) out += '\n';
  }
  return out + '}';
}

Names draw_names() {
  Names names;
  names.source = pick({"source", "SRC", "from"});
  names.target = pick({"target", "dst", "To"});
  names.vertex = pick({"vertex", "Node"});
  names.label = pick({"label", "type", "Rel"});
  names.time = pick({"time", "timestamp", "TS"});
  names.operation = pick({"op", "Op", "sign", "__op", "__deleted", "_change_type"});
  return names;
}

/// A row, or a row whose ends are nested.
std::string row_of(const Fact& fact, const Names& names, bool nested) {
  if (!nested || fact.vertex) return object(fields_of(fact, names), false);
  Fields fields = fields_of(fact, names);
  std::string source;
  std::string target;
  std::erase_if(fields, [&](const auto& field) {
    if (field.first == names.source) source = field.second;
    if (field.first == names.target) target = field.second;
    return field.first == names.source || field.first == names.target;
  });
  fields.emplace_back("ends", fmt::format(R"([null,{{"id":{}}},[{}]])", source, target));
  return object(fields, false);
}

}  // namespace

Written draw_json_rows(bool messages) {
  Written written;
  written.format = Format::jsonl;
  const bool nested = coin(3);
  const Names names = draw_names();
  if (nested) written.codec.columns = "source=ends.1.id,target=ends.2.0";
  std::vector<Fact> facts = draw_facts(rows);
  for (std::size_t at = 0; at < facts.size();) {
    // The first line states one record, since a file of one array is another form.
    const std::size_t count =
        at == 0 || !coin(3) ? 1 : std::min<std::size_t>(facts.size() - at, 1 + static_cast<std::size_t>(*below(3)));
    const bool array = at != 0 && (count > 1 || coin(6));
    Written::Record record;
    record.bytes = array ? "[" : "";
    for (std::size_t i = 0; i < count; ++i, ++at) {
      record.bytes += (i == 0 ? "" : ",") + row_of(facts[at], names, nested);
      record.updates.push_back(facts[at].told());
    }
    record.bytes += (array ? "]" : "") + (messages && coin() ? std::string() : line_end());
    written.records.push_back(std::move(record));
  }
  return written;
}

Written draw_json_array() {
  Written written;
  written.format = Format::jsonl;
  const Names names = draw_names();
  const bool indent = coin();
  written.head = pick({"[", "[\n", " [\n\n", "[ "});
  const std::vector<Fact> facts = draw_facts(rows);
  for (std::size_t at = 0; at < facts.size(); ++at) {
    const std::string after = at + 1 < facts.size() ? pick({",", ",\n", "\n,", " ,\r\n "}) : pick({"", "\n"});
    written.records.push_back({object(fields_of(facts[at], names), indent) + after, {facts[at].told()}});
  }
  written.tail = pick({"]", "]\n", "\n]\n\n"});
  return written;
}

Written draw_json_objects() {
  Written written;
  written.format = Format::jsonl;
  const Names names = draw_names();
  for (const Fact& fact : draw_facts(rows)) {
    const bool first = written.records.empty();
    written.records.push_back({object(fields_of(fact, names), first || coin()) + "\n", {fact.told()}});
  }
  return written;
}

Written draw_change_events(bool messages) {
  Written written;
  written.format = Format::jsonl;
  written.codec.envelope = ingest::Envelope::debezium;
  const Names names;
  Range range = rows;
  range.deletes = false;
  range.vertices = false;
  for (Fact after : draw_facts(range)) {
    Fact before = draw_fact(range);
    const std::string op = pick({"c", "r", "d", "u"});
    Fields event{{"op", string_of(op)}, {"ts_ms", "17"}, {"source", R"({"table":"t","op":"x"})"}};
    if (op == "d" || op == "u") event.emplace_back("before", object(fields_of(before, names), false));
    if (op != "d") event.emplace_back("after", object(fields_of(after, names), false));
    if (op != "d" && op != "u" && coin()) event.emplace_back("before", "null");
    shuffle(event);
    std::string bytes = object(event, false);
    if (coin()) bytes = R"({"schema":{"op":1},"payload":)" + bytes + "}";
    Written::Record record{bytes + (messages && coin() ? std::string() : line_end()), {}};
    if (op == "u" && before.told() != after.told()) {
      before.inserts = false;
      before.time = after.time;
      record.updates = {before.told(), after.told()};
    } else if (op == "d") {
      before.inserts = false;
      record.updates = {before.told()};
    } else if (op != "u") {
      record.updates = {after.told()};
    }
    written.records.push_back(std::move(record));
  }
  return written;
}

}  // namespace deltamatch::property
