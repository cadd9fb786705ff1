// A text to parse, and errors that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace deltamatch::query {

/// A view of the text and of its source's name. It owns neither.
class SourceText {
 public:
  /// Skips a byte order mark at the start.
  SourceText(std::string_view text, std::string_view where);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// Throws Error(configuration) "where:line:column: what; remedy", followed by the line and a caret under the column. `offset`
  /// counts bytes from the start of text(). Lines and columns count from 1, columns in characters of UTF-8. A long line is
  /// shown in part. Control characters in it are shown as dots.
  [[noreturn]] void fail(std::size_t offset, std::string_view what, std::string_view remedy) const;

 private:
  std::string_view text_;
  std::string_view where_;
};

/// Formats a part of the input for an error message: shortened if it is long, with dots for control characters.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace deltamatch::query
