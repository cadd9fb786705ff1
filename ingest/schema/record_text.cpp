#include "ingest/schema/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "ingest/source/record_source.hpp"
#include "ingest/text/real_text.hpp"

namespace deltamatch::ingest {
namespace {

/// Whether a byte stands for itself in a JSON string.
constexpr bool is_plain(char c) noexcept { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i])) continue;
    out.append(text, start, i - start);
    start = i + 1;
    if (text[i] == '"' || text[i] == '\\') {
      out += '\\';
      out += text[i];
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(text[i]));
    }
  }
  out.append(text, start);
  out += '"';
}

template <class Number>
void append_digits(std::string& out, Number value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  static_cast<void>(error);  // there is room for 64 bits
  out.append(digits.data(), end);
}

/// Appends a number of `scale` digits behind the point.
void append_scaled(std::string& out, std::int64_t value, std::size_t scale) {
  const std::uint64_t magnitude = value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  std::string digits = fmt::format("{}", magnitude);
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (value < 0) out += '-';
  out.append(digits, 0, digits.size() - scale);
  if (scale == 0) return;
  out += '.';
  out.append(digits, digits.size() - scale);
}

void append_base64(std::string& out, std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= here ? letters[bits >> (18 - 6 * i) & 63U] : '=';
  }
}

/// The integer that bytes hold. Returns false if it exceeds 64 bits.
bool integer_of(std::string_view bytes, std::int64_t& value) noexcept {
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0;
  const char filler = negative ? '\xff' : '\0';
  while (bytes.size() > sizeof value && bytes.front() == filler) bytes.remove_prefix(1);
  if (bytes.size() > sizeof value) return false;
  std::uint64_t sum = negative ? ~std::uint64_t{0} : 0;
  for (const char byte : bytes) sum = sum << 8 | static_cast<unsigned char>(byte);
  value = static_cast<std::int64_t>(sum);
  return (value < 0) == negative;
}

}  // namespace

void RecordText::clear(std::size_t longest) {
  text_.clear();
  longest_ = longest;
  first_ = true;
}

void RecordText::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

void RecordText::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
}

void RecordText::close(char bracket) {
  text_ += bracket;
  first_ = false;
}

void RecordText::name(std::string_view name) {
  separate();
  append_quoted(text_, name);
  text_ += ':';
  first_ = true;
}

void RecordText::quoted_name(std::string_view quoted) {
  separate();
  text_ += quoted;
  first_ = true;
}

std::string RecordText::quoted(std::string_view name) {
  std::string out;
  append_quoted(out, name);
  out += ':';
  return out;
}

void RecordText::word(std::string_view word) {
  separate();
  text_ += word;
}

void RecordText::number(std::int64_t value) {
  separate();
  append_digits(text_, value);
}

void RecordText::number(std::uint64_t value) {
  separate();
  append_digits(text_, value);
}

template <class Real>
void RecordText::write_real(Real value) {
  if (!std::isfinite(value)) return text(std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
  separate();
  RealText room;
  text_ += ingest::write_real(value, room);
}

void RecordText::real(float value) { write_real(value); }
void RecordText::real(double value) { write_real(value); }

void RecordText::text(std::string_view value) {
  separate();
  append_quoted(text_, value);
}

void RecordText::bytes(std::string_view value) {
  separate();
  text_ += '"';
  append_base64(text_, value);
  text_ += '"';
}

void RecordText::decimal(std::string_view digits, std::int64_t scale) {
  constexpr std::int64_t widest = 64;
  std::int64_t value = 0;
  if (scale < 0 || scale > widest || !integer_of(digits, value)) {
    begin_object();
    name("scale");
    number(scale);
    name("value");
    bytes(digits);
    return end_object();
  }
  separate();
  append_scaled(text_, value, static_cast<std::size_t>(scale));
}

void RecordText::time(Timestamp microseconds) {
  separate();
  append_scaled(text_, microseconds, unit_ == 1 ? 0 : unit_ == 1'000 ? 3 : 6);
}

std::string_view RecordText::padded() {
  const std::size_t size = text_.size();
  text_.append(Record::padding, '\0');
  return std::string_view(text_).substr(0, size);
}

}  // namespace deltamatch::ingest
