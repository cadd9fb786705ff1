// Encodes numbers and texts as bytes. Numbers are base 128 with the low digits first; signed ones are zigzag-encoded. Texts
// follow their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

inline void put_number(std::string& out, std::uint64_t value) {
  char digits[10];
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>(value | 0x80);
  digits[count++] = static_cast<char>(value);
  out.append(digits, count);
}

inline void put_signed(std::string& out, std::int64_t value) {
  put_number(out, static_cast<std::uint64_t>(value) << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

inline void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text);
}

/// Fixed width, little-endian.
inline void put_fixed(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

[[nodiscard]] inline std::uint64_t get_fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Takes bytes from the front of a text. If bytes are missing, it fails permanently and returns zeros and empty texts from then
/// on. So the caller may check sound() once, at the end. In a loop over a count that was read, check it each time.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool sound() const noexcept { return sound_; }
  /// Whether the text was sound and nothing is left.
  [[nodiscard]] bool finished() const noexcept { return sound_ && bytes_.empty(); }
  /// The number of bytes not taken yet.
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }
  void fail() noexcept {
    sound_ = false;
    bytes_ = {};
  }

  std::uint8_t byte() noexcept {
    if (bytes_.empty()) {
      fail();
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }

  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t digit = byte();
      if (shift == 63 && digit > 1) break;
      value |= (digit & 0x7f) << shift;
      if (digit < 0x80) return value;
    }
    fail();
    return 0;
  }

  std::int64_t signed_number() noexcept {
    const std::uint64_t bits = number();
    return static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  }

  std::string_view text() noexcept {
    const std::uint64_t size = number();
    if (size > bytes_.size()) fail();
    if (!sound_) return {};
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view bytes_;
  bool sound_ = true;
};

}  // namespace deltamatch::ingest
