// Appends CSV text to a buffer.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Appends a cell, quoted if necessary for the separators , and ;.
void append_csv_cell(std::string& out, std::string_view text);

/// Appends a text for a spreadsheet. A spreadsheet takes a cell that begins with = + - or @ for a formula, also after a tab or
/// a line end. Such a text gets ' before it, and so does one that begins with '. Whoever removes the first ' of a cell that
/// begins with ' has the text again. The empty text is quoted: "".
void append_csv_text(std::string& out, std::string_view text);

}  // namespace deltamatch::ingest
