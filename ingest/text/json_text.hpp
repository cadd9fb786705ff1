// Appends numbers, ids and JSON strings to a buffer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

/// Decimal digits.
void append_number(std::string& out, std::int64_t number);
void append_number(std::string& out, std::uint64_t number);

/// A JSON string with its quotes. Each byte that is not part of valid UTF-8 becomes one of \udc80 to \udcff, as in Python's
/// surrogateescape. Valid UTF-8 holds no surrogates, so different texts always give different strings.
void append_json_string(std::string& out, std::string_view text);

/// A JSON number or string.
void append_json_id(std::string& out, const Id& id);

}  // namespace deltamatch::ingest
