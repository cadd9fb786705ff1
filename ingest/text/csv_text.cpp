#include "ingest/text/csv_text.hpp"

namespace deltamatch::ingest {

void append_csv_cell(std::string& out, std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace deltamatch::ingest
