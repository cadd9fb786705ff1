// Reads ids and times from text fields.
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

/// Reads an optional sign and decimal digits, nothing else.
NumberFault parse_integer(std::string_view text, std::int64_t& value) noexcept;

/// missing: a word that other programs write if there is no value, such as NULL.
enum class IdFault : std::uint8_t { none, empty, not_an_integer, out_of_range, control_character, missing };

/// Says what is wrong. It follows the field's text in a message.
[[nodiscard]] std::string_view fault_text(IdFault fault) noexcept;

/// Whether a text stands for a missing value: NULL, NaN or None in any case, or \N.
[[nodiscard]] bool is_missing_value(std::string_view text) noexcept;

/// Whether an id that is a text may stand for a missing one: `N/A`, `nil`, `(null)`, `-` and the like.
[[nodiscard]] bool may_stand_for_none(std::string_view text) noexcept;

/// Reads an id as IdKind says. A string id is a view of `text`.
IdFault parse_id(std::string_view text, IdKind kind, Id& id) noexcept;

/// Whether an id is an integer, or a text that spells one.
[[nodiscard]] bool is_numeric(const Id& id) noexcept;

/// Reads times by `format`. Without a format, it reads numbers and ISO-8601.
/// - Numbers are in `unit`, with or without a fraction. What is finer than a microsecond is dropped.
/// - ISO-8601 is a date, or date and time joined by T or a blank, with Z, an offset or no zone (UTC).
class TimeReader {
 public:
  /// `doubts` must outlive the reader; null: there is none. It gets each number that is read as a time. Give it only if nobody
  /// has stated the unit. Throws Error(usage) if the format has an unknown field.
  TimeReader(TimeUnit unit, std::string format, Doubts* doubts = nullptr);
  /// Returns nothing if the text is not a time, or its time is beyond 64 bits.
  [[nodiscard]] std::optional<Timestamp> read(std::string_view text) const noexcept;

 private:
  Timestamp unit_;  // in microseconds
  std::string format_;
  Doubts* doubts_;
};

/// The text in backticks, cut to `longest` bytes. Bytes that are not printable ASCII become \xHH.
[[nodiscard]] std::string in_ticks(std::string_view text, std::size_t longest = 48);

/// Whether two ASCII texts are equal except for case.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b) noexcept;

/// The text without blanks and tabs at its ends.
[[nodiscard]] constexpr std::string_view without_blanks(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace deltamatch::ingest
