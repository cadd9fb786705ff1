#include "query/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::query {
namespace {

constexpr std::size_t shown_before = 80;  // bytes of the line that are shown before the column
constexpr std::size_t shown_after = 40;   // bytes of the line that are shown from the column on

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(result.begin(), result.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '.');
  return result;
}

/// Returns at most `bytes` bytes from the start, without cutting a character.
std::string_view head(std::string_view text, std::size_t bytes) {
  std::size_t size = std::min(bytes, text.size());
  while (size > 0 && size < text.size() && continues_character(text[size])) --size;
  return text.substr(0, size);
}

/// Returns at most `bytes` bytes from the end, without cutting a character.
std::string_view tail(std::string_view text, std::size_t bytes) {
  std::size_t start = text.size() - std::min(bytes, text.size());
  while (start > 0 && start < text.size() && continues_character(text[start])) ++start;
  return text.substr(start);
}

}  // namespace

SourceText::SourceText(std::string_view text, std::string_view where) : text_(text), where_(where) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
}

void SourceText::fail(std::size_t offset, std::string_view what, std::string_view remedy) const {
  offset = std::min(offset, text_.size());
  const std::string_view before = text_.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
  const auto line_number = std::count(before.begin(), before.end(), '\n') + 1;
  const std::string_view left = before.substr(line_start);
  std::string_view right = text_.substr(offset, std::min(text_.find('\n', offset), text_.size()) - offset);
  if (right.ends_with('\r')) right.remove_suffix(1);

  const std::string_view left_part = tail(left, shown_before);
  const std::string_view right_part = head(right, shown_after);
  const std::string shown_left = (left_part.size() < left.size() ? "..." : "") + printable(left_part);
  throw Error(ErrorKind::configuration, fmt::format("{}:{}:{}", where_, line_number, count_characters(left) + 1), what,
              fmt::format("{}\n  {}{}{}\n  {:>{}}", remedy, shown_left, printable(right_part),
                          right_part.size() < right.size() ? "..." : "", '^', count_characters(shown_left) + 1));
}

std::string shown(std::string_view text) {
  const std::string_view part = head(text, shown_after);
  return printable(part) + (part.size() < text.size() ? "..." : "");
}

}  // namespace deltamatch::query
