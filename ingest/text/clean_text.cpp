#include "ingest/text/clean_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto follows = [&](std::size_t i) { return (byte_at(text, at + i) & 0xc0) == 0x80; };
  const unsigned char first = byte_at(text, at);
  const unsigned char second = byte_at(text, at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_clean(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view sequence = text.substr(at, length);
    const bool control = length == 1 && (byte_at(text, at) < 0x20 || byte_at(text, at) == 0x7f);
    const bool c1 = length == 2 && byte_at(text, at) == 0xc2 && byte_at(text, at + 1) < 0xa0;
    const bool forbidden = sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf";
    if (length == 0 || control || c1 || forbidden) {
      out += replacement;
    } else {
      out += sequence;
    }
    at += length == 0 ? 1 : length;
  }
}

}  // namespace deltamatch::ingest
