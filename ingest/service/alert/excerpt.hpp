// What a log may show of a foreign server's answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

/// Texts that an answer may repeat and a log must not.
class Secrets {
 public:
  /// Hides the text wherever it stands, and of its parts, between marks and blanks, those of four characters or more.
  void add(std::string_view text);

  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }
  /// Length of the longest one.
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

 private:
  void add_part(std::string_view text);

  std::vector<std::string> texts_;
  std::size_t longest_ = 0;
};

/// What is shown of the first bytes of a body, and how much of it is needed to show it.
inline constexpr std::size_t excerpt_bytes = 200;
inline constexpr std::size_t excerpt_source = 16 * excerpt_bytes;
[[nodiscard]] constexpr std::size_t excerpt_source_bytes(std::size_t longest_secret) {
  return excerpt_source + longest_secret + 1;
}

/// The first `excerpt_bytes` of a body as valid UTF-8 in one line, with … behind them if there is more. Secrets are ***;
/// blanks, line ends and characters that control a terminal or the direction of text are one blank; bytes that are no UTF-8 are
/// ?. `body` is all of it, or at least its first excerpt_source_bytes(secrets.longest()). O(body * secrets).
[[nodiscard]] std::string make_excerpt(std::string_view body, const Secrets& secrets);

}  // namespace deltamatch::ingest
