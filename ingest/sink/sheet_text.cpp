#include "ingest/sink/sheet_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "deltamatch/value_text.hpp"
#include "ingest/sink/value_text.hpp"

namespace deltamatch::ingest {

void append_sheet_time(std::string& out, Timestamp time, char decimal) {
  std::string text = time_text(time);
  text.pop_back();  // Z
  text[text.find('T')] = ' ';
  if (const std::size_t point = text.find('.'); point != std::string::npos) {
    text[point] = decimal;
    text.resize(point + (text.compare(point + 1, 3, "000") == 0 ? 0 : 4));
  }
  out += text;
}

void append_sheet_value(std::string& out, const AttributeType& type, const AttributeValue& value, char decimal) {
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && type.kind == AttributeType::Kind::time)
    return append_sheet_time(out, *number, decimal);
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  append_value_text(out, type, value, TimeForm::iso);
  if (!std::holds_alternative<std::string_view>(value)) std::replace(out.begin() + begin, out.end(), '.', decimal);
}

}  // namespace deltamatch::ingest
