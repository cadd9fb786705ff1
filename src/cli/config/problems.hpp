// What is wrong with a configuration: gathered, so that one look at the file mends it all.
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

  /// "file:line: key", which names a place in messages. Lines count from 1.
  [[nodiscard]] std::string where(std::size_t line, std::string_view key) const;
  void add(std::size_t line, std::string_view key, std::string_view what, std::string_view remedy);
  /// The same, told in full: "file:line: key: what; remedy".
  void add(std::size_t line, std::string_view text);

  /// Throws Error(configuration) where there are any: the first ten in order of lines, one below the other.
  void raise() const;

 private:
  struct Problem {
    std::size_t line;
    std::string text;
  };
  std::string file_;
  std::vector<Problem> found_;
};

}  // namespace deltamatch::cli
