// Results as JSON lines.
#pragma once

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::bench {

using Json = nlohmann::ordered_json;

/// Writes lines to standard output and to the file as soon as they are known. So a run that is cut short leaves what it
/// measured.
class Report {
 public:
  /// An empty path means no file. Throws Error if it cannot be written.
  explicit Report(const std::string& path) {
    if (path.empty()) return;
    file_.open(path, std::ios::app);
    if (!file_) throw Error(path, "cannot be written", "check the path");
  }
  void line(const Json& json) {
    const std::string text = json.dump();
    std::cout << text << '\n' << std::flush;
    if (file_.is_open()) file_ << text << '\n' << std::flush;
  }

 private:
  std::ofstream file_;
};

}  // namespace deltamatch::bench
