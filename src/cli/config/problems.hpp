// What is wrong with a configuration. All problems are gathered, so that the user can mend the file in one go.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::cli {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::size_t count() const noexcept { return found_.size(); }

  /// "file:line: key", the place of a problem. Lines count from 1. Without a file, it is only "key".
  [[nodiscard]] std::string where(std::size_t line, std::string_view key) const;
  void add(std::size_t line, std::string_view key, std::string_view what, std::string_view remedy);
  /// Adds a message that names its place itself: "file:line: key: what; remedy".
  void add(std::size_t line, std::string_view text);

  struct Problem {
    std::size_t line;
    std::string text;  ///< all of it
    std::string key;   ///< empty if the text names its place itself, like the next two
    std::string what;
    std::string remedy;
  };
  [[nodiscard]] const std::vector<Problem>& found() const noexcept { return found_; }

  /// Throws Error(configuration) if there are problems. It lists the first ten, ordered by line, one a line.
  void raise() const;

 private:
  std::string file_;
  std::vector<Problem> found_;
};

}  // namespace deltamatch::cli
