// Files named on the command line, and a check that no output overwrites an input or another output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::cli {

/// A path and the option that names it.
struct NamedPath {
  std::string_view option;  ///< text of static duration
  std::string path;
};

/// Whether two paths are one regular file, through links or other spellings. For paths that do not exist yet: whether they
/// would be.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws Error(usage), naming both options, if an output is an input or another output. Links and other spellings are
/// recognised. Skips empty paths, "-" and anything but regular files (two outputs may go to /dev/null). Opens nothing.
void check_apart(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

/// Throws Error(usage) if an output that must be a file is "-".
void check_files(const std::vector<NamedPath>& outputs);

}  // namespace deltamatch::cli
