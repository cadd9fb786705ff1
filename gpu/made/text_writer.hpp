// Text in lines, indented by blocks. Internal to gpu/made.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace deltamatch::gpu {

class TextWriter {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    text_.append(2 * indent_, ' ');
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
    text_ += '\n';
  }
  /// A line, from which on lines belong to a block.
  template <class... Values>
  void open(fmt::format_string<Values...> form, Values&&... values) {
    line(form, std::forward<Values>(values)...);
    ++indent_;
  }
  /// Ends the block, with `end` as its last line.
  void close(const char* end = "}") {
    --indent_;
    line("{}", end);
  }
  [[nodiscard]] std::uint32_t indent() const noexcept { return indent_; }
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  std::string text_;
  std::uint32_t indent_ = 0;
};

}  // namespace deltamatch::gpu
