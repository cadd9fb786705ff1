// Prepares the start of a foreign server's answer for the log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltamatch::ingest {

/// Texts that an answer may repeat but a log must not show.
class Secrets {
 public:
  /// Hides the text wherever it occurs. Also hides its parts of four characters or more, between punctuation and blanks.
  void add(std::string_view text);

  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }
  /// Length of the longest one.
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

 private:
  void add_part(std::string_view text);

  std::vector<std::string> texts_;
  std::size_t longest_ = 0;
};

/// The length of an excerpt, and how many bytes of the body are needed to make it.
inline constexpr std::size_t excerpt_bytes = 200;
inline constexpr std::size_t excerpt_source = 16 * excerpt_bytes;
[[nodiscard]] constexpr std::size_t excerpt_source_bytes(std::size_t longest_secret) {
  return excerpt_source + longest_secret + 1;
}

/// The first `excerpt_bytes` of a body as one line of valid UTF-8, followed by … if there is more. Secrets become ***. Blanks,
/// line ends and characters that control a terminal or the direction of text become one blank. Bytes that are not UTF-8 become
/// ?. `body` must be complete or have at least excerpt_source_bytes(secrets.longest()). O(body * secrets).
[[nodiscard]] std::string make_excerpt(std::string_view body, const Secrets& secrets);

}  // namespace deltamatch::ingest
