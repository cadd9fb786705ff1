#include "base/shortage.hpp"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace deltamatch {
namespace {

constexpr rlim_t mebibyte = rlim_t{1} << 20;

/// Reads the first line of a file; empty if there is none.
std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string limit_text(int resource, rlim_t unit, const char* name) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / unit) + name;
}

/// Describes the limit of the control group (version 2) of this process or of a group above it. Empty if none has a limit.
std::string group_text() {
  const std::string line = first_line("/proc/self/cgroup");  // 0::/path
  if (!line.starts_with("0::/")) return "";
  const std::filesystem::path root("/sys/fs/cgroup");
  for (auto folder = root / line.substr(4);; folder = folder.parent_path()) {
    const std::string most = first_line(folder / "pids.max");
    if (!most.empty() && most != "max") {
      return ", pids.max of the control group is " + most + " (" + first_line(folder / "pids.current") + " in use)";
    }
    if (folder == root || !folder.has_relative_path()) return "";
  }
}

}  // namespace

bool is_thread_shortage(const std::system_error& error) noexcept {
  return error.code() == std::errc::resource_unavailable_try_again;
}

Error thread_shortage(const std::system_error& error) {
  return {
      "threads",
      "no thread can be started: " + error.code().message() + ". The limit on a user's threads (ulimit -u) is " +
          limit_text(RLIMIT_NPROC, 1, "") + ". The limit on memory (ulimit -v) is " + limit_text(RLIMIT_AS, mebibyte, " MiB") +
          ", and each thread takes a stack (ulimit -s) of " + limit_text(RLIMIT_STACK, mebibyte, " MiB") +
          ". The system's threads-max is " + first_line("/proc/sys/kernel/threads-max") + group_text(),
      "raise the limit that is reached, or ask for fewer threads (--threads, engine.threads, in C++ EngineOptions::threads)"};
}

}  // namespace deltamatch
