// The buffer holds the current record and what follows it. Offsets are relative to the held bytes, which more() moves.
#include "ingest/source/line_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::size_t head_size = std::size_t{1} << 16;
constexpr std::size_t kept_of_long_record = 4096;

/// The state of a scan within a CSV record.
enum class Quoting : std::uint8_t { field_start, plain, quoted, quote_seen, closed, broken };

/// Whether `c` is a blank that may surround a quoted field. A tab is not if it separates fields.
bool is_blank(char c, char separator) noexcept { return (c == ' ' || c == '\t') && c != separator; }

Quoting scan(std::string_view text, char separator, Quoting state) noexcept {
  for (const char c : text) {
    switch (state) {
      case Quoting::field_start:
        if (is_blank(c, separator)) break;
        [[fallthrough]];
      case Quoting::plain:
        state = c == separator                              ? Quoting::field_start
                : c == '"' && state == Quoting::field_start ? Quoting::quoted
                                                            : Quoting::plain;
        break;
      case Quoting::quoted:
        if (c == '"') state = Quoting::quote_seen;
        break;
      case Quoting::quote_seen:
        if (c == separator) {
          state = Quoting::field_start;
        } else if (c == '"') {
          state = Quoting::quoted;
        } else if (is_blank(c, separator)) {
          state = Quoting::closed;
        } else {
          return Quoting::broken;
        }
        break;
      case Quoting::closed:
        if (is_blank(c, separator)) break;
        if (c != separator) return Quoting::broken;
        state = Quoting::field_start;
        break;
      case Quoting::broken:
        return state;
    }
  }
  return state;
}

std::string_view without_cr(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool says_something(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#' && line[first] != '%';
}

}  // namespace

std::string_view first_line(std::string_view head) noexcept {
  const std::size_t start = std::min(head.find_first_not_of("\r\n"), head.size());
  return without_cr(head.substr(start, head.find('\n', start) - start));
}

LineSource::LineSource(ByteBuffer bytes, std::size_t max_record)
    : bytes_(std::move(bytes)), max_record_(std::max<std::size_t>(max_record, 1)) {}

std::string LineSource::where(Position position) const { return name() + ":" + std::to_string(position.number); }

Progress LineSource::progress() const noexcept { return bytes_.progress(lines_.load(std::memory_order_relaxed)); }

void LineSource::skip_mark() {
  if (std::exchange(started_, true)) return;
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (bytes_.begins_with(mark)) bytes_.drop(mark.size());
}

std::string_view LineSource::head(std::size_t telling) {
  skip_mark();
  std::size_t line = 0;  // start of the current line
  std::size_t needed = 0;
  for (;;) {
    const std::size_t end = line_end(line);
    if (end == none) break;
    const std::string_view text = bytes_.held().substr(line, end - line);
    line = end + 1;
    if (says_something(text)) {
      needed = line;
      --telling;
    }
    if (telling == 0 || line > head_size || end >= bytes_.held().size()) break;
  }
  const std::string_view all = bytes_.held().substr(0, std::max(head_size, needed));
  const std::size_t last = all.rfind('\n');
  return last == std::string_view::npos ? all : all.substr(0, last + 1);
}

/// The offset of the newline that ends the line around offset `from`, or the end of the stream. Returns none if the record gets
/// too long before that.
std::size_t LineSource::line_end(std::size_t from) {
  for (;;) {
    const std::size_t at = bytes_.held().find('\n', from);
    if (at != std::string_view::npos) return at > max_record_ + 1 ? none : at;  // + 1: a CR may still be removed
    from = bytes_.held().size();
    if (from > max_record_ + 1) return none;
    if (!bytes_.more()) return from;
  }
}

/// The end of the record whose first line ends at `first_end`. The record goes on after that line only if a quoted field does.
/// Returns none if a quoted field does not end. Counts the lines of the record.
std::size_t LineSource::quoted_end(std::size_t first_end, std::uint64_t& lines) {
  std::size_t line = 0;
  std::size_t end = first_end;
  Quoting state = Quoting::field_start;
  for (std::uint64_t count = 1;; ++count) {
    state = scan(without_cr(bytes_.held().substr(line, end - line)), separator_, state);
    if (state == Quoting::broken) return first_end;  // the codec reports it
    if (state != Quoting::quoted) {
      lines = count;
      return end;
    }
    if (end == bytes_.held().size()) return none;
    line = end + 1;
    end = line_end(line);
    if (end == none) return none;
  }
}

/// Hands over the prefix of a line that is too long, and skips the rest.
void LineSource::take_long(Record& record) {
  prefix_ = bytes_.held().substr(0, std::min(kept_of_long_record, max_record_));
  record.fault = RecordFault::too_long;
  record.length = 0;
  for (;;) {
    const std::string_view held = bytes_.held();
    const std::size_t end = held.find('\n');
    const bool found = end != std::string_view::npos;
    record.length += found ? end : held.size();
    bytes_.drop(found ? end + 1 : held.size());
    if (found || !bytes_.more()) break;
  }
  record.bytes = prefix_;
}

bool LineSource::next(Record& record) {
  skip_mark();
  if (bytes_.held().empty() && !bytes_.more()) return false;
  record.position = {++line_, 0};
  record.fault = RecordFault::none;
  std::size_t end = line_end(0);
  std::string_view line;
  if (end != none) line = without_cr(bytes_.held().substr(0, end));
  record.padded = end != none && line.size() <= max_record_;
  if (!record.padded) {
    take_long(record);
  } else {
    if (separator_ != 0 && line.find('"') != std::string_view::npos) {
      std::uint64_t lines = 1;
      const std::size_t last = quoted_end(end, lines);
      if (last == none)
        record.fault = RecordFault::unterminated_quote;
      else
        end = last;
      line_ += lines - 1;
      line = without_cr(bytes_.held().substr(0, end));  // the held bytes may have moved
    }
    record.bytes = line;
    record.length = line.size();
    bytes_.drop(std::min(end + 1, bytes_.held().size()));
  }
  lines_.store(line_, std::memory_order_relaxed);
  return true;
}

}  // namespace deltamatch::ingest
