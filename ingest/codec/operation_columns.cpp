#include "ingest/codec/operation_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

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

/// The year of a date such as `2024-01-02`.
std::optional<int> year_of(std::string_view value) noexcept {
  constexpr std::size_t digits = 4;
  if (value.size() < digits + 2 || (value[digits] != '-' && value[digits] != '/')) return std::nullopt;
  int year = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + digits, year);
  return code == std::errc() && end == value.data() + digits ? std::optional(year) : std::nullopt;
}

/// Whether a date lies so far ahead that it stands for none: 2099-12-31, 4712-12-31.
bool is_far_ahead(std::string_view value) noexcept {
  constexpr int far = 2099;
  return year_of(value).value_or(0) >= far;
}

/// Whether a value in a column of times says that there is none. Some programs write the end of the calendar.
bool is_no_time(std::string_view value) noexcept {
  return value.empty() || value == "0" || is_missing_value(value) || same_letters(value, "false") ||
         same_letters(value, "infinity") || value.starts_with("9999") || value.ends_with("/9999") || value.ends_with(".9999") ||
         is_far_ahead(value);
}

/// Whether a column is one in which SAP writes the kind of a change. N, A or nothing inserts. D, R and X take a row back.
bool is_record_mode(std::string_view column) noexcept {
  return is_called(column, std::to_array<std::string_view>({"recordmode", "0recordmode", "rocancel"}));
}

/// Whether a column is the type of an entry in a journal of Db2. PT puts, DL deletes. UB and UP are the row before and after.
bool is_entry_type(std::string_view column) noexcept {
  return is_called(column, std::to_array<std::string_view>({"enttyp", "joentt"}));
}

/// Whether a value counts up or down in a column that says changes by its name: 1 and -1 then may insert and delete. In a
/// column called `change` words may stand too.
bool is_signed(std::string_view column, std::string_view value) noexcept {
  if (is_change_sign(column)) return true;
  return value.find_first_of("0123456789") != std::string_view::npos &&
         value.find_first_not_of("+-.,0123456789") == value.npos &&
         is_called(column, std::to_array<std::string_view>({"change"}));
}

/// Whether a value such as `x` or a date marks a row in a column that is empty in others.
bool is_mark(std::string_view value) noexcept {
  constexpr std::string_view check = "\xe2\x9c\x93";
  return same_letters(value, "x") || value == "*" || value == check || year_of(value).has_value();
}

/// Whether a column is a flag that is true once the edge is gone, and that `op=` does not read as a flag.
bool is_end_flag(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "voided",     "isvoided",   "isvoid",       "cancelled", "canceled",    "iscancelled", "iscanceled",   "expired",
      "isexpired",  "terminated", "isterminated", "revoked",   "isrevoked",   "inactive",    "isinactive",   "archived",
      "isarchived", "disabled",   "isdisabled",   "retracted", "isretracted", "obsolete",    "isobsolete",   "closed",
      "isclosed",   "dropped",    "isdropped",    "isended",   "isgone",      "unfollowed",  "discontinued", "erased",
  });
  return is_called(column, names);
}

/// Whether a column is a flag that is true as long as the edge is there.
bool is_life_flag(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "fivetranactive", "active",    "isactive",    "activeflag",   "iscurrent",  "currentflag",   "iscurrentrow",
      "currentrow",     "isvalid",   "isenabled",   "enabled",      "islive",     "isalive",       "alive",
      "rowactive",      "islatest",  "isopen",      "recordactive", "isexisting", "currentrecord", "dbtiscurrent",
      "validflag",      "exists",    "present",     "live",         "connected",  "isfriend",      "current",
      "valid",          "ispresent", "isconnected",
  });
  return is_called(column, names);
}

/// Whether a column holds marks for a row that is gone.
bool holds_marks(std::string_view column, std::string_view value) noexcept {
  const bool sap = same_letters(value, "l") && is_called(column, std::to_array<std::string_view>({"loekz"}));
  return sap || ((is_end_flag(column) || is_deletion_flag(column)) && is_mark(value));
}

bool is_any_flag(std::string_view column) noexcept {
  return is_deletion_flag(column) || is_end_flag(column) || is_life_flag(column);
}

/// The values of a flag that belong together, as `op-values` maps them, in the case of the value: `TRUE=+;FALSE=-`.
std::string mapping_of_flag(std::string_view no) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> pairs = {
      {{"false", "true"}, {"f", "t"}, {"no", "yes"}, {"n", "y"}, {"0", "1"}}};
  std::string yes;
  for (const auto& [less, more] : pairs) {
    if (same_letters(less, no)) yes = more;
  }
  const auto is_capital = [&](std::size_t at) {
    return at < no.size() && std::isupper(static_cast<unsigned char>(no[at])) != 0;
  };
  for (std::size_t at = 0; at < yes.size(); ++at) {
    if (is_capital(at == 0 || no.size() == 1 ? 0 : 1))
      yes[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(yes[at])));
  }
  return fmt::format("{}=+;{}=-", yes, no);
}

bool can_be_mapped(std::string_view value) noexcept { return value.find_first_of(",;='") == std::string_view::npos; }

/// The two numbers of a sign, with the plus sign that insertions have.
std::string mapping_of_sign(std::string_view insertions) { return insertions == "+1" ? "+1=+;-1=-" : "1=+;-1=-"; }

}  // namespace

bool is_change_sign(std::string_view column) noexcept {
  return is_called(column, std::to_array<std::string_view>({"sign", "diff", "mzdiff", "delta"}));
}

bool may_count(std::string_view column, std::string_view value) noexcept {
  if (is_signed(column, value) || value == "0") return true;
  return value == "1" && is_called(column, std::to_array<std::string_view>({"del", "gone"}));
}

bool adds_with_letter(std::string_view column) noexcept {
  return is_called(column, std::to_array<std::string_view>({"action", "recordstatus"}));
}

bool is_one(std::string_view value) noexcept { return value == "1" || value == "+1" || value == "-1"; }

bool is_free_text(std::string_view column, std::string_view value) noexcept {
  constexpr auto names = std::to_array<std::string_view>(
      {"comment", "comments", "note", "notes", "description", "message", "remark", "remarks", "text"});
  constexpr std::ptrdiff_t most_blanks = 2;
  return is_called(column, names) || std::ranges::count(value, ' ') > most_blanks;
}

bool is_end_in_some_rows(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>(
      {"endedat", "enddate", "leftat", "unfollowedat", "unfriendedat", "disconnectedat", "endedon", "dateended"});
  return is_called(column, names);
}

bool is_deletion_flag(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "deleted",   "isdeleted", "fivetrandeleted", "hoodieisdeleted", "softdeleted",       "issoftdeleted", "removed",
      "isremoved", "tombstone", "istombstone",     "peerdbisdeleted", "hevomarkeddeleted", "markeddeleted", "snowflakedeleted",
      "xdeleted",  "delflag",   "deleteflag",      "deletedflag",     "deletionflag",      "delflg",        "loekz",
      "del",       "gone",
  });
  return is_called(column, names);
}

bool is_deletion_time(std::string_view column) noexcept {
  constexpr auto names = std::to_array<std::string_view>({
      "deletedat",    "sdcdeletedat", "abcdcdeletedat", "removedat",   "deletedon",     "removedon",      "deletiontime",
      "deletiondate", "deletedtime",  "deleteddate",    "datedeleted", "timedeleted",   "voidedat",       "cancelledat",
      "canceledat",   "revokedat",    "terminatedat",   "expiredat",   "closedat",      "archivedat",     "disabledat",
      "validto",      "dbtvalidto",   "validuntil",     "validtill",   "effectiveto",   "effectiveuntil", "effectiveenddate",
      "effectiveend", "fivetranend",  "sysendtime",     "rowendtime",  "recordenddate",
  });
  return is_called(column, names);
}

bool is_sql_server_operation(std::string_view column) noexcept { return column == "__$operation"; }

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
      "op",
      "opcode",
      "kind",
      "syschangeoperation",
      "versionsoperation",
      "dmlflag",
      "dmsop",
      "transactop",
      "iud",
      "recordmetadataop",
      "odqchangemode",
      "recordstatus",
  });
  return is_called(column, names) || is_change_sign(column) || is_record_mode(column) || is_entry_type(column) ||
         is_end_in_some_rows(column) || is_deletion_flag(column) || is_end_flag(column) || is_life_flag(column) ||
         is_deletion_time(column);
}

bool is_metadata(std::string_view name) noexcept {
  constexpr auto names =
      std::to_array<std::string_view>({"metadata", "_metadata", "__metadata", "meta", "_meta", "__meta", "header", "headers"});
  return std::ranges::any_of(names, [&](std::string_view known) { return same_letters(known, name); });
}

bool is_operation_in_metadata(std::string_view name) noexcept {
  constexpr auto names = std::to_array<std::string_view>({"op", "operation", "operationname", "operationtype", "optype",
                                                          "changetype", "changeoperation", "changeoper", "action", "rowkind",
                                                          "cdcoperation", "dmltype", "deleted", "isdeleted"});
  return is_called(name, names);
}

bool counts_something(std::string_view column, std::string_view value) noexcept {
  if (value.empty()) return false;
  if (is_signed(column, value)) return !is_one(value) && !is_missing_value(value);
  return is_any_flag(column) && !usual_flag(value) && !holds_marks(column, value) && !is_missing_value(value) &&
         !read_state(value);
}

bool says_removal(std::string_view column, std::string_view value) noexcept {
  if (is_signed(column, value)) return value == "-1";
  if (is_record_mode(column)) return value == "D" || value == "R" || value == "X";
  if (is_entry_type(column)) return value == "DL" || value == "UB";
  if (is_deletion_time(column) || is_end_in_some_rows(column)) return !is_no_time(value);
  if (holds_marks(column, value)) return !is_far_ahead(value);
  if (is_life_flag(column))
    return usual_flag(value) == true || read_state(value) == false;  // `false` keeps an edge in a deletion flag
  if (is_deletion_flag(column) || is_end_flag(column)) {
    const bool is_count = value == "1" && is_called(column, std::to_array<std::string_view>({"removed", "closed", "expired"}));
    return usual_flag(value) == false && !is_count;
  }
  if (is_sql_server_operation(column) && value == "1") return true;
  if (is_free_text(column, value)) return false;
  const bool is_kind = is_called(column, std::to_array<std::string_view>({"kind"}));  // of an edge, such as left
  return (is_kind ? read_words(value) : read_state(value)) == false;
}

bool needs_mapping(std::string_view column, std::string_view value) noexcept {
  if (is_signed(column, value)) return is_one(value) && value != "-1";
  if (is_record_mode(column) || is_entry_type(column)) return false;  // the remedy maps them all
  return !is_any_flag(column) && !usual_operation(value) && read_state(value) == true && can_be_mapped(value);
}

std::string remedy_of_operation(const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                                std::string_view value, std::string_view insertions) {
  const bool dated = (is_deletion_flag(name) || is_end_flag(name)) && year_of(value);
  if (is_deletion_time(name) || is_end_in_some_rows(name) || dated)
    return "leave such records out, or give them a column op that says delete";
  const auto as = [&](std::string_view role) {
    return spell_columns(spelling, with_column(columns, fmt::format("{}={}", role, name)));
  };
  const auto with_values = [&](std::string_view values) {
    return fmt::format("{} and {} read it", as("op"), spell(spelling, "op-values", values));
  };
  if (is_sql_server_operation(name)) return with_values("1,3=-;2,4=+");
  if (is_life_flag(name) && usual_flag(value)) return with_values(mapping_of_flag(value));
  if (is_signed(name, value)) return with_values(mapping_of_sign(insertions));
  if (is_entry_type(name)) return with_values("PT,PX,UP=+;DL,UB=-");
  if (is_record_mode(name))
    return fmt::format("{} and {} read it", as("deleted"), spell(spelling, "op-values", "N,A=+;D,R,X=-"));
  if (holds_marks(name, value))
    return fmt::format("{} and {} read it", as("deleted"), spell(spelling, "op-values", fmt::format("{}=-", value)));
  if (is_end_flag(name)) return fmt::format("{} reads it", as("deleted"));
  const bool known = is_deletion_flag(name) || usual_operation(value) == false;
  if (known && !insertions.empty()) return with_values(fmt::format("{}=+", insertions));
  if (known || !can_be_mapped(value)) return fmt::format("{} reads it", as("op"));
  return with_values(insertions.empty() ? fmt::format("{}=-", value) : fmt::format("{}=+;{}=-", insertions, value));
}

}  // namespace deltamatch::ingest
