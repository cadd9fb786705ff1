// External vertex ids: an application names a vertex by a 64-bit integer or a string.
#pragma once

#if __cplusplus < 202002L
#error "deltamatch needs C++20: compile with -std=c++20"
#endif

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace deltamatch {

/// Event time in microseconds since the epoch, UTC.
using Timestamp = std::int64_t;

/// A non-owning external id. Integers order before strings, integers by value and strings by bytes.
class Id {
 private:
  template <class T>  // bool and characters are no ids, although they convert to integers
  static constexpr bool is_character = std::same_as<T, bool> || std::same_as<T, char> || std::same_as<T, wchar_t> ||
                                       std::same_as<T, char8_t> || std::same_as<T, char16_t> || std::same_as<T, char32_t>;
  template <class T>
  static constexpr bool always_fits = sizeof(T) < sizeof(std::int64_t) || std::signed_integral<T>;

 public:
  constexpr Id() noexcept = default;
  /// Any integer of at most 64 bits. Throws std::out_of_range if it is above 2^63 - 1, which only an unsigned one can be.
  template <std::integral Integer>
    requires(!is_character<Integer> && sizeof(Integer) <= sizeof(std::int64_t))
  constexpr Id(Integer number) noexcept(always_fits<Integer>)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<std::int64_t>(number)) {
    if constexpr (!always_fits<Integer>) {
      if (!std::in_range<std::int64_t>(number)) throw std::out_of_range("an id above 2^63 - 1");
    }
  }
  constexpr Id(std::string_view text) noexcept  // NOLINT(google-explicit-constructor)
      : text_(text), is_text_(true) {}
  constexpr Id(const char* text) noexcept : Id(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  constexpr Id(const std::string& text) noexcept : Id(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Id(std::nullptr_t) = delete;                                                    // NOLINT(google-explicit-constructor)

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
  /// The text, or the decimal digits of the number. So 7 and "7" have the same.
  [[nodiscard]] friend std::string to_string(const Id& id) {
    return id.is_text_ ? std::string(id.text_) : std::to_string(id.number_);
  }

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool is_text_ = false;
};

}  // namespace deltamatch

/// For containers of ids. They hold views, so the texts must outlive them.
template <>
struct std::hash<deltamatch::Id> {
  [[nodiscard]] std::size_t operator()(const deltamatch::Id& id) const noexcept {
    return id.is_text() ? std::hash<std::string_view>{}(id.text()) : std::hash<std::int64_t>{}(id.number());
  }
};
