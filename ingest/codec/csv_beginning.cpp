#include "ingest/codec/csv_beginning.hpp"

#include <algorithm>
#include <memory>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/source/bytes.hpp"

namespace deltamatch::ingest {
namespace {

/// Whether `holds` is true for a cell of a CSV line.
template <class Holds>
bool any_cell(std::string_view line, char separator, Holds holds) {
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    if (holds(csv_cell(line.substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

/// Whether a line is a header with columns for a vertex and its labels.
bool names_vertices(std::string_view line, char separator) {
  const auto names = [&](auto holds) {
    return any_cell(line, separator, [&](std::string_view cell) {
      const auto role = role_by_usual_name(cell);
      return role && holds(*role);
    });
  };
  return names([](Role role) { return role == Role::vertex; }) &&
         names([](Role role) { return role == Role::label || is_label_list(role); });
}

}  // namespace

void complete_csv(CodecOptions& options, std::string_view head) {
  const std::string_view first = first_line(head);
  if (options.separator == 0) options.separator = csv_separator(first);
  if (!options.vertices || !options.columns.empty()) return;
  if (!options.header && names_vertices(first, options.separator)) options.header = true;
  if (!options.header.value_or(false)) options.columns = "vertex,label";
}

bool csv_is_directed(LineSource& lines, const CodecOptions& options) {
  const auto is_type = [](std::string_view cell) { return same_letters(cell, "type"); };
  if (!any_cell(first_line(lines.head()), options.separator, is_type)) return true;
  LineSource beginning(memory_bytes(lines.head(2), lines.name()), lines.max_record());
  CodecOptions alone = options;
  alone.doubts = nullptr;
  const std::unique_ptr<Codec> probe = make_csv_codec(alone);
  beginning.set_quoted_separator(probe->quoted_separator());
  for (Record record; !probe->directed() && beginning.next(record);) {
    if (record.fault == RecordFault::none && !probe->decode(record.bytes).remedy.empty()) break;
  }
  return probe->directed().value_or(true);
}

}  // namespace deltamatch::ingest
