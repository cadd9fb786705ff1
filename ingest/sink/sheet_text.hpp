// Values of matches as people read them: with the decimal sign of their country, and times without letters.
#pragma once

#include <string>

#include "deltamatch/attribute.hpp"

namespace deltamatch::ingest {

/// Appends a time in UTC as spreadsheets of all countries read it: 2026-01-31 10:00:00. Milliseconds follow behind `decimal` if
/// there are any.
void append_sheet_time(std::string& out, Timestamp time, char decimal);

/// Appends a value that is not NULL, without quotes.
void append_sheet_value(std::string& out, const AttributeType& type, const AttributeValue& value, char decimal);

}  // namespace deltamatch::ingest
