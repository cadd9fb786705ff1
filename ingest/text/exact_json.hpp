// JSON with numbers of more than 64 bits, which JSON allows and a parsed tree cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "deltamatch/count.hpp"

namespace deltamatch::ingest {

/// A count as a value of a tree that dump_exact() writes. A larger one than 64 bits is marked text until then.
template <class Json>
[[nodiscard]] Json exact(Count count) {
  if (count <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(count);
  return "\x1a" + deltamatch::to_string(count);
}

/// The tree in one line. Bytes that are not UTF-8 are replaced.
template <class Json>
[[nodiscard]] std::string dump_exact(const Json& json) {
  constexpr std::string_view mark = "\"\\u001a";
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    const std::size_t end = text.find_first_not_of("0123456789", at + mark.size());
    const bool count = end > at + mark.size() && text[end] == '"';  // and no text that a user has marked so
    if (count) text.erase(end, 1).erase(at, mark.size());
    at += count ? 0 : mark.size();
  }
  return text;
}

}  // namespace deltamatch::ingest
