// Rows of tables as updates, and matches as tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "ingest/table/array_builder.hpp"
#include "ingest/table/column.hpp"
#include "ingest/table/match_table.hpp"
#include "ingest/table_stream.hpp"

namespace deltamatch::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ArrayBuilder rows_of(std::vector<ArrowField> columns) {
  return ArrayBuilder({.format = arrow_type::structure, .name = "", .children = std::move(columns)});
}

std::unique_ptr<TableReader> table_of(std::vector<ArrowField> columns, std::vector<ArrowColumn> chunks) {
  ArrowArrayStream stream;
  ArrowTable(std::move(columns), std::move(chunks)).export_stream(&stream);
  return read_stream(ArrowOwner<ArrowArrayStream>(&stream), "frame");
}

std::unique_ptr<TableReader> table_of(ArrayBuilder& rows) {
  std::vector<ArrowField> columns = rows.field().children;
  std::vector<ArrowColumn> chunks;
  chunks.push_back(rows.take());
  return table_of(std::move(columns), std::move(chunks));
}

/// A table of one column of sources, whose targets are 1.
std::unique_ptr<TableReader> sources(const char* format, const std::function<void(ArrayBuilder&)>& fill) {
  ArrayBuilder rows = rows_of({{.format = format, .name = "source"}, {.format = arrow_type::int64, .name = "target"}});
  fill(rows.child(0));
  while (rows.child(1).length() < rows.child(0).length()) {
    rows.child(1).integer(1);
    rows.end_struct();
  }
  return table_of(rows);
}

/// The batches of a table, as one list of updates' texts.
std::vector<std::string> read(std::unique_ptr<TableReader> table, const ReadOptions& options = {},
                              const TableRoles& roles = {}) {
  const auto text = [](const Id& id) {
    return id.is_text() ? "'" + std::string(id.text()) + "'" : std::to_string(id.number());
  };
  ReadOptions given = options;
  given.spelling.as_keywords = true;
  const auto stream = open_table(std::move(table), roles, given);
  std::vector<std::string> updates;
  for (PositionedBatch batch; stream->next(batch);) {
    for (const Update& update : batch.updates.updates()) {
      std::string line = update.kind == UpdateKind::delete_edge ? "-" : "+";
      line += update.by_key ? "key" : text(update.source) + ">" + text(update.target);
      if (!update.label.empty()) line += ":" + std::string(update.label);
      if (update.time) line += "@" + std::to_string(*update.time);
      if (update.key()) line += "#" + text(*update.key());
      updates.push_back(line);
    }
    stream->settle(batch, {});
  }
  return updates;
}

ReadOptions with_ids(IdKind ids) {
  ReadOptions options;
  options.codec.ids = ids;
  return options;
}

ReadOptions with_edges(EdgeModel edges) {
  ReadOptions options;
  options.codec.edges = edges;
  return options;
}

std::string fault(std::unique_ptr<TableReader> table, const ReadOptions& options = {}, const TableRoles& roles = {}) {
  try {
    read(std::move(table), options, roles);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Table, FloatsThatAreWholeNumbersAreIntegers) {
  EXPECT_THAT(read(sources(arrow_type::float64,
                           [](ArrayBuilder& source) {
                             source.real(12.0);
                             source.real(-3.0);
                           })),
              ElementsAre("+12>1", "+-3>1"));
}

TEST(Table, OtherFloatsAreRefusedWithRowAndColumn) {
  const auto floats = [](double bad) {
    return fault(sources(arrow_type::float64, [bad](ArrayBuilder& source) {
      source.real(1);
      source.real(bad);
    }));
  };
  EXPECT_EQ(floats(12.5),
            "frame, row 1: bad_id: source `12.5`, the source, is no whole number; an id is an integer or a text; correct the "
            "record, or give on_error='skip'");
  EXPECT_THAT(floats(std::nan("")), HasSubstr("frame, row 1: bad_id: source `nan`, the source, is no whole number"));
  EXPECT_THAT(floats(9007199254740992.0), HasSubstr("2^53"));
}

TEST(Table, NullIsNoId) {
  EXPECT_THAT(fault(sources(arrow_type::int64,
                            [](ArrayBuilder& source) {
                              source.integer(7);
                              source.null();
                            })),
              HasSubstr("frame, row 1: bad_id: `source` is null, so the row has no source"));
}

TEST(Table, TheTypeOfAColumnDecidesWhatIdsAre) {
  const auto texts = [](ArrayBuilder& source) {
    source.text("7");
    source.text("acct");
  };
  EXPECT_THAT(read(sources(arrow_type::text, texts)), ElementsAre("+'7'>1", "+'acct'>1"));
  EXPECT_THAT(read(sources(arrow_type::int64, [](ArrayBuilder& source) { source.integer(7); }), with_ids(IdKind::string)),
              ElementsAre("+'7'>'1'"));
  EXPECT_THAT(fault(sources(arrow_type::text, texts), with_ids(IdKind::integer)), HasSubstr("row 1: bad_id"));
  EXPECT_THAT(fault(sources(arrow_type::text, [](ArrayBuilder& source) { source.text("None"); })), HasSubstr("ids='string'"));
}

TEST(Table, ReadsTimesLabelsAndOperations) {
  ArrayBuilder rows = rows_of({{.format = arrow_type::int64, .name = "src"},
                               {.format = arrow_type::int64, .name = "dst"},
                               {.format = arrow_type::text, .name = "type"},
                               {.format = arrow_type::timestamp, .name = "ts"},
                               {.format = arrow_type::text, .name = "op"}});
  const auto add = [&](int source, const char* label, std::int64_t time, const char* op) {
    rows.child(0).integer(source);
    rows.child(1).integer(9);
    rows.child(2).text(label);
    rows.child(3).integer(time);
    rows.child(4).text(op);
    rows.end_struct();
  };
  add(1, "PAYS", 5, "+");
  add(2, "", 6, "delete");
  std::vector<ArrowColumn> chunks;
  const std::vector<ArrowField> columns = rows.field().children;
  chunks.push_back(rows.take());
  add(3, "PAYS", 7, "insert");
  chunks.push_back(rows.take());
  EXPECT_THAT(read(table_of(columns, std::move(chunks))), ElementsAre("+1>9:PAYS@5", "-2>9@6", "+3>9:PAYS@7"));
}

TEST(Table, AKeyIsEnoughForADeletion) {
  ArrayBuilder rows = rows_of({{.format = arrow_type::text, .name = "payment_id"}, {.format = arrow_type::text, .name = "op"}});
  rows.child(0).text("p1");
  rows.child(1).text("-");
  rows.end_struct();
  EXPECT_THAT(read(table_of(rows), with_edges(EdgeModel::keyed)), ElementsAre("-key#'p1'"));
}

TEST(Table, ColumnsThatAreMissingOrDoubleAreRefused) {
  const auto two = [](const char* first, const char* second) {
    ArrayBuilder rows = rows_of({{.format = arrow_type::int64, .name = first}, {.format = arrow_type::int64, .name = second}});
    return table_of(rows);
  };
  EXPECT_EQ(fault(two("payer", "payee")),
            "frame: no column says the sources of edges; the columns are `payer`, `payee`; name it: source='NAME'");
  EXPECT_THAT(fault(two("source", "src")), HasSubstr("may both be the source"));
  TableRoles roles;
  roles[static_cast<std::size_t>(Role::source)] = "payr";
  EXPECT_THAT(fault(two("payer", "payee"), {}, roles), HasSubstr("there is no column `payr`"));
}

TEST(Table, DecimalsAreExact) {
  ArrayBuilder rows = rows_of({{.format = arrow_type::int64, .name = "source"},
                               {.format = arrow_type::int64, .name = "target"},
                               {.format = arrow_type::float64, .name = "amount"}});
  for (const double amount : {0.1, 12.34, 1e15}) {
    rows.child(0).integer(1);
    rows.child(1).integer(2);
    rows.child(2).real(amount);
    rows.end_struct();
  }
  ReadOptions options;
  options.codec.edges = EdgeModel::events;
  options.codec.attributes = {{.attribute = {.name = "amount", .type = {.kind = AttributeType::Kind::decimal, .scale = 2}}}};
  const auto stream = open_table(table_of(rows), {}, options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  std::vector<std::int64_t> digits;
  for (const Update& update : batch.updates.updates())
    digits.push_back(std::get<std::int64_t>(update.properties->attributes[0]));
  EXPECT_THAT(digits, ElementsAre(10, 1234, 100'000'000'000'000'000));
}

/// Reads a column of a table back.
std::vector<std::string> column_of(const ArrowTable& table, std::string_view name) {
  ArrowArrayStream stream;
  table.export_stream(&stream);
  const auto reader = read_stream(ArrowOwner<ArrowArrayStream>(&stream), "matches");
  std::vector<std::string> values;
  while (reader->next()) {
    for (const Column& column : reader->columns()) {
      if (column.name() != name) continue;
      for (std::int64_t row = 0; row < reader->rows(); ++row) {
        NumberText room;
        values.emplace_back(text_of(column.cell(row), room));
      }
    }
  }
  return values;
}

TEST(Cell, NumbersAreDigitsWithoutAnExponent) {
  NumberText room;
  const auto real = [&](double value) { return std::string(text_of({.kind = Cell::Kind::real, .real = value}, room)); };
  EXPECT_EQ(real(1e5), "100000");
  EXPECT_EQ(real(1.7e9), "1700000000");
  EXPECT_EQ(real(-0.0), "0");
  EXPECT_EQ(real(0.1), "0.1");
  EXPECT_EQ(real(-1e-7), "-0.0000001");
  EXPECT_EQ(real(9007199254740994.0), "9007199254740994");
  EXPECT_EQ(real(1e300).size(), 301U);
  EXPECT_EQ(std::strtod(real(5e-324).c_str(), nullptr), 5e-324);
  EXPECT_EQ(text_of({.kind = Cell::Kind::integer, .number = 7, .text = "99999999999999999999"}, room), "99999999999999999999");
}

TEST(Column, OfCellsHasTheKindOfAllOfThem) {
  using Kind = Cell::Kind;
  const auto kind_of = [](std::vector<Cell> cells) { return Column("x", "object", cells).kind(); };
  EXPECT_EQ(kind_of({{}, {.kind = Kind::time}, {}}), Kind::time);
  EXPECT_EQ(kind_of({{.kind = Kind::integer}, {.kind = Kind::decimal, .scale = 2}}), Kind::decimal);
  EXPECT_EQ(kind_of({{.kind = Kind::real}, {.kind = Kind::integer}}), Kind::real);
  EXPECT_EQ(kind_of({{.kind = Kind::time}, {.kind = Kind::integer}}), Kind::other);
  EXPECT_EQ(kind_of({{}, {}}), Kind::other);
}

TEST(Column, TheLeastTimestampIsNullWhereNaNIs) {
  const std::int64_t times[] = {std::numeric_limits<std::int64_t>::min(), 7};
  const void* buffers[] = {nullptr, times};
  ArrowSchema schema{};
  schema.format = "tsn:";
  ArrowArray array{};
  array.length = 2;
  array.n_buffers = 2;
  array.buffers = buffers;
  for (const bool numpy : {false, true}) {
    Column column(schema, numpy);
    column.bind(array);
    EXPECT_EQ(column.cell(0).kind, numpy ? Cell::Kind::null : Cell::Kind::time);
    EXPECT_EQ(column.cell(1).kind, Cell::Kind::time);
  }
}

TEST(Column, IntegersOfAnExtensionTypeAreNone) {
  std::string metadata;
  const auto put = [&](std::string_view text) {
    const auto size = static_cast<std::int32_t>(text.size());
    metadata.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  };
  const std::int32_t entries = 2;
  metadata.append(reinterpret_cast<const char*>(&entries), sizeof entries);
  for (const char* text : {"unit", "M", "ARROW:extension:name", "pandas.period"}) put(text);
  ArrowSchema schema{};
  schema.metadata = metadata.c_str();
  for (const auto& [format, kind] : {std::pair("l", Cell::Kind::other), std::pair("u", Cell::Kind::text)}) {
    schema.format = format;
    EXPECT_EQ(Column(schema).kind(), kind);
  }
}

TEST(MatchTable, HasARowForEachMatch) {
  const Query pair = parse_pattern("(a)-[t]->(b)-[u]->(a)", "pair");
  Engine engine;
  engine.add_query(pair, {.list = true});
  MatchTable table({pair}, {});
  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  batch.add({.source = 2, .target = 1});
  engine.process(batch, OnReject::stop, &table);
  batch.clear();
  batch.add({.kind = UpdateKind::delete_edge, .source = 1, .target = 2});
  engine.process(batch, OnReject::stop, &table);
  EXPECT_EQ(table.size(), 2U);
  const ArrowTable matches = table.take();
  EXPECT_EQ(matches.rows(), 2U);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_THAT(column_of(matches, "sign"), ElementsAre("+", "-"));
  EXPECT_THAT(column_of(matches, "batch"), ElementsAre("1", "2"));
  EXPECT_THAT(column_of(matches, "query"), ElementsAre("pair", "pair"));
  const std::vector<std::string> ids = column_of(matches, "id");
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(MatchTable, IdsTurnIntoTextsOnceOneIsAText) {
  const Query edge = parse_pattern("(a)-->(b)", "edge");
  Engine engine;
  engine.add_query(edge, {.list = true});
  MatchTable table({edge}, {});
  UpdateBatch batch;
  batch.add({.source = 1, .target = 2});
  engine.process(batch, OnReject::stop, &table);
  batch.clear();
  batch.add({.source = 10, .target = "x"});
  engine.process(batch, OnReject::stop, &table);
  const ArrowTable matches = table.take();
  ASSERT_EQ(matches.rows(), 2U);
  const auto& bindings = matches.columns()[5];
  ASSERT_EQ(bindings.name, "bindings");
  EXPECT_EQ(bindings.children[0].format, "u");
  const auto text = [&](std::size_t chunk, std::size_t vertex) {
    const std::vector<char>& bytes = matches.chunks()[chunk].children[5].children[vertex].bytes;
    return std::string(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(text(0, 0), "1");
  EXPECT_EQ(text(1, 0) + text(1, 1), "10x");
}

}  // namespace
}  // namespace deltamatch::ingest
