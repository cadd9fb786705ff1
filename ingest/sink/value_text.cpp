#include "ingest/sink/value_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <variant>

#include "deltamatch/value_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = AttributeType::Kind;

void append_real(std::string& out, double number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

struct ValueWriter {
  std::string& out;
  const AttributeType& type;
  TimeForm times;

  void operator()(std::monostate /*null*/) const {}
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(double value) const { append_real(out, value); }
  void operator()(std::string_view value) const { out += value; }
  void operator()(std::int64_t value) const {
    if (type.kind == Kind::decimal) {
      out += decimal_text(value, type.scale);
    } else if (type.kind == Kind::time) {
      append_time_text(out, value, times);
    } else {
      append_number(out, value);
    }
  }
};

}  // namespace

void append_time_text(std::string& out, Timestamp time, TimeForm times) {
  if (times == TimeForm::iso)
    out += time_text(time);
  else
    append_number(out, time);
}

void append_time_json(std::string& out, Timestamp time, TimeForm times) {
  const bool quoted = times == TimeForm::iso;
  if (quoted) out += '"';
  append_time_text(out, time, times);
  if (quoted) out += '"';
}

void append_value_text(std::string& out, const AttributeType& type, const AttributeValue& value, TimeForm times) {
  std::visit(ValueWriter{out, type, times}, value);
}

void append_value_json(std::string& out, const AttributeType& type, const AttributeValue& value, TimeForm times) {
  if (const auto* symbol = std::get_if<std::string_view>(&value)) return append_json_string(out, *symbol);
  const bool quoted = type.kind == Kind::decimal || (type.kind == Kind::time && times == TimeForm::iso);
  if (quoted) out += '"';
  append_value_text(out, type, value, times);
  if (quoted) out += '"';
}

}  // namespace deltamatch::ingest
