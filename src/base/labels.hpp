// Labels as dense numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash_index.hpp"
#include "base/text_arena.hpp"
#include "base/types.hpp"

namespace deltamatch {

/// Interns label texts. A label keeps its number until it is freed; number 0 is the empty label, which never is. The numbers
/// depend on nothing but which labels are in use: a new label takes the least free one. Reading is safe from several threads
/// while nobody changes the table.
class LabelTable {
 public:
  /// How many labels a table takes, the empty one among them.
  static constexpr std::size_t max_labels = std::size_t{1} << 31;

  /// `limit` >= 1 is for tests.
  explicit LabelTable(std::size_t limit = max_labels);

  /// The number of `text`, the least free one if it has none yet. Amortised O(length), plus O(numbers / 64) after a label was
  /// freed. Throws Error when all numbers are in use. Strong exception guarantee.
  LabelId intern(std::string_view text);

  /// Gives `text`, which has no number yet, one that is free; those below that no label has taken are free. Not the empty text.
  /// Strong exception guarantee.
  void restore(LabelId label, std::string_view text);

  /// The label, which is in use and not the empty one, is forgotten; its number and room are used again.
  void free(LabelId label) noexcept;

  /// Whether a label has this number, be it any.
  [[nodiscard]] bool in_use(LabelId label) const noexcept {
    return label < blocks_.size() && (free_[label / 64] >> (label % 64) & 1U) == 0;
  }

  [[nodiscard]] std::optional<LabelId> find(std::string_view text) const noexcept;

  /// The text of a number below size(): empty if the number is free. Valid until the label is freed, moves included.
  [[nodiscard]] std::string_view text(LabelId label) const noexcept { return TextArena::text(blocks_[label]); }

  /// One past the largest number in use; at least 1.
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }

  /// How many labels there are, the empty one among them; at least 1.
  [[nodiscard]] std::size_t count() const noexcept { return index_.size(); }

  /// Another one once a label has come or gone.
  [[nodiscard]] std::uint64_t edition() const noexcept { return edition_; }

  /// Allocated bytes, unused room included.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  [[nodiscard]] LabelId least_free() const noexcept;
  void enter(LabelId label, std::string_view text);

  std::size_t limit_;
  std::vector<const std::byte*> blocks_;  ///< by number; of a free one that of the empty label
  std::vector<std::uint64_t> free_;       ///< a bit by number below size(), and zeros
  std::size_t first_free_ = 0;            ///< no word of free_ before it has a bit set
  std::uint64_t edition_ = 0;
  TextArena texts_;
  HashIndex index_;
};

}  // namespace deltamatch
