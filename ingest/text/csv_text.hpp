// Text of CSV, appended to a buffer.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// A cell, quoted where it has to be.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace deltamatch::ingest
