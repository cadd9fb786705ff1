// Runs the examples of the page docs/reference/patterns.md, section "The pattern language":
// - A block that begins with a path is a pattern. "finds" names its matches on the page's graph, by the keys of their edges.
// - If the message of an error follows a pattern, it must be refused with that message.
// - In tables, the first cells are parts of patterns. The table's header says which.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <source_dir.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "condition/literal.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

Strings lines_of(std::istream& in) {
  Strings lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines of the section.
Strings section() {
  std::ifstream in(std::string(DELTAMATCH_SOURCE_DIR) + "/docs/reference/patterns.md");
  Strings lines = lines_of(in);
  const auto first = std::ranges::find(lines, "## The pattern language");
  const auto last = std::find_if(first, lines.end(), [&](const std::string& line) {
    return line.starts_with("## ") && line != "## The pattern language";
  });
  return {first, last};
}

/// The blocks of code by indentation. Blank lines and further indented lines belong to a block.
std::vector<Strings> blocks() {
  std::vector<Strings> result;
  bool open = false;
  for (const std::string& line : section()) {
    if (line.starts_with("    ")) {
      if (!open) result.emplace_back();
      result.back().push_back(line.substr(4));
      open = true;
    } else if (line.empty() && open) {
      result.back().emplace_back();
    } else {
      open = false;
    }
  }
  for (Strings& block : result) {
    while (block.back().empty()) block.pop_back();
  }
  return result;
}

/// The pieces of inline code in a cell.
Strings codes(std::string_view cell) {
  Strings result;
  while (true) {
    const std::size_t open = cell.find('`');
    if (open == std::string_view::npos) return result;
    const std::size_t length = std::min(cell.find_first_not_of('`', open), cell.size()) - open;
    const std::string fence(length, '`');
    const std::size_t close = cell.find(fence, open + length);
    std::string code(cell.substr(open + length, close - open - length));
    if (length > 1) code = code.substr(1, code.size() - 2);  // the blanks beside the backquotes
    for (std::size_t at = 0; (at = code.find("\\|", at)) != std::string::npos;) code.erase(at, 1);
    result.push_back(code);
    cell.remove_prefix(close + length);
  }
}

struct Row {
  std::string table;  ///< its first header
  Strings first;      ///< the pieces of code of the first cell
  Strings second;
};

/// The rows of all tables.
std::vector<Row> rows() {
  std::vector<Row> result;
  std::string table;
  for (std::string line : section()) {
    if (!line.starts_with("| ")) {
      if (!line.starts_with("|--")) table.clear();
      continue;
    }
    for (std::size_t at = 0; (at = line.find("\\|", at)) != std::string::npos; ++at) line[at + 1] = '\x01';
    Strings cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) {
      std::ranges::replace(cell, '\x01', '|');
      cells.push_back(cell);
    }
    if (table.empty()) {
      table = cells[0].substr(1, cells[0].find_last_not_of(' '));
    } else {
      result.push_back({table, codes(cells[0]), codes(cells[1])});
    }
  }
  return result;
}

Strings fields(const std::string& line) {
  Strings result;
  std::istringstream in(line + ',');
  for (std::string field; std::getline(in, field, ',');) result.push_back(field);
  return result;
}

Schema schema() {
  using Kind = AttributeType::Kind;
  return {EdgeModel::keyed,
          {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol}}, {"due", {Kind::time}}, {"checked", {Kind::boolean}}},
          {{"country", {Kind::symbol}}, {"risk", {Kind::real}}}};
}

/// A view of a symbol is valid as long as the field.
AttributeValue value(const std::string& field, const AttributeType& type) {
  if (field.empty()) return {};
  switch (type.kind) {
    case AttributeType::Kind::symbol:
      return std::string_view(field);
    case AttributeType::Kind::boolean:
      return field == "true";
    case AttributeType::Kind::real:
      return std::stod(field);
    case AttributeType::Kind::time:
      return condition::read_instant(field).value().microseconds;
    default:
      break;
  }
  Decimal number = condition::read_decimal(field).value();
  for (; number.scale < type.scale; ++number.scale) number.digits *= 10;
  return number.digits;
}

/// Collects the keys of matched edges, or the ids of the vertices of a pattern that has no edges.
class Keys final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    std::string line = "finds";
    for (const MatchedEdge& edge : match.edges) line.append(" ").append(edge.key.value().text());
    for (const Id& vertex : match.vertices) {
      if (match.edges.empty()) line.append(" ").append(vertex.text());
    }
    lines.push_back(line);
  }
  void commit() override {}
  void abort() noexcept override {}
  Strings lines;
};

class PatternsPage : public testing::Test {
 protected:
  PatternsPage() {
    for (const Strings& block : blocks()) {
      if (block[0].starts_with("id,labels,")) read(block, &PatternsPage::vertex);
    }
    for (const Strings& block : blocks()) {
      if (block[0].starts_with("key,")) read(block, &PatternsPage::edge);
    }
    EXPECT_EQ(graph_.size(), 9U);
  }

  /// The lines "finds ..." of a pattern, in order, or the message of its refusal.
  Strings answer(const std::string& pattern) {
    try {
      const Query query = parse_pattern(pattern, "example", "pattern");
      EXPECT_EQ(parse_pattern(to_pattern(query), "example"), query) << pattern;
      Engine engine({.threads = 1, .schema = schema()});
      engine.add_query(query, {.list = true});
      Keys keys;
      EXPECT_TRUE(engine.process(graph_, OnReject::stop, &keys).rejects.empty());
      std::ranges::sort(keys.lines);
      return keys.lines.empty() ? Strings{"finds nothing"} : keys.lines;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::configuration);
      std::istringstream in(error.what());
      return lines_of(in);
    }
  }

  /// The refusal of a pattern; empty if it is accepted.
  std::string refusal(const std::string& pattern) {
    const Strings lines = answer(pattern);
    return lines[0].starts_with("finds") ? "" : lines[0];
  }

  void accepts(const std::string& pattern) { EXPECT_EQ(refusal(pattern), "") << pattern; }

 private:
  void read(const Strings& block, Update (PatternsPage::*update)(const Strings&)) {
    for (std::size_t i = 1; i < block.size(); ++i) {
      const Strings record = fields(block[i]);
      graph_.add((this->*update)(record));
    }
  }

  Update edge(const Strings& record) {
    take(record, 5, schema().edges);
    properties_.key = Id(record[0]);
    Update update{.source = Id(record[1]), .target = Id(record[3]), .label = record[2]};
    update.time = condition::read_instant(record[4]).value().microseconds;
    update.properties = &properties_;
    return update;
  }
  Update vertex(const Strings& record) {
    take(record, 2, schema().vertices);
    properties_.key.reset();
    Update update{.kind = UpdateKind::insert_vertex, .source = Id(record[0])};
    labels_ = record[1];
    std::ranges::replace(labels_, ';', label_separator);
    update.source_label = labels_;
    update.properties = &properties_;
    return update;
  }
  void take(const Strings& record, std::size_t first, const std::vector<Attribute>& attributes) {
    values_.clear();
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      values_.push_back(first + i < record.size() ? value(record[first + i], attributes[i].type) : AttributeValue());
    }
    properties_.attributes = values_;
  }

  UpdateBatch graph_;
  std::string labels_;
  std::vector<AttributeValue> values_;
  Properties properties_;
};

TEST_F(PatternsPage, BlocksGiveWhatThePageShows) {
  std::size_t patterns = 0;
  for (const Strings& block : blocks()) {
    if (!block[0].starts_with("(") && !block[0].starts_with("MATCH") && !block[0].starts_with("//")) continue;
    std::string pattern;
    Strings answers;  // a block may hold several patterns with their answers
    const auto check = [&] {
      if (pattern.empty()) return;
      ++patterns;
      while (!answers.empty() && answers.back().empty()) answers.pop_back();
      if (answers.empty()) return accepts(pattern);
      EXPECT_EQ(answer(pattern), answers) << pattern;
    };
    for (const std::string& line : block) {
      const bool answering = line.starts_with("finds") || line.starts_with("pattern:") || line.starts_with("query example:") ||
                             (!answers.empty() && line.starts_with("  "));
      if (answering) {
        answers.push_back(line);
      } else if (line.empty()) {
        continue;
      } else if (answers.empty()) {
        pattern += pattern.empty() ? line : "\n" + line;
      } else {
        check();
        pattern = line;
        answers.clear();
      }
    }
    check();
  }
  EXPECT_GE(patterns, 19U);
}

TEST_F(PatternsPage, PartsOfPathsAreRead) {
  std::size_t parts = 0;
  for (const Row& row : rows()) {
    for (const std::string& code : row.first) {
      if (row.table == "vertex") accepts(code + "-->(other)");
      if (row.table == "edge" && code.find("[t:") != std::string::npos) accepts("(a)" + code + "(b) WHERE t.amount > 0");
      if (row.table == "edge") accepts("(a)" + code + "(b)");
      if (row.table == "quantified edge") accepts("(a)" + code + "(b)");
      if (row.table == "vertex" || row.table == "edge" || row.table == "quantified edge") ++parts;
    }
  }
  EXPECT_GE(parts, 20U);
}

TEST_F(PatternsPage, ConditionsAreRead) {
  const std::string paths = "(a)-[t:TRANSFER]->(b)-[u:TRANSFER]->(c) WHERE ";
  std::size_t conditions = 0;
  for (const Row& row : rows()) {
    for (const std::string& code : row.first) {
      if (row.table == "value" || row.table == "calculation") accepts(paths + code + " IS NULL");
      if (row.table == "condition" || row.table == "counted") accepts(paths + code);
      if (row.table == "function of a path") accepts("(a)-[t:TRANSFER]->{1,2}(b) WHERE " + code + " IS NULL OR count(t) = 1");
      if (row.table == "value" || row.table == "calculation" || row.table == "condition") ++conditions;
    }
  }
  EXPECT_GE(conditions, 50U);
}

TEST_F(PatternsPage, WhatIsRefusedIsRefusedWithItsRemedy) {
  const std::string paths = "(a)-[t:TRANSFER]->(b)-[u:TRANSFER]->(c) WHERE ";
  std::size_t refusals = 0;
  for (const Row& row : rows()) {
    if (row.table != "path" && row.table != "wrong" && row.table != "unfit") continue;
    for (const std::string& code : row.first) {
      const std::string pattern = row.table == "path" ? code : paths + code;
      EXPECT_THAT(refusal(pattern), HasSubstr(row.second.at(0))) << pattern;
      ++refusals;
    }
  }
  EXPECT_GE(refusals, 40U);
}

}  // namespace
}  // namespace deltamatch
