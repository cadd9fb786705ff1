// One buffer that holds the current record and what follows it; offsets are relative to begin_, since refill() moves the record
// to the front.
#include "ingest/source/line_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;
constexpr std::size_t head_size = std::size_t{1} << 16;
constexpr std::size_t kept_of_long_record = 4096;

/// Where in a CSV record a scan stands.
enum class Quoting : std::uint8_t { field_start, plain, quoted, quote_seen, broken };

Quoting scan(std::string_view text, char separator, Quoting state) noexcept {
  for (const char c : text) {
    switch (state) {
      case Quoting::field_start:
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
        } else {
          return Quoting::broken;
        }
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

LineSource::LineSource(std::unique_ptr<ByteSource> bytes, std::size_t max_record)
    : bytes_(std::move(bytes)), max_record_(std::max<std::size_t>(max_record, 1)), buffer_(chunk) {}

std::string LineSource::where(Position position) const { return name() + ":" + std::to_string(position.number); }

Progress LineSource::progress() const noexcept {
  return {lines_.load(std::memory_order_relaxed), bytes_->bytes_read(), bytes_->bytes_total()};
}

/// Reads more behind what is held; false at the end.
bool LineSource::refill() {
  if (ended_) return false;
  const std::size_t held = end_ - begin_;
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, held);
    begin_ = 0;
    end_ = held;
  }
  if (buffer_.size() - end_ < chunk / 2) buffer_.resize(buffer_.size() * 2);
  const std::size_t got = bytes_->read(std::span(buffer_).subspan(end_));
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

void LineSource::skip_mark() {
  if (started_) return;
  started_ = true;
  constexpr std::string_view mark = "\xef\xbb\xbf";
  while (end_ < mark.size() && mark.starts_with(std::string_view(buffer_.data(), end_)) && refill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(mark)) begin_ = mark.size();
}

std::string_view LineSource::head() {
  skip_mark();
  std::size_t line = 0;  // start of the line that is looked at
  for (;;) {
    const std::size_t end = line_end(line);
    if (end == none) break;
    const std::string_view text(buffer_.data() + begin_ + line, end - line);
    line = end + 1;
    if (says_something(text) || line > head_size || end >= end_ - begin_) break;
  }
  const std::string_view all(buffer_.data() + begin_, std::min(end_ - begin_, head_size));
  const std::size_t last = all.rfind('\n');
  return last == std::string_view::npos ? all : all.substr(0, last + 1);
}

/// The offset (from begin_) of the newline that ends the line which holds offset `from`, or of the end of the stream; none
/// where the record from begin_ gets too long before that.
std::size_t LineSource::line_end(std::size_t from) {
  for (;;) {
    const char* const start = buffer_.data() + begin_ + from;
    const std::size_t rest = end_ - begin_ - from;
    if (const void* found = rest == 0 ? nullptr : std::memchr(start, '\n', rest)) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - (buffer_.data() + begin_));
      return at > max_record_ + 1 ? none : at;  // + 1: a CR may still go
    }
    from = end_ - begin_;
    if (from > max_record_ + 1) return none;
    if (!refill()) return from;
  }
}

/// The end of the record whose first line ends at `first_end`, which is that line's end unless a quoted field goes on after it;
/// none where a quoted field does not end. Counts the record's lines.
std::size_t LineSource::quoted_end(std::size_t first_end, std::uint64_t& lines) {
  std::size_t line = 0;
  std::size_t end = first_end;
  Quoting state = Quoting::field_start;
  for (std::uint64_t count = 1;; ++count) {
    const std::string_view text = without_cr({buffer_.data() + begin_ + line, end - line});
    state = scan(text, separator_, state);
    if (state == Quoting::broken) return first_end;  // the codec will say so
    if (state != Quoting::quoted) {
      lines = count;
      return end;
    }
    if (end == end_ - begin_) return none;
    line = end + 1;
    end = line_end(line);
    if (end == none) return none;
  }
}

/// Hands over the prefix of a line that is too long and passes over the rest.
void LineSource::take_long(Record& record) {
  prefix_.assign(buffer_.data() + begin_, std::min(end_ - begin_, std::min(kept_of_long_record, max_record_)));
  record.fault = RecordFault::too_long;
  record.length = 0;
  for (;;) {
    const std::size_t rest = end_ - begin_;
    const void* found = rest == 0 ? nullptr : std::memchr(buffer_.data() + begin_, '\n', rest);
    const std::size_t passed =
        found == nullptr ? rest : static_cast<std::size_t>(static_cast<const char*>(found) - (buffer_.data() + begin_));
    record.length += passed;
    begin_ += found == nullptr ? passed : passed + 1;
    if (found != nullptr || !refill()) break;
  }
  record.bytes = prefix_;
}

bool LineSource::next(Record& record) {
  skip_mark();
  if (begin_ == end_ && !refill()) return false;
  record.position = {++line_, 0};
  record.fault = RecordFault::none;
  std::size_t end = line_end(0);
  std::string_view line;
  if (end != none) line = without_cr({buffer_.data() + begin_, end});
  if (end == none || line.size() > max_record_) {
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
      line = without_cr({buffer_.data() + begin_, end});  // refills may have moved it
    }
    record.bytes = line;
    record.length = line.size();
    begin_ = std::min(begin_ + end + 1, end_);
  }
  lines_.store(line_, std::memory_order_relaxed);
  return true;
}

}  // namespace deltamatch::ingest
