#include "cli/config/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

std::string Problems::where(std::size_t line, std::string_view key) const {
  if (file_.empty()) return std::string(key);
  return key.empty() ? fmt::format("{}:{}", file_, line) : fmt::format("{}:{}: {}", file_, line, key);
}

void Problems::add(std::size_t line, std::string_view key, std::string_view what, std::string_view remedy) {
  found_.push_back({line, Error(ErrorKind::configuration, where(line, key), what, remedy).what(), std::string(key),
                    std::string(what), std::string(remedy)});
}

void Problems::add(std::size_t line, std::string_view text) { found_.push_back({line, std::string(text), {}, {}, {}}); }

void Problems::raise() const {
  if (found_.empty()) return;
  constexpr std::size_t most = 10;
  std::vector<Problem> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    text += (i == 0 ? "" : "\n") + sorted[i].text;
  }
  if (sorted.size() > most) fmt::format_to(std::back_inserter(text), "\n{}: and {} more", file_, sorted.size() - most);
  throw Error(ErrorKind::configuration, "", text);
}

}  // namespace deltamatch::cli
