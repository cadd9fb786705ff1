#include "ingest/codec/json_string.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace deltamatch::ingest {
namespace {

/// Takes \uXXXX off the front.
std::optional<unsigned> take_unit(std::string_view& raw) noexcept {
  if (raw.size() < 6 || raw[0] != '\\' || raw[1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = raw.data() + 6;
  if (std::from_chars(raw.data() + 2, end, unit, 16).ptr != end) return std::nullopt;
  raw.remove_prefix(6);
  return unit;
}

void append_utf8(std::string& out, unsigned point) {
  const auto add = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  const auto add_tail = [&](unsigned shift) { add(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | point >> 6);
    add_tail(0);
  } else if (point < 0x10000) {
    add(0xe0 | point >> 12);
    add_tail(6);
    add_tail(0);
  } else {
    add(0xf0 | point >> 18);
    add_tail(12);
    add_tail(6);
    add_tail(0);
  }
}

bool append_unit(std::string& out, std::string_view& raw) {
  const std::optional<unsigned> unit = take_unit(raw);
  if (!unit) return false;
  if (*unit < 0xd800 || *unit > 0xdfff) {
    append_utf8(out, *unit);
    return true;
  }
  if (*unit >= 0xdc80 && *unit <= 0xdcff) {
    out.push_back(static_cast<char>(*unit & 0xff));
    return true;
  }
  const std::optional<unsigned> low = *unit < 0xdc00 ? take_unit(raw) : std::nullopt;
  if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
  append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
  return true;
}

}  // namespace

bool append_unescaped(std::string& out, std::string_view raw) {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  for (;;) {
    const std::size_t escape = std::min(raw.find('\\'), raw.size());
    out.append(raw, 0, escape);
    raw.remove_prefix(escape);
    if (raw.empty()) return true;
    const std::size_t name = raw.size() < 2 ? std::string_view::npos : names.find(raw[1]);
    if (name != std::string_view::npos) {
      out += meanings[name];
      raw.remove_prefix(2);
    } else if (!append_unit(out, raw)) {
      return false;
    }
  }
}

}  // namespace deltamatch::ingest
