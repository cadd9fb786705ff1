// Forms of fields and lines.
#include <algorithm>

#include "ingest/codec/binary.hpp"
#include "property/reading_draw.hpp"

namespace deltamatch::property {
namespace {

using ingest::Format;
using ingest::IdKind;

constexpr std::string_view plain = "abcXYZ019_-.:/#\xc3\xa9";
constexpr std::string_view spaced = "ab Z0'\"(){}";
constexpr std::string_view anything = "ab Z0,;\t\"'|";

/// Lines between records that mean nothing.
std::string nothing(std::initializer_list<std::string_view> comments) {
  return coin(6) ? (coin() ? pick(comments) : "") + line_end() : "";
}

/// The fields of a record of snap or tsv, by their number or as `columns` says.
std::vector<std::string> plain_fields(const Fact& fact, int arity) {
  std::vector<std::string> fields{fact.source, fact.target};
  if (arity == 4) fields.push_back(fact.label);
  if (arity >= 3) fields.push_back(fact.time ? seconds(*fact.time) : "");
  return fields;
}

std::string joined(const std::vector<std::string>& fields, const std::function<std::string()>& between) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : between()) + fields[i];
  return line;
}

std::string columns_of(int arity) {
  return arity == 2 ? "source,target" : arity == 3 ? "source,target,time" : "source,target,label,time";
}

}  // namespace

Written draw_snap(bool messages) {
  Written written;
  written.format = Format::snap;
  const int arity = 2 + *below(3);
  const bool texts = coin();
  if (texts) written.codec.ids = IdKind::string;
  if (messages) written.codec.columns = columns_of(arity);
  Range range{
      .letters = "abcXYZ019_-.:/\xc3\xa9", .texts = texts, .labels = arity == 4, .empty_labels = false, .times = arity > 2};
  if (!messages) written.head = nothing({"# c", "% 1 2", " \t"});
  for (Fact fact : draw_facts(range)) {
    if (arity > 2 && !fact.time) fact.time = 0;
    const bool is_signed = !fact.inserts || coin(4);
    std::vector<std::string> fields = plain_fields(fact, arity);
    if (is_signed) fields.insert(fields.begin(), fact.inserts ? "+" : "-");
    const std::string between = messages ? "" : nothing({"# c", "%"});
    fact.source_text = fact.target_text = texts;  // --ids string keeps digits as texts
    std::string line = blanks(0) + joined(fields, [] { return blanks(1); }) + blanks(0);
    // A line with a sign, a tab and four fields between single tabs has the form of tsv.
    if (is_signed && line[1] == '\t' && std::count(line.begin(), line.end(), '\t') == 4) line[1] = ' ';
    written.records.push_back({between + line + line_end(), {fact.told()}});
  }
  return written;
}

Written draw_tsv(bool messages) {
  Written written;
  written.format = Format::tsv;
  const int arity = coin() ? 2 : 4;
  if (messages) written.codec.columns = columns_of(arity);
  const Range range{.letters = spaced, .labels = arity == 4, .times = arity > 2};
  for (Fact fact : draw_facts(range)) {
    for (std::string* text : {&fact.source, &fact.target, &fact.label}) {
      while (text->ends_with(' ')) text->pop_back();  // without quotes it would be lost
    }
    std::vector<std::string> fields = plain_fields(fact, arity);
    for (std::string& field : fields) field = blanks(0, " ") + field + blanks(0, " ");
    if (!fact.inserts || coin(4)) fields.insert(fields.begin(), fact.inserts ? "+" : "-");
    written.records.push_back({joined(fields, [] { return "\t"; }) + line_end(), {fact.told()}});
  }
  return written;
}

namespace {

struct Column {
  std::string role;   // of Fact; "": none
  std::string title;  // in the header
};

/// A cell of csv. With `quotes`, it may be quoted without need.
std::string csv_cell(const std::string& text, char separator, std::string_view around, bool quotes) {
  const bool must = text.find_first_of(std::string("\"\n\t ") + separator) != std::string::npos;
  if (!must && !(quotes && coin(4))) return blanks(0, around) + text + blanks(0, around);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return blanks(0, around) + quoted + '"' + blanks(0, around);
}

std::string value_of(const Fact& fact, const std::string& role, std::string_view note) {
  if (role == "source" || role == "vertex") return fact.source;
  if (role == "target") return fact.target;
  if (role == "label") return fact.label;
  if (role == "source_label") return fact.source_label.value_or("");
  if (role == "target_label") return fact.target_label.value_or("");
  if (role == "time") return fact.time ? seconds(*fact.time) : "";
  if (role == "op") return operation(fact.inserts);
  if (role == "deleted") return flag(fact.inserts);
  return word(note);
}

std::vector<Column> csv_columns(const Range& range) {
  std::vector<Column> columns;
  if (range.vertices) {
    columns = {{"vertex", pick({"vertex", "ID", "node"})}, {"label", pick({"label", "Type"})}};
  } else {
    columns = {{"source", pick({"source", "Src", "FROM", "u"})}, {"target", pick({"target", "dst", "To", "v"})}};
    if (range.labels) columns.push_back({"label", pick({"label", "rel", "type"})});
    if (range.end_labels) columns.push_back({"source_label", "source_label"});
    if (range.end_labels) columns.push_back({"target_label", "Target_Label"});
  }
  if (range.times) columns.push_back({"time", pick({"time", "timestamp", "ts"})});
  if (range.deletes)
    columns.push_back(coin() ? Column{"op", pick({"op", "sign", "__op", "_change_type"})} : Column{"deleted", "__deleted"});
  if (coin()) columns.push_back({"", "note"});
  shuffle(columns);
  return columns;
}

}  // namespace

Written draw_csv(bool messages) {
  Written written;
  written.format = Format::csv;
  const bool lines = !messages || coin();
  // Without quotes it is known which record a damaged byte belongs to.
  const bool quotes = coin();
  constexpr std::string_view bare = "abZ0'|";
  const Range range{.letters = quotes ? "ab Z0,;\"'|" : bare,
                    .label_letters = !quotes ? bare
                                     : lines ? "ab Z0,;\t\"'|\n"
                                             : anything,
                    .vertices = coin(4),
                    .deletes = coin(),
                    .labels = coin(),
                    .end_labels = coin(),
                    .times = coin()};
  const std::vector<Column> columns = csv_columns(range);
  const char separator = ",;\t"[*below(3)];
  const bool header = !messages && coin(2);
  if (!header || coin(3)) written.codec.separator = separator;
  const auto between = [&] { return std::string(1, separator); };
  if (header) {
    std::vector<std::string> titles;
    for (const Column& column : columns) titles.push_back(csv_cell(column.title, separator, " ", quotes));
    written.head = joined(titles, between) + line_end();
  } else {
    for (const Column& column : columns)
      written.codec.columns += (written.codec.columns.empty() ? "" : ",") + (column.role.empty() ? "-" : column.role);
  }
  for (Fact fact : draw_facts(range)) {
    fact.vertex = range.vertices;
    if (fact.vertex) {
      fact.source_label.reset();
      fact.target_label.reset();
    }
    std::vector<std::string> cells;
    for (const Column& column : columns) {
      cells.push_back(
          csv_cell(value_of(fact, column.role, quotes ? "ab0, \"" : bare), separator, separator == '\t' ? " " : " \t", quotes));
    }
    if (!range.labels && !fact.vertex) fact.label.clear();
    written.records.push_back({joined(cells, between) + line_end(), {fact.told()}});
  }
  return written;
}

Written draw_gephi() {
  Written written;
  written.format = Format::csv;
  written.directed = coin();
  const bool labels = coin();
  const char separator = ",;\t"[*below(3)];
  const Range range{.letters = "abZ0", .deletes = false, .labels = labels, .times = false};
  std::vector<std::string> titles{"Source", "Target", "Type", "Id", "Weight"};
  if (labels) titles.emplace_back("Label");
  shuffle(titles);
  const auto between = [&] { return blanks(0, " ") + separator + blanks(0, " "); };
  written.head = joined(titles, between) + line_end();
  int number = 0;
  for (const Fact& fact : draw_facts(range, 2)) {
    std::vector<std::string> cells;
    for (const std::string& title : titles) {
      cells.push_back(title == "Source"   ? fact.source
                      : title == "Target" ? fact.target
                      : title == "Label"  ? fact.label
                      : title == "Id"     ? std::to_string(number++)
                      : title == "Weight" ? "1.5"
                      : written.directed  ? pick({"Directed", "directed"})
                                          : pick({"Undirected", "undirected", "\"Undirected\""}));
    }
    written.records.push_back({joined(cells, between) + line_end(), {fact.told()}});
  }
  return written;
}

Written draw_tve(bool messages) {
  Written written;
  written.format = Format::tve;
  written.directed = false;
  const Range range{.letters = plain, .texts = false, .negative = false, .vertices = true, .times = false};
  if (!messages && coin()) written.head = fmt::format("t {} {}", *below(9), *below(9)) + line_end();
  for (const Fact& fact : draw_facts(range)) {
    std::vector<std::string> fields{std::string(fact.inserts ? (coin(4) ? "+" : "") : "-") + (fact.vertex ? "v" : "e"),
                                    fact.source};
    if (!fact.vertex) fields.push_back(fact.target);
    if (!fact.label.empty()) fields.push_back(fact.label);
    if (fact.vertex && !fact.label.empty() && coin()) fields.push_back(pick({"3", "-1"}));
    written.records.push_back(
        {(messages ? "" : nothing({"# c", "%"})) + joined(fields, [] { return blanks(1); }) + line_end(), {fact.told()}});
  }
  return written;
}

Written draw_gspan() {
  Written written = draw_tve(false);
  written.head = pick({"t # 0", "t # 3", "t # 0 * 12", "t # 1 0"}) + line_end();
  written.tail = pick({"", "t # -1\n"});
  written.frail_head = true;
  return written;
}

Written draw_jlg() {
  Written written;
  written.format = Format::jlg;
  written.directed = coin();
  const Range range{.letters = "a", .texts = false, .deletes = false, .labels = false, .times = false};
  written.head = fmt::format("{},{},{},name", *below(9), *below(9), written.directed ? "d" : "u") + line_end();
  for (const Fact& fact : draw_facts(range))
    written.records.push_back(
        {blanks(0) + fact.source + blanks(0) + "," + blanks(0) + fact.target + line_end(), {fact.told()}});
  return written;
}

Written draw_mtx() {
  Written written;
  written.format = Format::mtx;
  written.frail_head = true;
  const std::string field = pick({"pattern", "integer", "real", "Pattern"});
  const std::string symmetry = pick({"general", "symmetric", "skew-symmetric", "GENERAL"});
  written.directed = symmetry[0] == 'g' || symmetry[0] == 'G';
  const Range range{.letters = "a", .texts = false, .negative = false, .deletes = false, .labels = false, .times = false};
  std::vector<Fact> facts = draw_facts(range);
  for (Fact& fact : facts) {
    fact.source = std::to_string(1 + *below(9));
    fact.target = std::to_string(1 + *below(9));
    const std::string value = field == "integer" ? blanks(1) + pick({"3", "-7", "0"})
                              : field == "real"  ? blanks(1) + pick({"0.5", "-1e-3", "3", "1.5D+02"})
                                                 : "";
    written.records.push_back(
        {nothing({"% c", "%"}) + fact.source + blanks(1) + fact.target + value + line_end(), {fact.told()}});
  }
  written.head = fmt::format("%%MatrixMarket matrix coordinate {} {}\n% comment\n10 10 {}\n", field, symmetry, facts.size());
  return written;
}

Written draw_binary(bool messages) {
  Written written;
  written.format = Format::binary;
  const Range range{.letters = anything, .vertices = true, .end_labels = true};
  if (messages) {
    for (const Fact& fact : draw_facts(range)) {
      std::string bytes;
      ingest::append_binary(bytes, fact.update());
      written.records.push_back({bytes, {fact.told()}});
    }
    return written;
  }
  ingest::BinaryStreamWriter writer(written.head);
  for (const Fact& fact : draw_facts(range)) {
    std::string block;  // of one record, so that it is known which bytes say what
    writer.add(block, fact.update());
    writer.flush(block);
    written.records.push_back({block, {fact.told()}});
  }
  writer.finish(written.tail);
  written.frail_head = true;
  return written;
}

}  // namespace deltamatch::property
