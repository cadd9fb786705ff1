// Writes a decoded record as JSON, for the codec of JSON. Numbers, decimals and times are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

/// The unit of times in a RecordText, in microseconds: 1, 1'000 or 1'000'000.
using TicksOfUnit = Timestamp;

/// A JSON text that is written value by value. Readers of records call it in the order of the record's values.
///
/// A value that JSON cannot say becomes a text: bytes become base64, NaN becomes "NaN". A text with bytes that are no UTF-8 is
/// written as it is, and refused by the codec.
class RecordText {
 public:
  /// `unit`: what numbers that are times count. A time that is finer gets a fraction.
  explicit RecordText(TicksOfUnit unit = 1) : unit_(unit) {}

  /// Begins a record. `longest` limits its text: a record that would be longer is full().
  void clear(std::size_t longest);
  /// Whether the text is longer than its limit. What is written then is incomplete.
  [[nodiscard]] bool full() const noexcept { return text_.size() > longest_; }

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// The name of the next value of an object.
  void name(std::string_view name);
  /// The same, for a name that quoted() has made.
  void quoted_name(std::string_view quoted);
  /// `"name":`
  [[nodiscard]] static std::string quoted(std::string_view name);

  void null() { word("null"); }
  void boolean(bool value) { word(value ? "true" : "false"); }
  void number(std::int64_t value);
  void number(std::uint64_t value);
  /// The text of write_real(): a float or a double of this value reads it.
  void real(float value);
  void real(double value);
  void text(std::string_view value);
  void bytes(std::string_view value);
  /// A number of `digits`, in two's complement with the high byte first, of which `scale` stand behind the point. Beyond 64
  /// bits it is an object of both, which the codec refuses for an attribute.
  void decimal(std::string_view digits, std::int64_t scale);
  void time(Timestamp microseconds);

  /// Ends the record, and returns its text. Record::padding bytes behind it can be read. Valid until the next clear().
  [[nodiscard]] std::string_view padded();

 private:
  void open(char bracket);
  void close(char bracket);
  void word(std::string_view word);
  /// Writes the comma between two values.
  void separate();
  template <class Real>
  void write_real(Real value);

  Timestamp unit_;
  std::string text_;
  std::size_t longest_ = 0;
  bool first_ = true;  // no comma is due
};

}  // namespace deltamatch::ingest
