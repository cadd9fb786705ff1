// Text of numbers, ids and JSON strings, appended to a buffer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

/// Decimal digits.
void append_number(std::string& out, std::int64_t number);
void append_number(std::string& out, std::uint64_t number);

/// A JSON string with its quotes. Bytes that are not part of valid UTF-8 become \udc80 to \udcff, one each, as in Python's
/// surrogateescape; valid UTF-8 holds no surrogates, so no two texts come out the same.
void append_json_string(std::string& out, std::string_view text);

/// A JSON number or string.
void append_json_id(std::string& out, const Id& id);

}  // namespace deltamatch::ingest
