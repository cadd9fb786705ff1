// Appends CSV text to a buffer.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Appends a cell, quoted if necessary.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace deltamatch::ingest
