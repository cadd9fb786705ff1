// Reads ids and times from text fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Whether is_missing_value() may hold, by the first character.
[[nodiscard]] constexpr bool may_be_missing(std::string_view text) noexcept {
  return !text.empty() && (text[0] == 'n' || text[0] == 'N' || text[0] == '\\');
}

/// Whether an id that is a text may stand for a missing one: `N/A`, `nil`, `(null)`, `-` and the like.
[[nodiscard]] bool may_stand_for_none(std::string_view text) noexcept;

/// Reads an id as IdKind says. A string id is a view of `text`.
IdFault parse_id(std::string_view text, IdKind kind, Id& id) noexcept;
/// The same. Sets `other` if a string id has bytes that are no ASCII, and leaves it alone otherwise.
IdFault parse_id(std::string_view text, IdKind kind, Id& id, bool& other) noexcept;

/// What kinds of bytes a text has.
struct ByteKinds {
  bool control = false;  ///< below 0x20, or 0x7f
  bool other = false;    ///< above 0x7f: no ASCII
};
[[nodiscard]] ByteKinds byte_kinds(std::string_view text) noexcept;
/// Whether a text has bytes that are no ASCII.
[[nodiscard]] inline bool has_other_bytes(std::string_view text) noexcept {
  std::uint64_t bytes = 0;
  constexpr std::size_t width = sizeof bytes;
  const auto load = [&]<class Word>(std::size_t at, Word word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    bytes |= word;
  };
  if (text.size() >= width) {
    for (std::size_t at = 0; at + width < text.size(); at += width) load(at, std::uint64_t{});
    load(text.size() - width, std::uint64_t{});
  } else if (text.size() >= width / 2) {
    load(0, std::uint32_t{});
    load(text.size() - width / 2, std::uint32_t{});
  } else {
    for (const char c : text) bytes |= static_cast<unsigned char>(c);
  }
  return (bytes & 0x8080'8080'8080'8080) != 0;
}

/// Whether an id is an integer, or a text that spells one.
[[nodiscard]] bool is_numeric(const Id& id) noexcept;

/// Reads times by `format`. Without a format, it reads numbers and ISO-8601.
/// - Numbers are in `unit`, with or without a fraction. What is finer than a microsecond is dropped. Numbers of JSON may have
///   an exponent. Elsewhere a number with one has been shortened by a spreadsheet.
/// - ISO-8601 is a date, or date and time joined by T or a blank, with Z, an offset or no zone (UTC).
class TimeReader {
 public:
  /// `doubts` must outlive the reader; null: there is none. It gets each number that is read as a time. Give it only if nobody
  /// has stated the unit. Throws Error(usage) if the format has an unknown field.
  TimeReader(TimeUnit unit, std::string format, Doubts* doubts = nullptr);
  /// Returns nothing if the text is not a time, or its time is beyond 64 bits. `json`: it is a number of JSON.
  [[nodiscard]] std::optional<Timestamp> read(std::string_view text, bool json = false) const;
  /// What is wrong with a text that is not read. It follows the text in a message.
  [[nodiscard]] std::string_view fault(std::string_view text) const noexcept;

 private:
  Timestamp unit_;  // in microseconds
  std::string format_;
  Doubts* doubts_;
};

/// The text in backticks, cut behind `longest` bytes. What nobody would see, and what is not UTF-8, becomes \xHH.
[[nodiscard]] std::string in_ticks(std::string_view text, std::size_t longest = 48);
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// A word of a command line: in single quotes, unless a shell takes it as it is.
[[nodiscard]] std::string shell_quoted(std::string_view text);

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
