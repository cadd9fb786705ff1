#include "ingest/text/json_text.hpp"

#include <array>
#include <charconv>

#include "ingest/text/clean_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

template <class T>
void append_digits(std::string& out, T number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

void append_escaped(std::string& out, std::string_view text, std::size_t at, std::size_t length) {
  const unsigned char byte = byte_at(text, at);
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += length == 0 ? "\\udc" : "\\u00";
  out += hex_digits[byte >> 4];
  out += hex_digits[byte & 15];
}

constexpr bool is_plain(unsigned char byte) noexcept { return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\'; }

}  // namespace

void append_number(std::string& out, std::int64_t number) { append_digits(out, number); }
void append_number(std::string& out, std::uint64_t number) { append_digits(out, number); }

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of the bytes that are copied unchanged
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned char byte = byte_at(text, at);
    if (is_plain(byte)) {
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(text, at);
    if (length > 1) {
      at += length;
      continue;
    }
    out.append(text, plain, at - plain);
    append_escaped(out, text, at, length);
    plain = ++at;
  }
  out.append(text, plain, at - plain);
  out += '"';
}

void append_json_id(std::string& out, const Id& id) {
  if (id.is_text()) {
    append_json_string(out, id.text());
  } else {
    append_number(out, id.number());
  }
}

}  // namespace deltamatch::ingest
