#include "ingest/codec/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "deltamatch/error.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

struct Word {
  std::string_view text;
  bool inserts;
};

// A value longer than the longest of these words is not looked up.
constexpr auto words = std::to_array<Word>({
    {"+", true},        {"-", false},       {"i", true},
    {"c", true},        {"r", true},        {"u", true},
    {"d", false},       {"insert", true},   {"inserted", true},
    {"create", true},   {"created", true},  {"read", true},
    {"update", true},   {"updated", true},  {"upsert", true},
    {"replace", true},  {"add", true},      {"added", true},
    {"delete", false},  {"deleted", false}, {"remove", false},
    {"removed", false}, {"+i", true},       {"+u", true},
    {"-d", false},      {"-u", false},      {"update_postimage", true},
    {"del", false},     {"ins", true},      {"update_preimage", false},
});
constexpr std::size_t longest_word = 16;

constexpr auto flag_words = std::to_array<Word>({
    {"false", true},
    {"f", true},
    {"no", true},
    {"n", true},
    {"0", true},
    {"true", false},
    {"t", false},
    {"yes", false},
    {"y", false},
    {"1", false},
});

template <std::size_t size>
std::optional<bool> look_up(const std::array<Word, size>& known, std::string_view value) noexcept {
  const auto* const found =
      std::find_if(known.begin(), known.end(), [&](const Word& word) { return same_letters(word.text, value); });
  return found == known.end() ? std::nullopt : std::optional(found->inserts);
}

/// Whether a column has one of these names, which have small letters and digits only. Case and other characters do not matter.
/// Of a path, the last name counts.
template <std::size_t size>
bool is_called(std::string_view column, const std::array<std::string_view, size>& names) noexcept {
  column.remove_prefix(column.rfind('.') + 1);  // npos + 1 = 0
  return std::ranges::any_of(names, [&](std::string_view name) {
    std::size_t at = 0;
    for (const char c : column) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) continue;
      if (at == name.size() || !same_letters({&c, 1}, name.substr(at, 1))) return false;
      ++at;
    }
    return at == name.size();
  });
}

/// Whether a value in a column of times says that there is none. Some programs write the end of the calendar.
bool is_no_time(std::string_view value) noexcept {
  return value.empty() || value == "0" || is_missing_value(value) || same_letters(value, "false") || value.starts_with("9999-");
}

// Words that are not read as operations.
constexpr auto other_words = std::to_array<Word>({
    {"expire", false},    {"expired", false},      {"drop", false},      {"dropped", false},    {"destroy", false},
    {"destroyed", false}, {"revoke", false},       {"revoked", false},   {"erase", false},      {"erased", false},
    {"unfollow", false},  {"unfollowed", false},   {"unfriend", false},  {"disconnect", false}, {"cancel", false},
    {"cancelled", false}, {"canceled", false},     {"unlink", false},    {"detach", false},     {"close", false},
    {"closed", false},    {"disconnected", false}, {"terminate", false}, {"terminated", false}, {"unsubscribe", false},
    {"follow", true},     {"followed", true},      {"friend", true},     {"connect", true},     {"connected", true},
    {"grant", true},      {"granted", true},       {"link", true},       {"attach", true},      {"subscribe", true},
    {"modify", true},     {"modified", true},
});

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

Operations::Operations(std::string_view mapping, OptionSpelling spelling)
    : spelling_(std::move(spelling)), mapping_(without_blanks(mapping)) {
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
  if (flag) return look_up(flag_words, value);
  if (value.size() == 1) {  // by far the most frequent
    if (value[0] == '+') return true;
    if (value[0] == '-') return false;
  }
  return value.size() > longest_word ? std::nullopt : look_up(words, value);
}

std::string Operations::refusal(std::string_view column, std::string_view value, bool flag) const {
  if (const std::string_view debezium = flag ? std::string_view() : debezium_refusal(value); !debezium.empty())
    return fmt::format("{} {} {}", column, in_ticks(value), debezium);
  const std::string known = mapping_.empty() ? std::string() : mapping_ + ";";
  const std::string_view word = value.empty() || value.size() > longest_word ? "VALUE" : value;
  return fmt::format("{} {} is unknown: {}; map it with {} (deletes) or {}=+ (inserts)", column, in_ticks(value),
                     flag ? "true deletes, false inserts"
                          : "+, insert, create, update, upsert, read, c, r, u and i insert, -, delete, remove and d delete",
                     spelling_("op-values", fmt::format("'{}{}=-'", known, word)), word);
}

std::string Operations::contradiction(std::string_view column, std::string_view value, std::string_view flag,
                                      std::string_view flag_value) const {
  return fmt::format("{} {} and {} {} contradict each other; {} reads the one alone", column, in_ticks(value), flag,
                     in_ticks(flag_value), spelling_("columns", fmt::format("op={}", column)));
}

bool is_deletion_flag(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "deleted",
      "isdeleted",
      "fivetrandeleted",
      "hoodieisdeleted",
      "softdeleted",
      "issoftdeleted",
      "removed",
      "isremoved",
      "tombstone",
      "istombstone",
  });
  return is_called(column, names);
}

bool is_deletion_time(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "deletedat",
      "sdcdeletedat",
      "abcdcdeletedat",
      "removedat",
      "deletedon",
      "removedon",
      "deletiontime",
      "deletiondate",
      "deletedtime",
      "deleteddate",
      "datedeleted",
      "timedeleted",
  });
  return is_called(column, names);
}

bool may_say_operation(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "operation",
      "action",
      "event",
      "eventtype",
      "change",
      "changetype",
      "optype",
      "operationtype",
      "actiontype",
      "command",
      "cmd",
      "verb",
      "update",
      "updatetype",
      "status",
      "state",
      "crud",
      "dml",
      "rowkind",
      "rowop",
      "dmltype",
      "dmlop",
      "dmloperation",
      "cdcoperation",
      "cdcop",
      "cdctype",
      "cdcaction",
      "metadataaction",
      "hoodieoperation",
      "ibmsnapoperation",
      "changeoperation",
      "changeoper",
      "headerchangeoper",
      "dtlcapxaction",
      "eventname",
      "operationname",
  });
  return is_called(column, names) || is_deletion_flag(column) || is_deletion_time(column);
}

bool says_removal(std::string_view column, std::string_view value) noexcept {
  if (is_deletion_time(column)) return !is_no_time(value);
  if (is_deletion_flag(column)) {
    const bool may_count = value == "1" && is_called(column, std::array<std::string_view, 1>{"removed"});
    return look_up(flag_words, value) == false && !may_count;
  }
  if (is_sql_server_operation(column) && value == "1") return true;
  return look_up(words, value) == false || look_up(other_words, value) == false;
}

std::optional<bool> read_word(std::string_view value) noexcept {
  constexpr std::size_t shortest = 3;
  const bool of_changelog = value.size() == 2 && (value[0] == '+' || value[0] == '-');
  if (value.size() < shortest && !of_changelog) return std::nullopt;
  const std::optional<bool> known = look_up(words, value);
  return known ? known : look_up(other_words, value);
}

bool is_sql_server_operation(std::string_view column) noexcept { return column == "__$operation"; }

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
