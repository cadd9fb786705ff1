#include "mine/visitors.hpp"

#include <algorithm>

namespace deltamatch::mine {

std::uint64_t ExtendVisitor::visit(const Traversal& t, const PatternTable::State& state, Key, std::uint32_t first) {
  const std::uint32_t last = t.stack_size();
  for (std::uint32_t i = first; i < last; ++i) ++of_mask_[t.mask(t.at(i))];
  const auto count = [&](std::uint32_t mask) {
    if (of_mask_[mask] == 0) return;
    counts[table_.next_class(t.size(), state.pattern, state.places.moved(mask))] += of_mask_[mask];
    of_mask_[mask] = 0;
  };
  if (last - first < 1U << t.size()) {
    for (std::uint32_t i = first; i < last; ++i) count(t.mask(t.at(i)));
  } else {
    for (std::uint32_t mask = 1; mask < 1U << t.size(); ++mask) count(mask);
  }
  return last - first;
}

PairTable::PairTable(const PatternTable& table) : size_(table.k() - 2) {
  const std::size_t patterns = table.patterns(size_).size();
  const std::uint32_t masks = 1U << size_;
  classes_.resize(patterns << (2 * size_ + 1), 0);
  std::size_t at = 0;
  for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
    for (std::uint32_t a = 0; a < masks; ++a) {
      for (std::uint32_t b = 0; b < masks; ++b) {
        for (const bool joined : {false, true}) {
          if (a != 0 && (b != 0 || joined)) {
            classes_[at] = table.pair_class(size_, static_cast<ClassId>(pattern), a, b, joined);
          }
          ++at;
        }
      }
    }
  }
}

std::uint64_t PairVisitor::scan(const Traversal& t, std::uint32_t first) {
  const std::uint8_t* const marks = t.marks();
  std::uint64_t steps = 0;
  for (std::uint32_t i = first; i < t.stack_size(); ++i) {
    const VertexId v = t.at(i);
    const std::uint32_t mask = t.mask(v);
    if (candidates_[mask]++ == 0) present_.push_back(mask);
    auto& reached = reached_[mask];
    std::uint64_t seen = 0;
    std::uint64_t marked = 0;
    t.for_each_behind_root(v, [&](VertexId u) {
      ++seen;
      const std::uint8_t mark = marks[u];
      if (mark == 0) return;
      ++marked;
      ++reached[mark];
    });
    reached[0] += seen - marked;
    steps += seen;
  }
  return steps;
}

std::uint64_t PairVisitor::visit(const Traversal& t, const PatternTable::State& state, Key, std::uint32_t first) {
  present_.clear();
  const std::uint64_t steps = scan(t, first);
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const std::uint32_t a = present_[i];
    const std::uint32_t moved_a = state.places.moved(a);
    counts[pairs_.at(state.pattern, moved_a, 0, true)] += reached_[a][0];
    for (std::size_t j = 0; j <= i; ++j) {
      const std::uint32_t b = present_[j];
      const std::uint32_t moved_b = state.places.moved(b);
      const std::uint64_t seen = reached_[a][b | Traversal::candidate];  // joined pairs, counted from a's side
      const std::uint64_t joined = i == j ? seen / 2 : seen;
      const Count all = i == j ? Count{candidates_[a]} * (candidates_[a] - 1) / 2 : Count{candidates_[a]} * candidates_[b];
      counts[pairs_.at(state.pattern, moved_a, moved_b, true)] += joined;
      counts[pairs_.at(state.pattern, moved_a, moved_b, false)] += all - joined;
    }
  }
  clear(t.size());
  return steps + (t.stack_size() - first);
}

void PairVisitor::clear(unsigned size) noexcept {
  const std::size_t used = std::size_t{1} << size;
  for (const std::uint32_t mask : present_) {
    candidates_[mask] = 0;
    std::fill_n(reached_[mask].begin(), used, 0);
    std::fill_n(reached_[mask].begin() + Traversal::candidate, used, 0);
  }
}

}  // namespace deltamatch::mine
