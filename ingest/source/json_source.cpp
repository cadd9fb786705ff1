#include "ingest/source/json_source.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Finds where a value ends, even if its bytes arrive in pieces.
class Scan {
 public:
  enum class State : std::uint8_t { within, ended, broken };

  /// Takes one byte. within: the byte belongs to the value. ended: the value has ended; the byte is part of it only if
  /// takes_last(). broken: a line ends inside a string.
  State take(char c) noexcept {
    if (quoted_) return take_quoted(c);
    if (c == '"') {
      if (plain_) return ended(false);
      quoted_ = true;
      return State::within;
    }
    if (c == '{' || c == '[') {
      if (plain_) return ended(false);
      ++depth_;
      return State::within;
    }
    if (c == '}' || c == ']') {
      if (depth_ == 0) return ended(false);
      return --depth_ == 0 ? ended(true) : State::within;
    }
    if (depth_ != 0) return State::within;
    if (c == ',' || is_blank(c)) return ended(false);
    plain_ = true;
    return State::within;
  }
  [[nodiscard]] bool takes_last() const noexcept { return takes_last_; }
  /// Whether the value may end with the stream. Only a number or a word may.
  [[nodiscard]] bool may_end() const noexcept { return plain_ && depth_ == 0 && !quoted_; }

 private:
  State take_quoted(char c) noexcept {
    if (c == '\n') return State::broken;
    if (std::exchange(escaped_, false)) return State::within;
    escaped_ = c == '\\';
    if (c != '"') return State::within;
    quoted_ = false;
    return depth_ == 0 ? ended(true) : State::within;
  }
  State ended(bool takes_last) noexcept {
    takes_last_ = takes_last;
    return State::ended;
  }

  std::size_t depth_ = 0;
  bool quoted_ = false;
  bool escaped_ = false;
  bool plain_ = false;  // a number or a word at depth 0
  bool takes_last_ = false;
};

}  // namespace

JsonSource::JsonSource(ByteBuffer bytes, std::size_t max_record, JsonLayout layout)
    : bytes_(std::move(bytes)), max_record_(std::max<std::size_t>(max_record, 1)), array_(layout == JsonLayout::array) {}

Position JsonSource::here() const noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return {line_, array_ ? static_cast<std::uint32_t>(std::min(elements_, most)) : 0};
}

std::string JsonSource::where(Position position) const {
  const std::string line = bytes_.name() + ":" + std::to_string(position.number);
  return array_ ? line + ", element " + std::to_string(position.part) + " from 0" : line;
}

Progress JsonSource::progress() const noexcept { return bytes_.progress(records_.load(std::memory_order_relaxed)); }

void JsonSource::fail(std::string_view what, std::string_view remedy) {
  ended_ = true;
  throw Error(where(here()), what, remedy);
}

/// Skips blanks and returns the next byte, which is then the first held one. Returns nothing at the end of the stream.
char JsonSource::peek() {
  do {
    const std::string_view held = bytes_.held();
    const auto* const found = std::find_if_not(held.begin(), held.end(), is_blank);
    line_ += static_cast<std::uint64_t>(std::count(held.begin(), found, '\n'));
    bytes_.drop(static_cast<std::size_t>(found - held.begin()));
    if (found != held.end()) return *found == nothing ? '\x01' : *found;
  } while (bytes_.more());
  return nothing;
}

/// Moves to the next element of the array. Returns false at its end.
bool JsonSource::to_element() {
  constexpr std::string_view separate = "put commas between the elements of the array, and ] at its end";
  if (!std::exchange(begun_, true)) {
    static_cast<void>(peek());  // the opening bracket, which showed the layout
    bytes_.drop(1);
    if (peek() != ']') return true;
  } else if (const char c = peek(); c == ',') {
    bytes_.drop(1);
    if (peek() == ']') fail("a comma before the end of the array", separate);
    return true;
  } else if (c == nothing) {
    fail("the array does not end; the file may be cut short", separate);
  } else if (c != ']') {
    fail("neither a comma nor the end of the array follows an element", separate);
  }
  bytes_.drop(1);
  if (peek() != nothing) fail("something follows the array", "write one array, or one value a line (jq -c writes it so)");
  return false;
}

/// The length of the value at the start of the held bytes.
std::size_t JsonSource::value_end() {
  Scan scan;
  for (std::size_t at = 0;;) {
    const std::string_view held = bytes_.held();
    for (const std::size_t end = std::min(held.size(), max_record_ + 1); at < end; ++at) {
      const Scan::State state = scan.take(held[at]);
      if (state == Scan::State::broken) fail("a string does not end in its line", "correct the value that begins here");
      const std::size_t size = at + (scan.takes_last() ? 1 : 0);
      if (state == Scan::State::ended && size <= max_record_) return size;
    }
    if (at > max_record_) {
      fail("a value of more than " + std::to_string(max_record_) + " bytes, or one that does not end",
           "correct it, or raise max-record");
    }
    if (bytes_.more()) continue;
    if (scan.may_end()) return at;
    fail("a value does not end; the file may be cut short", "complete the file");
  }
}

bool JsonSource::next(Record& record) {
  if (ended_) return false;
  if (array_ ? !to_element() : peek() == nothing) {
    ended_ = true;
    return false;
  }
  if (peek() == nothing) fail("the array does not end; the file may be cut short", "complete the file");
  const std::size_t size = value_end();
  if (size == 0) fail("a value is missing", "correct the file");
  const std::string_view value = bytes_.held().substr(0, size);
  record = {value, here(), RecordFault::none, size, true};
  line_ += static_cast<std::uint64_t>(std::count(value.begin(), value.end(), '\n'));
  bytes_.drop(size);
  records_.store(++elements_, std::memory_order_relaxed);
  return true;
}

}  // namespace deltamatch::ingest
