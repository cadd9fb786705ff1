#include "ingest/codec/json_layout.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/source/json_source.hpp"

namespace deltamatch::ingest {
namespace {

/// Whether a line is an object, or an array of objects, arrays, texts or numbers. JSON over many lines begins with a bracket
/// alone.
bool is_json(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  if (line[first] == '{') return true;
  if (line[first] != '[') return false;
  const std::size_t inner = line.find_first_not_of(" \t", first + 1);
  return inner == std::string_view::npos || std::string_view("{[]\"-0123456789").find(line[inner]) != std::string_view::npos;
}

/// Whether a line begins JSON that continues in the next lines.
bool begins_value(std::string_view line) noexcept {
  return is_json(line) && (line[line.find_first_not_of(" \t")] == '[' || without_blanks(line) == "{");
}

/// Whether the first bracket of a line is closed in that line.
bool closes(std::string_view line) noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      ++depth;
    } else if (!quoted && (c == ']' || c == '}') && --depth == 0) {
      return true;
    }
  }
  return false;
}

JsonLayout layout_of(LineSource& lines, const CodecOptions& options) {
  const std::string_view first = without_blanks(first_line(lines.head()));
  if (first == "{") {  // in an object over several lines a name follows; otherwise the line is damaged
    const std::string_view head = lines.head(2);
    const std::size_t next = head.find_first_not_of(" \t\r\n", head.find('{') + 1);
    return next != std::string_view::npos && head[next] == '"' ? JsonLayout::sequence : JsonLayout::lines;
  }
  if (!first.starts_with('[')) return JsonLayout::lines;
  const std::size_t inner = first.find_first_not_of(" \t", 1);
  const bool nested = inner != std::string_view::npos && (first[inner] == '[' || first[inner] == '{');
  if (inner != std::string_view::npos && !nested && reads_arrays_as_rows(options)) return JsonLayout::lines;
  if (!closes(first)) return JsonLayout::array;
  const std::string_view head = lines.head(2);
  const std::size_t start = head.find('[');
  const std::size_t end = std::min(head.find('\n', start), head.size());
  return head.find_first_not_of(" \t\r\n", end) == std::string_view::npos ? JsonLayout::array : JsonLayout::lines;
}

}  // namespace

bool begins_json(const TextHead& head) { return !head.lines.empty() && (head.most(is_json) || begins_value(head.lines[0])); }

std::unique_ptr<RecordSource> open_json(std::unique_ptr<LineSource> lines, const CodecOptions& options,
                                        std::size_t max_record) {
  const JsonLayout layout = layout_of(*lines, options);
  if (layout == JsonLayout::lines) return lines;
  return std::make_unique<JsonSource>(std::move(*lines).release(), max_record, layout);
}

}  // namespace deltamatch::ingest
