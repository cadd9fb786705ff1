// Numbers and texts as bytes, as every format of deltamatch writes them (docs/reference/formats.md).
//
// - A number has groups of seven bits, the least first, each in a byte. The high bit says that another byte follows. It has as
//   few bytes as it needs, so each number has exactly one valid encoding.
// - A signed number is folded to 0, -1, 1, -2, ..., so that small ones stay short.
// - A text follows its length.
// - A fixed number has a known width and is little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deltamatch::encoding {

inline constexpr std::size_t longest_number = 10;

[[nodiscard]] constexpr std::uint64_t fold(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unfold(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

/// Computes b - a, and below a + difference, modulo 2^64. So any two numbers may be stored as a difference.
[[nodiscard]] constexpr std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
}
[[nodiscard]] constexpr std::int64_t advance(std::int64_t a, std::int64_t by) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(by));
}

inline void put_number(std::string& out, std::uint64_t value) {
  // A call that appends a few bytes takes longer than to push each.
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

inline void put_signed(std::string& out, std::int64_t value) { put_number(out, fold(value)); }

inline void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text);
}

inline void put_fixed(std::string& out, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}
inline void put_fixed(char* to, std::uint64_t value, int width) noexcept {
  for (int i = 0; i < width; ++i) to[i] = static_cast<char>(value >> (8 * i) & 0xff);
}
[[nodiscard]] inline std::uint64_t get_fixed(const char* from, int width) noexcept {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i) value |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return value;
}

enum class NumberFault : std::uint8_t { none, cut, wrong };

/// Reads a number at `at` and moves `at` behind it. cut: the bytes end before the number does. wrong: the number exceeds 64
/// bits, or has more bytes than it needs.
inline NumberFault take_number(const char*& at, const char* end, std::uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end) return NumberFault::cut;
    const auto byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return (byte == 0 && shift != 0) || (shift == 63 && byte > 1) ? NumberFault::wrong : NumberFault::none;
  }
  return NumberFault::wrong;
}

/// Writes behind a string, with the members that the encoding of updates asks for.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) noexcept : out_(&out) {}
  void byte(std::uint8_t value) { out_->push_back(static_cast<char>(value)); }
  void number(std::uint64_t value) { put_number(*out_, value); }
  void signed_number(std::int64_t value) { put_signed(*out_, value); }
  void text(std::string_view text) { put_text(*out_, text); }
  void fixed(std::uint64_t value, int width) { put_fixed(*out_, value, width); }

 private:
  std::string* out_;
};

/// Takes bytes from the front of a text. If bytes are missing or a number is none, it fails permanently and returns zeros and
/// empty texts from then on. So the caller may check sound() once, at the end. In a loop over a count that was read, check it
/// each time.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool sound() const noexcept { return sound_; }
  /// Whether the text was sound and nothing is left.
  [[nodiscard]] bool finished() const noexcept { return sound_ && at_ == end_; }
  /// The number of bytes not taken yet.
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  void fail() noexcept {
    sound_ = false;
    at_ = end_;
  }

  std::uint8_t byte() noexcept {
    if (at_ == end_) {
      fail();
      return 0;
    }
    return static_cast<std::uint8_t>(*at_++);
  }

  std::uint64_t number() noexcept {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) return static_cast<unsigned char>(*at_++);
    std::uint64_t value = 0;
    if (take_number(at_, end_, value) == NumberFault::none) return value;
    fail();
    return 0;
  }

  std::int64_t signed_number() noexcept { return unfold(number()); }

  std::string_view text() noexcept {
    const std::uint64_t size = number();
    if (size > left()) fail();
    if (!sound_) return {};
    const std::string_view text(at_, size);
    at_ += size;
    return text;
  }

  std::uint64_t fixed(int width) noexcept {
    if (left() < static_cast<std::size_t>(width)) {
      fail();
      return 0;
    }
    const std::uint64_t value = get_fixed(at_, width);
    at_ += width;
    return value;
  }

 private:
  const char* at_;
  const char* end_;
  bool sound_ = true;
};

}  // namespace deltamatch::encoding
