// A folder with a configuration and the files that it names.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "cli/config/service_config.hpp"

namespace deltamatch::cli::test {

/// A folder of one test, removed at its end. It is the working directory meanwhile, so that messages name files without a
/// folder.
class Folder {
 public:
  Folder() : before_(std::filesystem::current_path()) {
    path_ = std::filesystem::temp_directory_path() / ("deltamatch-config-" + std::to_string(::getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  void write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path before_;
  std::filesystem::path path_;
};

inline Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

/// The smallest valid configuration, by its keys.
inline const std::map<std::string, std::string>& least() {
  static const std::map<std::string, std::string> sections{{"application", "application: app\n"},
                                                           {"state", "state: {directory: state}\n"},
                                                           {"kafka", "kafka: {bootstrap.servers: 'localhost:9092'}\n"},
                                                           {"input", "input: {topics: [{name: payments}]}\n"},
                                                           {"queries", "queries: []\n"}};
  return sections;
}

/// `text`, followed by the sections of the smallest configuration that it lacks.
inline std::string completed(std::string text) {
  std::string behind = text.empty() || text.ends_with('\n') ? "" : "\n";
  for (const auto& [key, section] : least()) {
    if (!text.starts_with(key + ":") && text.find("\n" + key + ":") == std::string::npos) behind += section;
  }
  return text + behind;
}

}  // namespace deltamatch::cli::test
