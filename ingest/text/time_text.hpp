// Appends times to a buffer.
#pragma once

#include <string>

#include "deltamatch/id.hpp"

namespace deltamatch::ingest {

/// Appends a time in ISO 8601, in UTC: 2026-01-31T10:00:00Z. Six digits of a second follow if it is not a whole one:
/// 2026-01-31T10:00:00.500000Z. Years outside 0 to 9999 have a sign and six digits, as in ECMAScript.
void append_iso_time(std::string& out, Timestamp time);

/// Appends a time in UTC as spreadsheets of all countries read it: 2026-01-31 10:00:00. Milliseconds follow behind `decimal` if
/// there are any.
void append_sheet_time(std::string& out, Timestamp time, char decimal);

}  // namespace deltamatch::ingest
