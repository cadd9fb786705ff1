// A table that maps labels to dense numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_index.hpp"
#include "base/text_arena.hpp"
#include "base/types.hpp"

namespace deltamatch {

/// Interns label texts. A label keeps its number until it is freed. Number 0 is the empty label, which is never freed. A new
/// label takes the smallest free number, so its number depends only on the labels in use. Several threads may read while no
/// thread changes the table.
class LabelTable {
 public:
  /// The most labels that a table can hold, including the empty one.
  static constexpr std::size_t max_labels = std::size_t{1} << 31;

  /// A `limit` >= 1 is for tests.
  explicit LabelTable(std::size_t limit = max_labels);

  /// Returns the number of `text`. A new text gets the smallest free number. Amortised O(length), plus O(numbers / 64) after a
  /// label was freed. Throws Error if all numbers are in use. Strong exception guarantee.
  LabelId intern(std::string_view text);

  /// Gives `text` the number `label`. The number must be free, and the text must be new and not empty. Smaller numbers that are
  /// not in use become free. Strong exception guarantee.
  void restore(LabelId label, std::string_view text);

  /// Removes a label, so that its number and memory can be used again. It must be in use and not be the empty label.
  void free(LabelId label) noexcept;

  /// Whether a label has this number. Any number may be given.
  [[nodiscard]] bool in_use(LabelId label) const noexcept {
    return label < blocks_.size() && (free_[label / 64] >> (label % 64) & 1U) == 0;
  }

  [[nodiscard]] std::optional<LabelId> find(std::string_view text) const noexcept;

  /// Returns the text of a number below size(), empty if the number is free. It stays valid until the label is freed, even if
  /// the table is moved.
  [[nodiscard]] std::string_view text(LabelId label) const noexcept { return TextArena::text(blocks_[label]); }

  /// One past the largest number in use; at least 1.
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }

  /// The number of labels, including the empty one; at least 1.
  [[nodiscard]] std::size_t count() const noexcept { return index_.size(); }

  /// A version number that changes whenever a label is added or removed.
  [[nodiscard]] std::uint64_t edition() const noexcept { return edition_; }

  /// The numbers of the texts that are several labels (deltamatch/labels.hpp), ascending.
  [[nodiscard]] std::span<const LabelId> several() const noexcept { return several_; }

  /// Allocated bytes, including unused room.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  [[nodiscard]] LabelId least_free() const noexcept;
  void enter(LabelId label, std::string_view text);

  std::size_t limit_;
  std::vector<const std::byte*> blocks_;  ///< by number; free numbers have the block of the empty label
  std::vector<std::uint64_t> free_;       ///< one bit for each number below size(), then zeros
  std::size_t first_free_ = 0;            ///< words of free_ before this one have no bit set
  std::vector<LabelId> several_;
  std::uint64_t edition_ = 0;
  TextArena texts_;
  HashIndex index_;
};

}  // namespace deltamatch
