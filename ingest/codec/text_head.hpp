// The beginning of a text, as formats are recognised by it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

struct TextHead {
  /// `head` holds whole lines, unless there is only one. It must outlive this.
  explicit TextHead(std::string_view head);

  /// Whether `holds` is true of more than half of the lines.
  template <class Holds>
  [[nodiscard]] bool most(Holds holds) const {
    return static_cast<std::size_t>(std::ranges::count_if(lines, holds)) * 2 > lines.size();
  }

  std::string_view bytes;
  std::vector<std::string_view> lines;  ///< the first lines that are neither blank nor comments; empty: there are none
};

}  // namespace deltamatch::ingest
