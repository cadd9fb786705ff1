// Ids and times out of text fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

enum class NumberFault : std::uint8_t { none, not_a_number, out_of_range };

/// Optional sign and decimal digits, nothing else.
NumberFault parse_integer(std::string_view text, std::int64_t& value) noexcept;

/// missing: a word that other programs write where there is no value, such as NULL.
enum class IdFault : std::uint8_t { none, empty, not_an_integer, out_of_range, control_character, missing };

/// What is wrong, to follow the field's text.
[[nodiscard]] std::string_view fault_text(IdFault fault) noexcept;

/// Whether a text stands for a value that is not there: NULL, NaN or None in any case, or \N.
[[nodiscard]] bool is_missing_value(std::string_view text) noexcept;

/// Reads an id as IdKind says; a string id is a view of `text`.
IdFault parse_id(std::string_view text, IdKind kind, Id& id) noexcept;

/// Reads times: by `format`, or without one numbers in `unit` (with a fraction, of which what is finer than a microsecond is
/// dropped) and ISO-8601: a date, or date and time joined by T or a blank, with Z, an offset or no zone (UTC).
class TimeReader {
 public:
  /// `doubts`, which outlives the reader, is told of every number that was read as a time in a unit that nobody has stated;
  /// null: nobody is. Throws Error(usage) where the format has an unknown field.
  TimeReader(TimeUnit unit, std::string format, Doubts* doubts = nullptr);
  /// Nothing where the text is no time or its time is beyond 64 bits.
  [[nodiscard]] std::optional<Timestamp> read(std::string_view text) const noexcept;

 private:
  Timestamp unit_;  // in microseconds
  std::string format_;
  Doubts* doubts_;
};

/// The text in backticks, cut to `longest` bytes, bytes that are not printable ASCII as \xHH.
[[nodiscard]] std::string in_ticks(std::string_view text, std::size_t longest = 48);

/// Whether two ASCII texts are equal but for case.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b) noexcept;

/// The text less blanks and tabs at its ends.
[[nodiscard]] constexpr std::string_view without_blanks(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace deltamatch::ingest
