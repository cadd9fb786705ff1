// Files that are read as a whole: queries, configurations, secrets.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace deltamatch::cli {

inline constexpr std::size_t longest_small_file = std::size_t{1} << 20;

/// Returns the bytes of a file of at most 1 MiB. Throws Error(configuration) if it is longer or cannot be read. `what` names
/// its contents, e.g. "the query".
[[nodiscard]] std::string read_small_file(const std::filesystem::path& path, std::string_view what);

}  // namespace deltamatch::cli
