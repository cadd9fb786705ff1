// A text that is parsed, and errors that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deltamatch::query {

/// Does not own the text, nor the name of its source.
class SourceText {
 public:
  /// Leaves out a byte order mark at the start.
  SourceText(std::string_view text, std::string_view where);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// Throws Error(configuration) "where:line:column: what; remedy", the line in question, and a caret under the column.
  /// `offset` counts bytes from the start of text(); lines and columns count from 1, columns in characters of UTF-8. A long
  /// line is shown in part; control characters in it are shown as dots.
  [[noreturn]] void fail(std::size_t offset, std::string_view what, std::string_view remedy) const;

 private:
  std::string_view text_;
  std::string_view where_;
};

/// Text of an input as an error message quotes it: shortened where it is long, control characters as dots.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace deltamatch::query
