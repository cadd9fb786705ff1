#include "cli/options/cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Takes a number, and the blanks after it, off the front.
template <typename Number>
bool take(std::string_view& text, Number& number) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  const std::size_t next = std::min(text.find_first_not_of(blanks), text.size());
  const bool apart = next > 0 || text.empty();
  text.remove_prefix(next);
  return apart;
}

}  // namespace

std::vector<ingest::Cut> read_cuts(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(path, "cannot be opened: " + std::generic_category().message(errno), "check the path and its permissions");
  std::vector<ingest::Cut> cuts;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::string_view text = line;
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty() || text.starts_with('#')) continue;
    ingest::Cut cut;
    bool good = take(text, cut.records);
    cut.sets_watermark = good && !text.empty();
    if (cut.sets_watermark && text.starts_with('-') && text.find_first_not_of(blanks, 1) == std::string_view::npos)
      text = {};
    else if (cut.sets_watermark)
      good = take(text, cut.watermark.emplace());
    if (!good || !text.empty()) {
      throw Error(fmt::format("{}:{}", path, number), fmt::format("'{}' is not a cut", line),
                  "write RECORDS or RECORDS WATERMARK, with the watermark in microseconds or - for none yet");
    }
    cuts.push_back(cut);
  }
  if (file.bad()) throw Error(path, "cannot be read", "check the disk and the file's permissions");
  return cuts;
}

}  // namespace deltamatch::cli
