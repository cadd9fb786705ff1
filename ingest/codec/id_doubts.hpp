// Doubts about the ids of one input: one number in two forms makes two vertices.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// How a text spells an integer. padded: with zeros or a plus sign in front, as 007. fraction: 7.0. exponent: 4.1E+15.
/// grouped: 1,001.
enum class Spelling : std::uint8_t { none, canonical, padded, fraction, exponent, grouped };

struct SpeltInteger {
  Spelling spelling = Spelling::none;
  std::optional<std::int64_t> value;  // nothing if it is beyond 64 bits
};

/// Reads the spelling. A number with a fraction that is not 0 spells no integer.
[[nodiscard]] SpeltInteger read_spelling(std::string_view text);

/// Remembers ids and compares them. The first 2^17 ids of each kind are remembered. Not thread-safe.
class IdDoubts {
 public:
  /// `spellings`: ids come from text fields, so texts such as 007 and 7.0 are compared with numbers too.
  explicit IdDoubts(bool spellings) noexcept : spellings_(spellings) {}

  /// Looks at an id, and tells `doubts` what it finds.
  void see(const Id& id, Doubts& doubts) { see(id, doubts, spellings_); }
  /// The same for an id of text fields, or of none.
  void see(const Id& id, Doubts& doubts, bool spellings);
  /// Whether no more numbers are remembered, and there is no text to compare them with.
  [[nodiscard]] bool numbers_are_known() const noexcept { return numbers_.left == 0 && texts_.seen.empty() && spelt_.empty(); }

  /// An id that is remembered as a text in one input and as a number in another. O(ids).
  [[nodiscard]] static std::optional<std::int64_t> text_and_number(const IdDoubts& texts, const IdDoubts& numbers);
  /// A text of one input that spells a number of another one. O(ids).
  [[nodiscard]] static std::optional<std::string> spelt_number(const IdDoubts& texts, const IdDoubts& numbers);

 private:
  struct Integers {
    boost::unordered_flat_set<std::int64_t> seen;
    std::size_t left = std::size_t{1} << 17;  // how many more are remembered
    void remember(std::int64_t number) {
      if (left == 0) return;
      --left;
      seen.insert(number);
    }
  };

  void see_text(std::string_view text, Doubts& doubts, bool spellings);

  bool spellings_;
  Integers numbers_;
  Integers texts_;                                              // canonical spellings
  boost::unordered_flat_map<std::int64_t, std::string> spelt_;  // the first other spelling of each number
};

}  // namespace deltamatch::ingest
