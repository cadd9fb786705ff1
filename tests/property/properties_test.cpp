// Updates with keys and attributes, written as csv, tsv and JSON, are read as they were meant. Also in parts of a record.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/text_records.hpp"
#include "property/draw.hpp"
#include "property/reading_draw.hpp"

namespace deltamatch::property {
namespace {

using ingest::AttributeColumn;
using ingest::CodecOptions;
using Kind = AttributeType::Kind;

/// A value that owns its text.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Payment {
  bool inserts = true;
  bool by_key = false;
  std::string source;
  std::string target;
  std::string key;  // digits, or a text with a letter
  std::vector<Value> values;
};

struct Case {
  CodecOptions codec;
  std::vector<Payment> payments;
};

constexpr std::string_view letters = "abcXYZ .:'%$";

Value draw_value(const AttributeType& type) {
  if (coin(5)) return std::monostate();
  const auto number = [] {
    if (coin(8)) return coin() ? INT64_MAX : INT64_MIN;
    return (coin() ? 1 : -1) * std::int64_t{*below(1'000'000'000)} * (coin() ? 1 : 1'000'003);
  };
  switch (type.kind) {
    case Kind::boolean:
      return coin();
    case Kind::real:
      return static_cast<double>(number()) / (coin() ? 1 : 1024);
    case Kind::symbol:
      return "s" + word(letters, 0) + "z";
    case Kind::time:
      return std::int64_t{*below(2'000'000'000)} * 1'000'000 + *below(1'000'000);
    case Kind::integer:
    case Kind::decimal:
      break;
  }
  return number();
}

Case draw_case() {
  Case drawn;
  drawn.codec.edges = coin() ? EdgeModel::keyed : EdgeModel::events;
  drawn.codec.time_unit = ingest::TimeUnit::microseconds;
  const int attributes = *below(5);
  for (int i = 0; i < attributes; ++i) {
    AttributeColumn column;
    column.attribute.name = fmt::format("x{}", i);
    column.attribute.type.kind = static_cast<Kind>(*below(6));
    if (column.attribute.type.kind == Kind::decimal) column.attribute.type.scale = static_cast<std::uint8_t>(*below(19));
    drawn.codec.attributes.push_back(column);
  }
  for (int left = 1 + *below(8); left > 0; --left) {
    Payment& payment = drawn.payments.emplace_back();
    payment.inserts = !coin(4);
    payment.by_key = !payment.inserts && drawn.codec.edges == EdgeModel::keyed && coin();
    payment.source = std::to_string(*below(9));
    payment.target = "b" + std::to_string(*below(9));
    if (drawn.codec.edges == EdgeModel::keyed) payment.key = (coin() ? "t" : "") + std::to_string(*below(99));
    for (const AttributeColumn& column : drawn.codec.attributes) payment.values.push_back(draw_value(column.attribute.type));
  }
  return drawn;
}

std::string told(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return "'" + std::string(*text) + "'";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}r", *real);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "yes" : "no";
  return "null";
}
std::string told(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
          return told(AttributeValue(std::string_view(held)));
        else
          return told(AttributeValue(held));
      },
      value);
}
std::string told(const Id& id) { return id.is_text() ? "'" + std::string(id.text()) + "'" : std::to_string(id.number()); }
std::string told_id(const std::string& text) { return text[0] >= '0' && text[0] <= '9' ? text : "'" + text + "'"; }

std::string told_properties(const Update& update) {
  std::string text =
      update.by_key ? "- " : fmt::format("{} {} {} ", static_cast<int>(update.kind), told(update.source), told(update.target));
  if (const auto key = update.key()) text += told(*key);
  if (update.kind != UpdateKind::insert_edge || update.properties == nullptr) return text;
  for (const AttributeValue& value : update.properties->attributes) text += " " + told(value);
  return text;
}

std::string meant(const Payment& payment) {
  std::string text = payment.by_key
                         ? "- "
                         : fmt::format("{} {} {} ", payment.inserts ? 0 : 1, told_id(payment.source), told_id(payment.target));
  if (!payment.key.empty()) text += told_id(payment.key);
  if (!payment.inserts) return text;
  for (const Value& value : payment.values) text += " " + told(value);
  return text;
}

/// A value as a field of csv or tsv has it.
std::string field(const Value& value, const AttributeType& type) {
  if (std::holds_alternative<std::monostate>(value)) return coin(3) ? "\\N" : "";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* truth = std::get_if<bool>(&value))
    return *truth ? pick({"true", "T", "yes", "1"}) : pick({"false", "F", "no", "0"});
  const std::int64_t number = std::get<std::int64_t>(value);
  if (type.kind == Kind::integer && coin(4)) return fmt::format("{}.0", number);
  if (type.kind != Kind::decimal || type.scale == 0) return fmt::format("{}", number);
  const bool negative = number < 0;
  std::string digits = fmt::format("{}", number).substr(negative ? 1 : 0);
  if (digits.size() <= type.scale) digits.insert(0, type.scale + std::size_t{1} - digits.size(), '0');
  digits.insert(digits.size() - type.scale, ".");
  while (coin() && digits.ends_with('0')) digits.pop_back();
  return (negative ? "-" : "") + digits + (coin(4) ? "00" : "");
}

std::string in_quotes(const std::string& cell) { return coin(3) && !cell.empty() ? "\"" + cell + "\"" : cell; }

/// Codecs and records of one case in a text format.
std::vector<std::string> read_fields(const Case& drawn, ingest::Format format) {
  const bool csv = format == ingest::Format::csv;
  const bool keyed = drawn.codec.edges == EdgeModel::keyed;
  const bool named = csv && coin();
  CodecOptions codec = drawn.codec;
  std::vector<std::string> columns{"op", "source", "target"};
  if (keyed) columns.emplace_back("edge");
  for (const AttributeColumn& column : codec.attributes) columns.push_back(column.attribute.name);
  shuffle(columns);
  if (!named) codec.columns = fmt::format("{}", fmt::join(columns, ","));
  const auto reader = ingest::make_codec(format, codec);
  const std::string separator = csv ? "," : "\t";
  if (named) static_cast<void>(reader->decode(fmt::format("{}", fmt::join(columns, separator))));
  std::vector<std::string> heard;
  for (const Payment& payment : drawn.payments) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      std::string cell;
      if (column == "op") cell = payment.inserts ? "+" : "-";
      if (column == "source" && !payment.by_key) cell = payment.source;
      if (column == "target" && !payment.by_key) cell = payment.target;
      if (column == "edge") cell = payment.key;
      if (column[0] == 'x') {
        const auto number = static_cast<std::size_t>(column[1] - '0');
        cell = field(payment.values[number], codec.attributes[number].attribute.type);
      }
      cells.push_back(csv ? in_quotes(cell) : cell);
    }
    const std::string record = fmt::format("{}", fmt::join(cells, separator));
    RC_LOG() << record << '\n';
    const ingest::Decoded decoded = reader->decode(record);
    heard.push_back(decoded.updates.size() == 1 ? told_properties(decoded.updates[0]) : std::string(decoded.message));
  }
  return heard;
}

std::vector<std::string> meant(const Case& drawn) {
  std::vector<std::string> all;
  for (const Payment& payment : drawn.payments) all.push_back(meant(payment));
  return all;
}

TEST(Properties, AreReadAsTheyAreWrittenInCsvAndTsv) {
  hold(300, [] {
    const Case drawn = draw_case();
    RC_ASSERT(read_fields(drawn, ingest::Format::csv) == meant(drawn));
    RC_ASSERT(read_fields(drawn, ingest::Format::tsv) == meant(drawn));
  });
}

TEST(Properties, AreReadAsTheyAreWrittenInJson) {
  hold(300, [] {
    const Case drawn = draw_case();
    Schema schema{drawn.codec.edges, {}, {}};
    for (const AttributeColumn& column : drawn.codec.attributes) schema.edges.push_back(column.attribute);
    const auto reader = ingest::make_codec(ingest::Format::jsonl, drawn.codec);
    std::string array = "[";
    std::vector<std::string> heard;
    for (const Payment& payment : drawn.payments) {
      Update update;
      update.kind = payment.inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
      update.by_key = payment.by_key;
      if (!payment.by_key) update.source = Id(std::int64_t{payment.source[0] - '0'});
      if (!payment.by_key) update.target = Id(payment.target);
      std::vector<AttributeValue> values;
      for (const Value& value : payment.values) {
        if (const auto* text = std::get_if<std::string>(&value)) values.emplace_back(std::string_view(*text));
        if (const auto* number = std::get_if<std::int64_t>(&value)) values.emplace_back(*number);
        if (const auto* real = std::get_if<double>(&value)) values.emplace_back(*real);
        if (const auto* truth = std::get_if<bool>(&value)) values.emplace_back(*truth);
        if (std::holds_alternative<std::monostate>(value)) values.emplace_back();
      }
      Properties properties;
      if (!payment.key.empty()) {
        const bool text = payment.key[0] == 't';
        properties.key = text ? Id(payment.key) : Id(std::int64_t{std::stoi(payment.key)});
      }
      if (payment.inserts) properties.attributes = values;
      update.properties = &properties;
      std::string line;
      ingest::append_jsonl(line, update, schema);
      RC_LOG() << line;
      const ingest::Decoded decoded = reader->decode(line);
      heard.push_back(decoded.updates.size() == 1 ? told_properties(decoded.updates[0]) : std::string(decoded.message));
      array += (array.size() == 1 ? "" : ",") + line;
    }
    RC_ASSERT(heard == meant(drawn));
    // All of them in one record.
    const ingest::Decoded decoded = reader->decode(array + "]");
    heard.clear();
    for (const Update& update : decoded.updates) heard.push_back(told_properties(update));
    RC_ASSERT(heard == meant(drawn));
  });
}

}  // namespace
}  // namespace deltamatch::property
