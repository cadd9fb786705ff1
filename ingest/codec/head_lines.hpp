// The first lines of a text, for what is said about its beginning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

struct Line {
  std::string_view text;
  std::uint64_t number;
};

/// The first lines that are not blank.
inline std::vector<Line> lines_of(std::string_view head, std::size_t most) {
  std::vector<Line> lines;
  std::uint64_t number = 0;
  while (!head.empty() && lines.size() < most) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (!without_blanks(line).empty()) lines.push_back({line, number});
  }
  return lines;
}

inline bool is_comment(std::string_view line) noexcept {
  line = without_blanks(line);
  return line.starts_with('#') || line.starts_with('%');
}

/// The words between blanks.
inline std::vector<std::string_view> split_at_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos; at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace deltamatch::ingest
