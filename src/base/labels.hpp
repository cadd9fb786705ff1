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

/// Interns label texts. A label keeps its number for ever; number 0 is the empty label. Reading is safe from several threads
/// while nobody interns.
class LabelTable {
 public:
  /// How many labels a table takes, the empty one among them.
  static constexpr std::size_t max_labels = std::size_t{1} << 31;

  /// `limit` >= 1 is for tests.
  explicit LabelTable(std::size_t limit = max_labels);

  /// The number of `text`, a new one (the next in turn) where it has none yet. Amortised O(length). Throws Error when all
  /// numbers are in use. Strong exception guarantee.
  LabelId intern(std::string_view text);

  [[nodiscard]] std::optional<LabelId> find(std::string_view text) const noexcept;

  /// The text of a label that was interned; valid as long as the table, moves included.
  [[nodiscard]] std::string_view text(LabelId label) const noexcept { return TextArena::text(blocks_[label]); }

  /// How many labels there are, the empty one among them; at least 1.
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }

  /// Allocated bytes, unused room included.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  std::size_t limit_;
  std::vector<const std::byte*> blocks_;  ///< by label
  TextArena texts_;
  HashIndex index_;
};

}  // namespace deltamatch
