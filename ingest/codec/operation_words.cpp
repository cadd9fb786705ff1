#include "ingest/codec/operation_words.hpp"

#include <algorithm>

namespace deltamatch::ingest {
namespace {

// A value longer than the longest of these words is not looked up.
constexpr auto words = std::to_array<OperationWord>({
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

constexpr auto flag_words = std::to_array<OperationWord>({
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

// Words that are not read as operations.
constexpr auto other_words = std::to_array<OperationWord>({
    {"expire", false},       {"expired", false},    {"drop", false},        {"dropped", false},      {"destroy", false},
    {"destroyed", false},    {"revoke", false},     {"revoked", false},     {"erase", false},        {"erased", false},
    {"unfollow", false},     {"unfollowed", false}, {"unfriend", false},    {"unfriended", false},   {"disconnect", false},
    {"disconnected", false}, {"cancel", false},     {"cancelled", false},   {"canceled", false},     {"unlink", false},
    {"unlinked", false},     {"detach", false},     {"detached", false},    {"close", false},        {"closed", false},
    {"terminate", false},    {"terminated", false}, {"unsubscribe", false}, {"unsubscribed", false}, {"deactivate", false},
    {"deactivated", false},  {"disable", false},    {"disabled", false},    {"purge", false},        {"purged", false},
    {"retract", false},      {"retracted", false},  {"withdrawn", false},   {"voided", false},       {"unassign", false},
    {"unassigned", false},   {"invalidate", false}, {"invalidated", false}, {"deletion", false},     {"removal", false},
    {"follow", true},        {"followed", true},    {"friend", true},       {"friended", true},      {"connect", true},
    {"connected", true},     {"grant", true},       {"granted", true},      {"link", true},          {"linked", true},
    {"attach", true},        {"attached", true},    {"subscribe", true},    {"subscribed", true},    {"modify", true},
    {"modified", true},      {"activate", true},    {"activated", true},    {"active", true},        {"enable", true},
    {"enabled", true},       {"assign", true},      {"assigned", true},     {"insertion", true},     {"creation", true},
    {"open", true},          {"opened", true},      {"renew", true},        {"renewed", true},       {"established", true},
    {"revert", false},       {"reverted", false},   {"undone", false},
});
constexpr std::size_t longest_word = 16;

// These say the state of an edge only in a column about it.
constexpr auto states = std::to_array<OperationWord>({
    {"down", false},     {"leave", false},   {"left", false},     {"off", false},    {"end", false},    {"ended", false},
    {"stop", false},     {"stopped", false}, {"exit", false},     {"exited", false}, {"gone", false},   {"lost", false},
    {"inactive", false}, {"void", false},    {"archived", false}, {"quit", false},   {"logout", false}, {"offline", false},
    {"rejected", false}, {"dead", false},    {"join", true},      {"joined", true},  {"up", true},      {"on", true},
    {"online", true},    {"start", true},    {"started", true},   {"begin", true},   {"enter", true},   {"entered", true},
    {"login", true},     {"alive", true},    {"live", true},      {"current", true}, {"new", true},     {"accepted", true},
});

template <std::size_t size>
std::optional<bool> look_up(const std::array<OperationWord, size>& known, std::string_view value) noexcept {
  const auto* const found =
      std::find_if(known.begin(), known.end(), [&](const OperationWord& word) { return same_letters(word.text, value); });
  return found == known.end() ? std::nullopt : std::optional(found->inserts);
}

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) noexcept { return is_lower(c) || is_upper(c); }

/// Takes the next word off the front: letters up to another character, or up to a capital behind a small letter. `DBDelete` is
/// DB and Delete. Empty at the end.
std::string_view take_word(std::string_view& text) noexcept {
  while (!text.empty() && !is_letter(text.front())) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && is_letter(text[end])) {
    const bool after_small = end != 0 && is_upper(text[end]) && is_lower(text[end - 1]);
    const bool before_small = end != 0 && is_upper(text[end]) && end + 1 < text.size() && is_lower(text[end + 1]);
    if (after_small || before_small) break;
    ++end;
  }
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool negates(std::string_view word) noexcept {
  constexpr auto negations = std::to_array<std::string_view>({"not", "un", "no", "non", "never"});
  return std::ranges::any_of(negations, [&](std::string_view negation) { return same_letters(negation, word); });
}

}  // namespace

std::optional<bool> usual_operation(std::string_view value) noexcept {
  return value.size() > longest_usual_operation ? std::nullopt : look_up(words, value);
}

std::optional<bool> usual_flag(std::string_view value) noexcept { return look_up(flag_words, value); }

std::optional<bool> read_word(std::string_view value) noexcept {
  constexpr std::size_t shortest = 3;
  const bool of_changelog = value.size() == 2 && (value[0] == '+' || value[0] == '-');
  if ((value.size() < shortest && !of_changelog) || value.size() > longest_word) return std::nullopt;
  const std::optional<bool> known = look_up(words, value);
  return known ? known : look_up(other_words, value);
}

std::optional<bool> read_words(std::string_view value) noexcept {
  constexpr std::size_t longest = 48;
  if (const std::optional<bool> whole = read_word(value); whole || value.size() > longest) return whole;
  std::optional<bool> said;
  bool negated = false;
  bool undone = false;
  std::string_view last;
  for (std::string_view word = take_word(value); !word.empty(); word = take_word(value)) {
    if (same_letters(last, "no") && same_letters(word, "longer")) return false;
    const std::optional<bool> inserts = read_word(word);
    if (inserts && !negated) said = said.value_or(true) && *inserts;
    undone = undone || same_letters(word, "undo");
    negated = negates(word);
    last = word;
  }
  if (!undone) return said;
  return said == false ? std::nullopt : std::optional(false);  // what undoes a removal says nothing here
}

std::optional<bool> read_state(std::string_view value) noexcept {
  constexpr std::size_t longest = 48;
  if (value.size() > longest) return std::nullopt;
  if (const std::optional<bool> usual = usual_operation(value)) return usual;
  const std::optional<bool> words = read_words(value);
  if (words == false) return words;
  std::string_view last;
  std::string_view before;
  for (std::string_view word = take_word(value); !word.empty(); word = take_word(value)) {
    before = last;
    last = word;
  }
  const std::optional<bool> state = negates(before) ? std::nullopt : look_up(states, last);
  return state ? state : words;
}

bool is_http_verb(std::string_view value) noexcept {
  constexpr auto verbs = std::to_array<std::string_view>({"get", "post", "put", "patch", "head", "options"});
  return std::ranges::any_of(verbs, [&](std::string_view verb) { return same_letters(verb, value); });
}

}  // namespace deltamatch::ingest
