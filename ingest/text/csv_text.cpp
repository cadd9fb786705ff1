#include "ingest/text/csv_text.hpp"

namespace deltamatch::ingest {

void append_csv_cell(std::string& out, std::string_view text) {
  if (text.find_first_of("\",;\r\n") == std::string_view::npos) {
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

void append_csv_text(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += R"("")";
  } else if (std::string_view("=+-@'\t\r\n").find(text.front()) != std::string_view::npos) {
    append_csv_cell(out, "'" + std::string(text));
  } else {
    append_csv_cell(out, text);
  }
}

}  // namespace deltamatch::ingest
