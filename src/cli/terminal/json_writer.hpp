// Writes one JSON value, key by key in the order of the calls. nlohmann's object model does not fit: counts of matches have up
// to 128 bits, and every number must be written in full digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/count.hpp"

namespace deltamatch::cli {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& number(Count value);
  JsonWriter& boolean(bool value);
  /// Writes a text that is a JSON value already.
  JsonWriter& json(std::string_view text) { return value(text); }
  /// Writes the fewest digits that read back as the same number.
  JsonWriter& real(double value);
  JsonWriter& null() { return value("null"); }
  /// Seconds, to the microsecond, without an exponent.
  JsonWriter& seconds(double value);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& value(std::string_view raw);
  void separate();

  std::string text_;
  bool first_ = true;  ///< the next value is the first of its object or array, or follows its key
};

}  // namespace deltamatch::cli
