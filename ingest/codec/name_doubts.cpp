#include "ingest/codec/name_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

struct Invisible {
  std::string_view bytes;
  std::string_view name;
  bool within = true;  // also between other characters; others belong there in some scripts
  bool blank = false;  // it looks like a blank; others look like nothing
};

constexpr auto invisible = std::to_array<Invisible>({
    {"\xc2\xa0", "a no-break space", true, true},
    {"\xc2\xad", "a soft hyphen"},
    {"\xe2\x80\x82", "an en space", false, true},
    {"\xe2\x80\x83", "an em space", false, true},
    {"\xe2\x80\x89", "a thin space", false, true},
    {"\xe2\x80\x8b", "a zero-width space"},
    {"\xe2\x80\x8c", "a zero-width non-joiner", false},
    {"\xe2\x80\x8d", "a zero-width joiner", false},
    {"\xe2\x80\x8e", "a direction mark", false},
    {"\xe2\x80\x8f", "a direction mark", false},
    {"\xe2\x80\xaf", "a narrow no-break space", true, true},
    {"\xe2\x81\xa0", "a word joiner"},
    {"\xe3\x80\x80", "an ideographic space", false, true},
    {"\xef\xbb\xbf", "a byte order mark"},
});

/// The command that makes blanks of what looks like blanks, and removes what looks like nothing. Beside quotes blanks would
/// stay. So they are removed there. Characters that belong within words of some scripts are left alone, unless one was found.
std::string command_without(std::string_view found, bool json) {
  std::string blanks;
  std::string nothing;
  for (const Invisible& each : invisible) {
    if (!each.within && each.name != found) continue;
    std::string& pattern = each.blank ? blanks : nothing;
    if (!pattern.empty()) pattern += '|';
    for (const char byte : each.bytes) pattern += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return fmt::format(R"({2}sed -E 's/"({0})+/"/g; s/({0})+"/"/g; s/{0}/ /g; s/{1}//g'{3})", blanks, nothing,
                     json ? "jq -c . FILE | " : "", json ? "" : " FILE");
}

/// Whether a character of the list may begin with the byte.
bool may_begin(char c) noexcept { return c == '\xc2' || c == '\xe2' || c == '\xe3' || c == '\xef'; }

}  // namespace

std::string_view invisible_in(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!may_begin(text[at])) continue;
    const std::string_view rest = text.substr(at);
    for (const Invisible& each : invisible) {
      if (rest.starts_with(each.bytes) && (each.within || at == 0 || rest.size() == each.bytes.size())) return each.name;
    }
  }
  return {};
}

bool is_rule(std::string_view text) noexcept {
  constexpr std::string_view ellipsis = "\xe2\x80\xa6";
  if (text == ellipsis) return true;
  if (text.size() < 2) return false;
  const char first = text.front();
  const bool same = std::ranges::all_of(text, [&](char c) { return c == first; });
  if (first == '.') return same;
  if (text.size() < 3) return false;
  if (same && std::string_view("-=_*~").find(first) != std::string_view::npos) return true;
  return text.find("---") != std::string_view::npos && text.find_first_not_of("-+|:") == std::string_view::npos;
}

bool is_total(std::string_view text) noexcept {
  if (text.ends_with(':')) text.remove_suffix(1);
  constexpr auto words = std::to_array<std::string_view>(
      {"total", "totals", "grand total", "sum", "subtotal", "sub total", "sub-total", "summe", "gesamt", "totale"});
  return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, text); });
}

bool may_be_of_table(std::string_view text) noexcept {
  constexpr std::size_t longest_total = 12;
  switch (text.front()) {
    case '.':
    case '=':
    case '_':
    case '*':
    case '~':
    case '-':
    case '+':
    case '|':
    case ':':
      return text.size() > 1 && std::string_view("._=*~-+|:").find(text[1]) != std::string_view::npos;
    case '\xe2':
      return text.size() == 3;
    case 'T':
    case 't':
      return text.size() <= longest_total && text.size() > 4 && (text[1] == 'o' || text[1] == 'O');
    case 'S':
    case 's':
      return text.size() <= longest_total && text.size() > 2 && (text[1] == 'u' || text[1] == 'U');
    case 'G':
    case 'g':
      return text.size() <= longest_total && text.size() > 5 && (text.substr(1, 1).find_first_of("rReE") == 0);
    default:
      return false;
  }
}

bool is_missing_label(std::string_view label) noexcept {
  if (is_missing_value(label)) return true;
  const bool bracket = label.starts_with('(') || label.starts_with('<');
  return bracket && may_stand_for_none(label);
}

void doubt_addresses(Doubts& doubts, std::string_view role, std::string_view id) {
  const std::size_t between = id.find_first_of(",;", id.find('@'));
  if (between == std::string_view::npos || id.find('@', between) == std::string_view::npos) return;
  if (doubts.again("several_ids")) return;
  doubts.tell(
      "several_ids", fmt::format("{} {} is a list of addresses, but is read as one id", role, in_ticks(id)),
      fmt::format("make a record of each address; {} says that it is one id", doubts.spelling().common("ids", "string")));
}

void doubt_invisible(Doubts& doubts, std::string_view role, std::string_view id, bool json) {
  const std::string_view name = invisible_in(id);
  if (name.empty() || doubts.again("invisible_in_id")) return;
  doubts.tell("invisible_in_id",
              fmt::format("{} {} holds {}; an id that looks the same without it is another vertex", role, in_ticks(id), name),
              fmt::format("remove such characters, e.g. {}; {} says that it is meant", command_without(name, json),
                          doubts.spelling().common("ids", "string")));
}

void doubt_table(Doubts& doubts, std::string_view role, std::string_view id, bool may_be_sum) {
  const std::string is_name = fmt::format("{} says that it is a name", doubts.spelling().common("ids", "string"));
  if (is_rule(id)) {
    if (doubts.again("footer_as_record")) return;
    doubts.tell(
        "footer_as_record",
        fmt::format("{} {} looks like a line that a program draws in a table, but is read as an id", role, in_ticks(id)),
        fmt::format("leave such lines out; {}", is_name));
  } else if (may_be_sum && is_total(id)) {
    doubts.may_be_total(
        fmt::format("{} {} in the last line looks like the name of a sum, but is read as an id", role, in_ticks(id)),
        fmt::format("leave the line out if it is one; {}", is_name));
  }
}

void doubt_label(Doubts& doubts, std::string_view role, std::string_view label, bool quotes, bool json) {
  if (is_missing_label(label)) {
    if (doubts.again("null_as_label")) return;
    doubts.tell("null_as_label",
                fmt::format("{} {} may mean \"missing\", but is read as the text of the label", role, in_ticks(label)),
                quotes ? "leave the cell empty if there is no label; quotes around it say that it is a label"
                       : "leave the label out if there is none");
    return;
  }
  const std::string_view name = invisible_in(label);
  if (name.empty() || doubts.again("invisible_in_label")) return;
  doubts.tell(
      "invisible_in_label",
      fmt::format("{} {} holds {}; a label that looks the same without it is another label", role, in_ticks(label), name),
      fmt::format("remove such characters, e.g. {}", command_without(name, json)));
}

}  // namespace deltamatch::ingest
