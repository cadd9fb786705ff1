// External vertex ids: an application names a vertex by a 64-bit integer or a string.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace deltamatch {

/// Event time in microseconds since the epoch, UTC.
using Timestamp = std::int64_t;

/// A non-owning external id. Integers order before strings, integers by value and strings by bytes.
class Id {
 public:
  constexpr Id() noexcept = default;
  constexpr Id(std::int64_t number) noexcept : number_(number) {}  // NOLINT(google-explicit-constructor)
  constexpr Id(std::string_view text) noexcept                     // NOLINT(google-explicit-constructor)
      : text_(text), is_text_(true) {}

  [[nodiscard]] constexpr bool is_text() const noexcept { return is_text_; }
  /// Requires `!is_text()`.
  [[nodiscard]] constexpr std::int64_t number() const noexcept { return number_; }
  /// Requires `is_text()`. Points into memory that belongs to the id's maker.
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

  friend constexpr bool operator==(const Id& a, const Id& b) noexcept {
    return a.is_text_ == b.is_text_ && (a.is_text_ ? a.text_ == b.text_ : a.number_ == b.number_);
  }
  friend constexpr std::strong_ordering operator<=>(const Id& a, const Id& b) noexcept {
    if (a.is_text_ != b.is_text_) return a.is_text_ ? std::strong_ordering::greater : std::strong_ordering::less;
    return a.is_text_ ? a.text_ <=> b.text_ : a.number_ <=> b.number_;
  }

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool is_text_ = false;
};

}  // namespace deltamatch
