// Counts at the leaves of an enumeration.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mine/conditions.hpp"
#include "mine/enumeration.hpp"

namespace deltamatch::mine {

/// Counts by pattern. No sum of one run exceeds 2^128: each of fewer than 2^64 steps adds less than 2^63.
using PatternCounts = std::vector<Count>;

/// Works at subgraphs of k - 1 vertices. It counts the candidates by their neighbours, then finds each kind's pattern by one
/// look-up.
class ExtendVisitor {
 public:
  ExtendVisitor(const PatternTable& table, const ConditionTable& conditions)
      : counts(table.patterns(table.k()).size(), 0), table_(table), conditions_(conditions) {}

  [[nodiscard]] bool admit(const Traversal& t, VertexId, const PatternTable::State& state, Key) const noexcept {
    return conditions_.admits(t.size() + 1, state.pattern);
  }
  std::uint64_t visit(const Traversal& t, const PatternTable::State& state, Key key, std::uint32_t first);

  PatternCounts counts;

 private:
  const PatternTable& table_;
  const ConditionTable& conditions_;
  std::array<std::uint32_t, 1U << (max_k - 1)> of_mask_{};
};

/// The pattern that two more vertices with given moved masks make of a pattern of k - 2 vertices.
class PairTable {
 public:
  explicit PairTable(const PatternTable& table);
  [[nodiscard]] ClassId at(ClassId pattern, std::uint32_t a, std::uint32_t b, bool joined) const noexcept {
    return classes_[((((std::size_t{pattern} << size_) | a) << size_ | b) << 1) | (joined ? 1U : 0U)];
  }
  /// The classes, in the order of the arguments of at().
  [[nodiscard]] const std::vector<ClassId>& classes() const noexcept { return classes_; }

 private:
  unsigned size_;
  std::vector<ClassId> classes_;
};

/// Works at subgraphs of k - 2 vertices. It counts the pairs of vertices that complete them. Both vertices are candidates, or
/// one is a candidate and the other is adjacent to it alone.
/// - Joined pairs of candidates with given masks are counted along the candidates' lists.
/// - The remaining pairs of candidates are not joined.
/// - The rest of a candidate's list are vertices that only this candidate reaches.
class PairVisitor {
 public:
  PairVisitor(const PatternTable& table, const PairTable& pairs, const ConditionTable& conditions)
      : counts(table.patterns(table.k()).size(), 0), pairs_(pairs), conditions_(conditions) {}

  [[nodiscard]] bool admit(const Traversal& t, VertexId, const PatternTable::State& state, Key) const noexcept {
    return conditions_.admits(t.size() + 1, state.pattern);
  }
  std::uint64_t visit(const Traversal& t, const PatternTable::State& state, Key key, std::uint32_t first);

  PatternCounts counts;

 private:
  static constexpr std::size_t masks = 1U << (max_k - 2);
  std::uint64_t scan(const Traversal& t, std::uint32_t first);
  void clear(unsigned size) noexcept;

  const PairTable& pairs_;
  const ConditionTable& conditions_;
  std::vector<std::uint32_t> present_;                           // masks that candidates have
  std::array<std::uint64_t, masks> candidates_{};                // by mask
  std::array<std::array<std::uint64_t, 256>, masks> reached_{};  // by mask of the candidate, then by mark of its neighbour
};

}  // namespace deltamatch::mine
