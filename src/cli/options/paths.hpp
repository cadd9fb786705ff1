// Files that the command line names, and the check that nothing is written over what is read or written elsewhere.
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

/// Whether two paths are one regular file, through links or other spellings; of what is not there yet whether it would be one.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws Error(usage), naming both options, where an output is an input or another output, under whatever name: through links
/// or other spellings. Empty paths and "-" are passed over, and so is what is no regular file (two outputs may go to
/// /dev/null). Opens nothing.
void check_apart(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

/// Throws Error(usage) where an output is "-" that can only be a file.
void check_files(const std::vector<NamedPath>& outputs);

}  // namespace deltamatch::cli
