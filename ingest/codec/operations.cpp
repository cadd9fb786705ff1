#include "ingest/codec/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/operation_columns.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

[[noreturn]] void bad_mapping(std::string_view text, std::string_view what) {
  throw Error(ErrorKind::usage, "op-values", fmt::format("`{}`: {}", text, what),
              "give the values that insert and those that delete, e.g. c,r,u=+;d=-");
}

}  // namespace

std::optional<bool> parse_sign(std::string_view text) noexcept {
  if (text == "+") return true;
  if (text == "-") return false;
  return std::nullopt;
}

Operations::Operations(std::string_view mapping, OptionSpelling spelling, std::string columns)
    : spelling_(std::move(spelling)), mapping_(without_blanks(mapping)), columns_(std::move(columns)) {
  if (mapping.empty()) return;
  for (std::size_t start = 0; start <= mapping.size();) {
    const std::size_t end = std::min(mapping.find(';', start), mapping.size());
    const std::string_view entry = mapping.substr(start, end - start);
    start = end + 1;
    const std::size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos) bad_mapping(mapping, fmt::format("`{}` has no =", without_blanks(entry)));
    const std::optional<bool> inserts = parse_sign(without_blanks(entry.substr(equals + 1)));
    if (!inserts) bad_mapping(mapping, fmt::format("`{}` ends with neither =+ nor =-", without_blanks(entry)));
    const std::string_view values = entry.substr(0, equals);
    for (std::size_t at = 0; at <= values.size();) {
      const std::size_t comma = std::min(values.find(',', at), values.size());
      const std::string_view value = without_blanks(values.substr(at, comma - at));
      at = comma + 1;
      if (value.empty()) bad_mapping(mapping, fmt::format("a value is missing in `{}`", without_blanks(entry)));
      if (value.ends_with("=+") || value.ends_with("=-"))
        bad_mapping(mapping, fmt::format("a comma stands behind `{}`, where a semicolon belongs", value));
      if (std::ranges::any_of(mapped_, [&](const auto& other) { return other.first == value; }))
        bad_mapping(mapping, fmt::format("`{}` is given twice", value));
      mapped_.emplace_back(value, *inserts);
    }
  }
}

std::optional<bool> Operations::read(std::string_view value, bool flag) const noexcept {
  for (const auto& [text, inserts] : mapped_) {
    if (text == value) return inserts;
  }
  if (flag) return usual_flag(value);
  if (value.size() == 1) {  // by far the most frequent
    if (value[0] == '+') return true;
    if (value[0] == '-') return false;
  }
  return usual_operation(value);
}

std::string Operations::refusal(std::string_view column, std::string_view value, bool flag) const {
  if (const std::string_view debezium = flag ? std::string_view() : debezium_refusal(value); !debezium.empty())
    return fmt::format("{} {} {}", column, in_ticks(value), debezium);
  // The value as a mapping writes it. What it seems to say comes first.
  constexpr std::size_t longest = 64;
  const bool can_be_mapped = !value.empty() && value.size() <= longest && value.find_first_of(",;='") == std::string_view::npos;
  const std::string_view word = can_be_mapped ? value : "VALUE";
  const std::string known = mapping_.empty() ? std::string() : mapping_ + ";";
  if (!flag && is_one(value) && !is_sql_server_operation(column)) {
    const bool has_minus = std::ranges::any_of(mapped_, [](const auto& other) { return other.first == "-1"; });
    const bool has_plus = std::ranges::any_of(mapped_, [](const auto& other) { return other.first == "1"; });
    const std::string plus = value == "-1" ? has_plus ? "" : "1=+;" : fmt::format("{}=+", value);
    const std::string_view minus = value == "-1" ? "-1=-" : has_minus ? "" : ";-1=-";
    std::string text = fmt::format("{} {} is unknown; if it is a sign, map it with {}", column, in_ticks(value),
                                   spelling_("op-values", fmt::format("'{}{}{}'", known, plus, minus)));
    if (is_change_sign(column)) {  // edges of networks have signs too
      text += fmt::format("; if it says no operation, leave it out with {}",
                          spell_columns(spelling_, with_column(columns_, "op=")));
    }
    return text;
  }
  const bool inserts = flag ? usual_operation(value).value_or(false) : read_state(value).value_or(false);
  return fmt::format("{} {} is unknown: {}; map it with {} ({}) or {}={} ({})", column, in_ticks(value),
                     flag ? "true deletes, false inserts"
                          : "+, insert, create, update, upsert, read, c, r, u and i insert, -, delete, remove and d delete",
                     spelling_("op-values", fmt::format("'{}{}={}'", known, word, inserts ? '+' : '-')),
                     inserts ? "inserts" : "deletes", word, inserts ? '-' : '+', inserts ? "deletes" : "inserts");
}

std::string Operations::contradiction(std::string_view column, std::string_view value, std::string_view flag,
                                      std::string_view flag_value) const {
  return fmt::format("{} {} and {} {} contradict each other; {} reads the one alone", column, in_ticks(value), flag,
                     in_ticks(flag_value), spell_columns(spelling_, fmt::format("op={}", column)));
}

std::string_view debezium_refusal(std::string_view value) noexcept {
  if (same_letters(value, "t") || same_letters(value, "truncate")) {
    return "says that a table was emptied (Debezium's truncate) and names no row: set skipped.operations to t at the "
           "connector, "
           "and delete the rows one by one";
  }
  if (same_letters(value, "m") || same_letters(value, "message")) {
    return "is a message of the database's log (Debezium's message) and no row: leave such events out, e.g. with "
           "message.prefix.exclude.list at the connector";
  }
  return {};
}

}  // namespace deltamatch::ingest
