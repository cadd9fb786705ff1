// The text of attributes and times of matches.
#pragma once

#include <string>

#include "deltamatch/attribute.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// Appends 1700000000000000 or 2023-11-14T22:13:20Z.
void append_time_text(std::string& out, Timestamp time, TimeForm times);
/// The same as a JSON value: ISO times are strings.
void append_time_json(std::string& out, Timestamp time, TimeForm times);

/// Appends a value that is not NULL, without quotes. A decimal has exactly its scale's digits. A real has the fewest digits
/// that give it back.
void append_value_text(std::string& out, const AttributeType& type, const AttributeValue& value, TimeForm times);
/// The same as a JSON value. Decimals, symbols and ISO times are strings.
void append_value_json(std::string& out, const AttributeType& type, const AttributeValue& value, TimeForm times);

}  // namespace deltamatch::ingest
