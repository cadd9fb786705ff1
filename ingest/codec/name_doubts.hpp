// Ids and labels that are probably no names: words for a missing value, parts of a printed table, characters that nobody sees.
#pragma once

#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Names the first character of a text that looks like a blank or like nothing, such as a no-break space or a byte order mark.
/// Empty if there is none. Characters that join letters count only at the ends.
[[nodiscard]] std::string_view invisible_in(std::string_view text) noexcept;

/// Whether an id is a part of a printed table that was left out or drawn: `...`, `------`, `=====`.
[[nodiscard]] bool is_rule(std::string_view text) noexcept;
/// Whether an id is the name of a sum below a table: `Total`, `Grand total`, `Sum`, `Subtotal`.
[[nodiscard]] bool is_total(std::string_view text) noexcept;
/// Whether is_rule() or is_total() may hold, by the first character and the length. Most names are ruled out.
[[nodiscard]] bool may_be_of_table(std::string_view text) noexcept;

/// Whether a label is a word for a missing one: NULL, NaN, None, \N, (null) or <NA>, in any case.
[[nodiscard]] bool is_missing_label(std::string_view label) noexcept;
/// Whether doubt_label() has to look at a label, by its first and last characters. O(1).
[[nodiscard]] inline bool may_be_odd_label(std::string_view label) noexcept {
  constexpr std::size_t longest = 11;  // of a word for a missing label, in brackets
  if (label.empty()) return false;
  const auto first = static_cast<unsigned char>(label.front());
  const auto last = static_cast<unsigned char>(label.back());
  if (((first | last) & 0x80) != 0) return true;
  // The letters N and n, and the signs \ ( <
  return label.size() <= longest && ((first | 0x20) == 'n' || first == '\\' || first == '(' || first == '<');
}

/// Whether an id may hold several addresses: it has two signs @. O(length), for long ids alone.
[[nodiscard]] inline bool may_be_addresses(std::string_view id) noexcept {
  constexpr std::size_t shortest = 11;  // a@b.c,d@e.f
  if (id.size() < shortest) return false;
  const std::size_t first = id.find('@');
  return first != std::string_view::npos && id.find('@', first + 1) != std::string_view::npos;
}
/// Reports an id that is a list of addresses: `a@x.com, b@x.com`.
void doubt_addresses(Doubts& doubts, std::string_view role, std::string_view id);

/// Reports an id with such a character. `role` is the name of the column. `json`: the character may be written as an escape.
void doubt_invisible(Doubts& doubts, std::string_view role, std::string_view id, bool json = false);
/// Reports an id that is a part of a table.
void doubt_table(Doubts& doubts, std::string_view role, std::string_view id, bool may_be_sum);
/// Reports a label that is a word for a missing one, or has characters at its ends that nobody sees. `quotes`: quotes around
/// the word make it a label.
void doubt_label(Doubts& doubts, std::string_view role, std::string_view label, bool quotes, bool json = false);

}  // namespace deltamatch::ingest
