// Conditions precomputed per pattern. Whether to grow a part, or to keep a subgraph, is one look-up by class.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mine/pattern_table.hpp"

namespace deltamatch::mine {

class ConditionTable {
 public:
  ConditionTable(const PatternTable& table, const std::optional<Condition>& where, const std::optional<Condition>& growing) {
    const unsigned k = table.k();
    for (unsigned size = 1; size <= k; ++size) {
      for (const Key key : table.patterns(size)) {
        const bool admitted = (!where || where->may_hold(size, key, k)) && (!growing || size == 1 || growing->holds(size, key));
        admitted_[size].push_back(admitted ? 1 : 0);
      }
    }
  }

  [[nodiscard]] bool admits(unsigned size, ClassId pattern) const noexcept { return admitted_[size][pattern] != 0; }

 private:
  std::array<std::vector<std::uint8_t>, max_k + 1> admitted_;
};

}  // namespace deltamatch::mine
