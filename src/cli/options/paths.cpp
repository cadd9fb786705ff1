#include "cli/options/paths.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

namespace fs = std::filesystem;

bool is_file(const NamedPath& named) { return !named.path.empty() && named.path != "-"; }

void check_pair(const NamedPath& output, const NamedPath& other) {
  if (!is_file(output) || !is_file(other) || !is_same_file(output.path, other.path)) return;
  throw Error(ErrorKind::usage, fmt::format("{} {}", output.option, output.path),
              fmt::format("this is also the file of {} {}", other.option, other.path), "name another file");
}

}  // namespace

// Existing files are compared themselves, so hard links are recognised too. Others are compared by their resolved paths.
bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  const bool a_exists = fs::exists(a, error);
  if (a_exists != fs::exists(b, error)) return false;
  if (a_exists) return fs::equivalent(a, b, error) && fs::is_regular_file(a, error);
  const fs::path resolved = fs::weakly_canonical(fs::absolute(a, error), error);
  return !error && resolved == fs::weakly_canonical(fs::absolute(b, error), error);
}

void check_apart(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    for (const NamedPath& input : inputs) check_pair(*output, input);
    for (auto other = outputs.begin(); other != output; ++other) check_pair(*output, *other);
  }
}

void check_files(const std::vector<NamedPath>& outputs) {
  for (const NamedPath& output : outputs) {
    if (output.path != "-") continue;
    throw Error(ErrorKind::usage, fmt::format("{} -", output.option), "this cannot go to standard output", "name a file");
  }
}

}  // namespace deltamatch::cli
