#include "ingest/codec/header_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {
namespace {

constexpr auto sources = std::to_array<std::string_view>({"source", "src", "from", "sender", "payer", "buyer", "follower",
                                                          "caller", "start", "origin", "head", "subject", "parent", "debtor",
                                                          "originator", "citing", "auftraggeber", "absender"});
constexpr auto targets = std::to_array<std::string_view>(
    {"target", "dst",      "dest",        "to",    "receiver",         "recipient",  "payee",
     "seller", "followee", "callee",      "end",   "destination",      "tail",       "object",
     "child",  "creditor", "beneficiary", "cited", "empf\xc3\xa4nger", "empfaenger", "beg\xc3\xbcnstigter"});
constexpr auto others = std::to_array<std::string_view>(
    {"id",       "ids",     "name",     "node",      "vertex", "user",   "person",    "friend", "author",
     "customer", "account", "acct",     "label",     "type",   "time",   "timestamp", "date",   "weight",
     "value",    "amount",  "relation", "predicate", "edge",   "entity", "title",     "key"});

/// Calls `see` with each part of a name, until it returns true. Returns whether it did.
template <class See>
bool any_part(std::string_view text, See see) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c < 0; };  // of UTF-8, too
  const auto small = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c < 0; };
  for (std::size_t at = 0; at < text.size();) {
    if (!letter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && letter(text[end]) && !(small(text[end - 1]) && !small(text[end]))) ++end;
    if (see(text.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

bool has_part(std::string_view text, std::span<const std::string_view> words) {
  return any_part(text, [&](std::string_view part) {
    return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, part); });
  });
}

/// The only name that fits. Empty if there is none, or `columns` cannot name it.
template <class Fits>
std::string_view only_one(std::span<const std::string_view> names, Fits fits) {
  std::string_view found;
  for (const std::string_view name : names) {
    if (!fits(name)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found.find_first_of(",=") == std::string_view::npos ? found : std::string_view();
}

/// The only name that has one of the words.
std::string_view only_with(std::span<const std::string_view> words, std::span<const std::string_view> names) {
  return only_one(names, [&](std::string_view name) { return has_part(name, words); });
}

}  // namespace

bool is_header_word(std::string_view text) noexcept {
  constexpr std::size_t longest = 40;
  if (text.size() > longest || text.find_first_of("0123456789") != std::string_view::npos) return false;
  return has_part(text, sources) || has_part(text, targets) || has_part(text, others);
}

bool is_operation_field(std::string_view text) noexcept {
  return usual_operation(text) || read_word(text) || same_letters(text, "a");
}

std::string columns_by_position(std::span<const std::string_view> fields) {
  if (fields.size() < 3 || !is_operation_field(fields[0])) return first_two(fields.size());
  const std::string_view next = fields[1];
  const bool dated = next.find_first_of("0123456789") == 0 && next.find_first_of("-:/") != std::string_view::npos;
  const bool timed = fields.size() > 3 && dated;
  // A letter may be a vertex too.
  const std::size_t source = timed ? 2 : 1;
  const bool numbers = is_numeric(Id(fields[source])) && is_numeric(Id(fields[source + 1]));
  if (!read_word(fields[0]) && !numbers) return first_two(fields.size());
  std::string positions = timed ? "op,time,source,target" : "op,source,target";
  for (std::size_t column = source + 2; column < fields.size(); ++column) positions += ",-";
  return positions;
}

std::string likely_column(std::string_view role, std::span<const std::string_view> names) {
  constexpr auto amounts = std::to_array<std::string_view>({"amount", "betrag", "umsatz", "sum", "value"});
  if (role == role_name(Role::source) || role == role_name(Role::target)) {
    const auto ends = columns_of_ends(names);
    return !ends ? std::string() : role == role_name(Role::source) ? ends->first : ends->second;
  }
  if (role == role_name(Role::time)) return std::string(only_one(names, may_be_time));
  const std::string_view own = only_with(std::array{role}, names);
  return std::string(own.empty() && role == amounts[0] ? only_with(amounts, names) : own);
}

std::optional<std::pair<std::string, std::string>> columns_of_ends(std::span<const std::string_view> names) {
  const std::string_view source = only_with(sources, names);
  const std::string_view target = only_with(targets, names);
  if (source.empty() || target.empty() || source == target) return std::nullopt;
  return std::pair{std::string(source), std::string(target)};
}

}  // namespace deltamatch::ingest
