#include "encoding/attributes.hpp"

namespace deltamatch::encoding {

void append_shape(std::string& shape, std::span<const AttributeValue> row) {
  bool in_run = false;
  for (const AttributeValue& value : row) {
    const bool null = std::holds_alternative<std::monostate>(value);
    if (null && in_run && static_cast<std::uint8_t>(shape.back()) != tag::most_nulls) {
      ++shape.back();
      continue;
    }
    std::uint8_t byte = tag::null;
    if (const auto* boolean = std::get_if<bool>(&value)) byte = *boolean ? tag::yes : tag::no;
    if (std::holds_alternative<std::int64_t>(value)) byte = tag::integer;
    if (std::holds_alternative<double>(value)) byte = tag::real;
    if (std::holds_alternative<std::string_view>(value)) byte = tag::symbol;
    shape.push_back(static_cast<char>(byte));
    in_run = null;
  }
}

bool read_shape(std::string_view shape, std::vector<AttributeValue>& row) {
  row.clear();
  std::uint8_t last = tag::most_nulls;
  for (const char c : shape) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= tag::null) {
      if (last >= tag::null && last != tag::most_nulls) return false;  // it would have been a part of the run before
      row.resize(row.size() + (byte - tag::null) + 1);
    } else if (byte == tag::no || byte == tag::yes) {
      row.emplace_back(byte == tag::yes);
    } else if (byte == tag::integer) {
      row.emplace_back(std::int64_t{0});
    } else if (byte == tag::real) {
      row.emplace_back(0.0);
    } else if (byte == tag::symbol) {
      row.emplace_back(std::string_view());
    } else {
      return false;
    }
    if (row.size() > max_attributes) return false;
    last = byte;
  }
  return !row.empty();
}

}  // namespace deltamatch::encoding
