#include "cli/options/small_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {

std::string read_small_file(const std::filesystem::path& path, std::string_view what) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(longest_small_file + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorKind::configuration, path.string(), fmt::format("{} cannot be read", what),
                "check the path and its permissions");
  }
  if (text.size() > longest_small_file) {
    throw Error(ErrorKind::configuration, path.string(), fmt::format("{} is longer than 1 MiB", what), "name another file");
  }
  return text;
}

}  // namespace deltamatch::cli
