// Labels as dense numbers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/types.hpp"

namespace deltamatch {

/// Interns label texts. A label keeps its number for ever; number 0 is the empty label. Reading is safe from several threads
/// while nobody interns.
class LabelTable {
 public:
  LabelTable();
  ~LabelTable();
  LabelTable(LabelTable&&) noexcept;
  LabelTable& operator=(LabelTable&&) noexcept;

  /// The number of `text`, a new one (the next in turn) where it has none yet. Amortised O(length). Strong exception guarantee.
  LabelId intern(std::string_view text);

  [[nodiscard]] std::optional<LabelId> find(std::string_view text) const noexcept;

  /// The text of a label that was interned; valid as long as the table, moves included.
  [[nodiscard]] std::string_view text(LabelId label) const noexcept;

  /// How many labels there are, the empty one among them; at least 1.
  [[nodiscard]] std::size_t size() const noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch
