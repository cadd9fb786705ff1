#include "ingest/codec/text_head.hpp"

namespace deltamatch::ingest {

TextHead::TextHead(std::string_view head) : bytes(head) {
  constexpr std::size_t enough = 16;
  for (std::size_t at = 0; at < bytes.size() && lines.size() < enough;) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#' || line[first] == '%') continue;
    lines.push_back(line);
  }
}

}  // namespace deltamatch::ingest
