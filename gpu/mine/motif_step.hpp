// The walk of one group of lanes over a part of the tree of traversals. The tree has each connected induced subgraph once;
// src/mine/traversal.hpp explains why. A candidate is canonical iff it was discovered after the vertex taken last, so it lies
// above it on the stack. (DuMato's Algorithm 4 compares ids instead.)
//
// The lanes share out lists, candidates and masks. The state of the walk lies in memory that they share.
//
// At full depth, the vertices that complete the subgraph are counted and not taken. They are single candidates, counted by
// mask, or pairs. In a pair, both vertices are candidates, or one is a candidate and the other is a neighbour of it alone. The
// number of non-adjacent pairs is that of all pairs less the adjacent ones. So sums are modulo 2^64, and right only after a
// visit.
//
// Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"
#include "gpu/mine/motif_layout.hpp"

namespace deltamatch::gpu {

/// Sums by pattern that several walks share, modulo 2^64, in two halves. Shared memory adds 32 bits in one operation. For 64
/// bits, it would have to retry until no other lane interferes.
struct MotifSums {
  std::uint32_t* low;
  std::uint32_t* high;

  DELTAMATCH_HOST_DEVICE void add(unsigned pattern, unsigned long long value) const {
    const auto part = static_cast<std::uint32_t>(value);
    const std::uint32_t before = fetch_add(low + pattern, part);
    const std::uint32_t carry = before > ~part ? 1 : 0;
    const std::uint32_t rest = static_cast<std::uint32_t>(value >> 32) + carry;
    if (rest != 0) fetch_add(high + pattern, rest);
  }
  /// Valid once nobody adds any more.
  [[nodiscard]] DELTAMATCH_HOST_DEVICE unsigned long long of(unsigned pattern) const {
    return static_cast<unsigned long long>(high[pattern]) << 32 | low[pattern];
  }
};

/// A vertex that was taken.
struct MotifFrame {
  std::uint32_t vertex;
  std::uint32_t position;    ///< in the stack; unused for the root
  std::uint32_t bottom;      ///< stack size before it discovered its neighbours
  std::uint32_t first;       ///< the first of its candidates
  std::uint32_t next;        ///< the next candidate to take
  std::uint32_t last;        ///< the end of its candidates
  match::PatternStep state;  ///< of the part up to here
};

/// What the lanes of a walk share.
struct MotifScratch {
  static constexpr unsigned most_masks = 1U << (most_motif_vertices - 1);
  MotifFrame frames[most_motif_vertices];
  std::uint32_t of_mask[most_masks];  ///< candidates by moved mask
  std::uint8_t moved[most_masks];     ///< each mask of taken vertices, as places of the canonical form
  std::uint8_t present[most_masks];   ///< moved masks that candidates have
};

/// `Part` is the part of the group that reads the list of one candidate.
template <class Group, class Part>
class MotifWalk {
 public:
  /// `number` is that of the walk.
  DELTAMATCH_HOST_DEVICE MotifWalk(const MotifWork& work, unsigned number, MotifScratch& scratch, MotifSums sums)
      : work_(work),
        tables_(work.tables),
        scratch_(scratch),
        sums_(sums),
        marks_(work.marks + number * work.vertices),
        stack_(work.stacks + number * work.stack_size) {}

  /// Walks inputs until none are left or it is time to end.
  DELTAMATCH_HOST_DEVICE void run() {
    const std::uint64_t inputs = work_.task_count + (work_.last_root - work_.first_root);
    while (!ends()) {
      unsigned long long input = 0;
      if (leads()) input = fetch_add(&work_.progress->taken, 1ULL);
      input = group_.from(input, 0);
      if (input >= inputs) break;
      if (input < work_.task_count) {
        walk(work_.tasks[input]);
      } else {
        walk({work_.first_root + static_cast<std::uint32_t>(input - work_.task_count), 1, {}, 0, 0});
      }
    }
    if (leads()) fetch_add(&work_.progress->idle, 1U);
  }

 private:
  static constexpr std::uint8_t candidate = 0x80;
  static constexpr std::uint8_t taken = 0x7f;  // neighbours among the taken vertices
  static constexpr unsigned lanes = Group::size;
  static constexpr unsigned parts = Group::size / Part::size;
  static constexpr unsigned between_looks = 16;

  DELTAMATCH_HOST_DEVICE bool leads() const { return group_.rank() == 0; }
  DELTAMATCH_HOST_DEVICE MotifFrame& top_frame() const { return scratch_.frames[size_ - 1]; }

  DELTAMATCH_HOST_DEVICE void walk(const MotifTask& task) {
    root_ = task.root;
    take(task.root, 0, {});
    std::uint32_t position = 0;
    for (unsigned size = 1; size < task.size; ++size) {
      pass(position, task.positions[size] + 1);
      position = task.positions[size] + 1;
      const std::uint32_t vertex = stack_[task.positions[size]];
      take(vertex, task.positions[size], state_with(vertex));
    }
    if (task.last > 0) {
      pass(position, task.first);
      begin(position, task.first, task.last);
    } else {
      begin(0, 0, top_);
    }
    if (size_ == tables_.depth) {
      visit();
    } else {
      grow(task.size);
    }
    clear();
  }

  /// Takes candidates, depth first. Stops once those of the part of `floor` vertices are used up, or when it is time to end.
  DELTAMATCH_HOST_DEVICE void grow(unsigned floor) {
    for (bool some = false;; some = true) {  // always takes at least one, so that the walk makes progress
      const MotifFrame& frame = top_frame();
      const std::uint32_t position = frame.next;
      if (position == frame.last) {
        if (size_ == floor) return;
        undo_pass(frame.first, position < frame.bottom ? position : frame.bottom);
        undo_take();
        continue;
      }
      if (some && ends()) return save(floor);
      ++steps_;
      const std::uint32_t vertex = stack_[position];
      const match::PatternStep state = state_with(vertex);
      group_.sync();
      if (leads()) {
        top_frame().next = position + 1;
        marks_[vertex] &= taken;
      }
      group_.sync();
      if (tables_.admitted[tables_.first_pattern[size_ + 1] + state.pattern] == 0) continue;
      take(vertex, position, state);
      begin(position + 1, position + 1, top_);
      if (size_ < tables_.depth) continue;
      visit();
      undo_take();
    }
  }

  /// Whether it is time to end; once true, it stays true. All lanes get the same answer.
  DELTAMATCH_HOST_DEVICE bool ends() {
    if (ended_ || steps_ >= work_.budget) return true;
    if (steps_ < work_.patience || ++looks_ % between_looks != 0) return false;
    unsigned idle = 0;
    if (leads()) idle = *static_cast<const volatile unsigned*>(&work_.progress->idle);
    ended_ = group_.from(idle, 0) >= work_.idle_warps;
    return ended_;
  }

  /// Saves the candidates that are left at every size.
  DELTAMATCH_HOST_DEVICE void save(unsigned floor) {
    if (!leads()) return;
    for (unsigned size = floor; size <= size_; ++size) {
      const MotifFrame& frame = scratch_.frames[size - 1];
      if (frame.next == frame.last) continue;
      MotifTask& task = work_.saved[fetch_add(&work_.progress->saved, 1ULL)];
      task.root = root_;
      task.size = size;
      for (unsigned i = 1; i < size; ++i) task.positions[i] = scratch_.frames[i].position;
      task.first = frame.next;
      task.last = frame.last;
    }
  }

  /// Passes the lane its share of a vertex's neighbours that are greater than the root, in descending order. All `Of` lanes
  /// call `visit(u)` in each round; u is `none` for lanes without a neighbour.
  template <class Of, class Visit>
  DELTAMATCH_HOST_DEVICE unsigned for_each_behind_root(const Of& of, std::uint32_t vertex, Visit&& visit) const {
    const std::uint64_t begin = work_.begin[vertex];
    unsigned rounds = 0;
    for (std::uint64_t end = work_.begin[vertex + 1]; end > begin; end -= end - begin < Of::size ? end - begin : Of::size) {
      const std::uint32_t own = end - begin > of.rank() ? work_.neighbours[end - 1 - of.rank()] : root_;
      visit(own > root_ ? own : none);
      ++rounds;
      if (of.from(own, Of::size - 1) <= root_) break;  // lists ascend
    }
    return rounds;
  }

  /// Takes a vertex and discovers its neighbours. The vertex is the root, or a candidate that pass() has marked.
  DELTAMATCH_HOST_DEVICE void take(std::uint32_t vertex, std::uint32_t position, match::PatternStep state) {
    const auto bit = static_cast<std::uint8_t>(1U << size_);
    if (leads()) {
      MotifFrame& frame = scratch_.frames[size_];
      frame.vertex = vertex;
      frame.position = position;
      frame.bottom = top_;
      frame.state = state;
    }
    ++size_;
    steps_ += for_each_behind_root(group_, vertex, [&](std::uint32_t u) {
      const std::uint8_t mark = u != none ? marks_[u] : taken;
      const unsigned fresh = group_.ballot(mark == 0);
      if (u != none) marks_[u] = static_cast<std::uint8_t>(mark | bit | (mark == 0 ? candidate : 0));
      if (mark == 0) stack_[top_ + count_bits(fresh & ((1U << group_.rank()) - 1))] = u;
      top_ += count_bits(fresh);
    });
    group_.sync();
  }

  DELTAMATCH_HOST_DEVICE void undo_take() {
    const std::uint32_t vertex = top_frame().vertex;
    const std::uint32_t bottom = top_frame().bottom;
    const auto kept = static_cast<std::uint8_t>(~(1U << --size_));
    for (std::uint32_t i = bottom + group_.rank(); i < top_; i += lanes) marks_[stack_[i]] = 0;
    top_ = bottom;
    group_.sync();
    for_each_behind_root(group_, vertex, [&](std::uint32_t u) {
      if (u != none) marks_[u] &= kept;
    });
    group_.sync();
  }

  /// Marks candidates that were skipped, or are about to be taken, as no longer canonical.
  DELTAMATCH_HOST_DEVICE void pass(std::uint32_t first, std::uint32_t last) const {
    for (std::uint32_t i = first + group_.rank(); i < last; i += lanes) marks_[stack_[i]] &= taken;
    group_.sync();
  }
  DELTAMATCH_HOST_DEVICE void undo_pass(std::uint32_t first, std::uint32_t last) const {
    for (std::uint32_t i = first + group_.rank(); i < last; i += lanes) marks_[stack_[i]] |= candidate;
    group_.sync();
  }

  /// Sets which candidates to take after the last taken vertex.
  DELTAMATCH_HOST_DEVICE void begin(std::uint32_t first, std::uint32_t next, std::uint32_t last) const {
    if (leads()) {
      top_frame().first = first;
      top_frame().next = next;
      top_frame().last = last;
    }
    group_.sync();
  }

  DELTAMATCH_HOST_DEVICE void clear() {
    for (std::uint32_t i = group_.rank(); i < top_; i += lanes) marks_[stack_[i]] = 0;
    size_ = 0;
    top_ = 0;
    group_.sync();
  }

  DELTAMATCH_HOST_DEVICE static unsigned place(std::uint32_t places, unsigned position) { return places >> 4 * position & 15U; }

  DELTAMATCH_HOST_DEVICE static unsigned moved(std::uint32_t places, unsigned mask) {
    unsigned out = 0;
    for (; mask != 0; mask >>= 1, places >>= 4) out |= (mask & 1U) << (places & 15U);
    return out;
  }

  DELTAMATCH_HOST_DEVICE match::PatternStep step(match::PatternStep state, unsigned moved_mask) const {
    return tables_.steps[tables_.first_step[size_] + (state.pattern << size_ | moved_mask)];
  }

  /// The state after taking a candidate.
  DELTAMATCH_HOST_DEVICE match::PatternStep state_with(std::uint32_t vertex) const {
    const match::PatternStep state = top_frame().state;
    const match::PatternStep entry = step(state, moved(state.places, marks_[vertex] & taken));
    match::PatternStep next{0, entry.pattern};
    for (unsigned i = 0; i < size_; ++i) next.places |= place(entry.places, place(state.places, i)) << 4 * i;
    next.places |= place(entry.places, size_) << 4 * size_;
    return next;
  }

  /// Counts what completes the subgraph.
  DELTAMATCH_HOST_DEVICE void visit() {
    const match::PatternStep state = top_frame().state;
    const std::uint32_t first = top_frame().first;
    const unsigned masks = 1U << size_;
    for (unsigned mask = group_.rank(); mask < masks; mask += lanes) {
      scratch_.moved[mask] = static_cast<std::uint8_t>(moved(state.places, mask));
      scratch_.of_mask[mask] = 0;
    }
    group_.sync();
    for (std::uint32_t i = first + group_.rank(); i < top_; i += lanes) fetch_add(&scratch_.of_mask[moved_of(stack_[i])], 1U);
    group_.sync();
    steps_ += (top_ - first + lanes - 1) / lanes + 1;
    if (tables_.pairs == nullptr) {
      for (unsigned mask = group_.rank(); mask < masks; mask += lanes) {
        if (const std::uint32_t found = scratch_.of_mask[mask]; found != 0) count(step(state, mask).pattern, found);
      }
    } else {
      count_reached(state.pattern, first);
      count_all_pairs(state.pattern, masks);
    }
    group_.sync();
  }

  DELTAMATCH_HOST_DEVICE unsigned moved_of(std::uint32_t vertex) const { return scratch_.moved[marks_[vertex] & taken]; }

  DELTAMATCH_HOST_DEVICE void count(unsigned pattern, unsigned long long found) const { sums_.add(pattern, found); }

  /// The patterns with two more vertices: not adjacent, then adjacent.
  DELTAMATCH_HOST_DEVICE const std::uint16_t* pair(unsigned pattern, unsigned a, unsigned b) const {
    return tables_.pairs + (std::size_t{(pattern << size_ | a) << size_ | b} << 1);
  }

  /// Counts along the lists of candidates. It counts adjacent pairs, each from its lesser vertex, and vertices that only one
  /// candidate reaches.
  DELTAMATCH_HOST_DEVICE void count_reached(unsigned pattern, std::uint32_t first) {
    const Part part{};
    unsigned rounds = 0;
    for (std::uint32_t i = first + group_.rank() / Part::size; i < top_; i += parts) {
      const std::uint32_t vertex = stack_[i];
      const unsigned a = moved_of(vertex);
      unsigned alone = 0;
      rounds += for_each_behind_root(part, vertex, [&](std::uint32_t u) {
        const std::uint8_t mark = u != none ? marks_[u] : taken;
        if (mark == 0) ++alone;
        if ((mark & candidate) == 0 || u < vertex) return;
        const std::uint16_t* const both = pair(pattern, a, scratch_.moved[mark & taken]);
        count(both[1], 1);
        count(both[0], ~0ULL);  // one less of all pairs
      });
      alone = part.sum(alone);
      if (part.rank() == 0 && alone != 0) count(pair(pattern, a, 0)[1], alone);
    }
    group_.sync();
    steps_ += group_.sum(part.rank() == 0 ? rounds : 0) / parts;
  }

  /// Counts all pairs of candidates, as if none were adjacent.
  DELTAMATCH_HOST_DEVICE void count_all_pairs(unsigned pattern, unsigned masks) const {
    unsigned kinds = 0;
    for (unsigned base = 0; base < masks; base += lanes) {
      const unsigned mask = base + group_.rank();
      const bool is_present = mask < masks && scratch_.of_mask[mask] != 0;
      const unsigned all = group_.ballot(is_present);
      if (is_present) scratch_.present[kinds + count_bits(all & ((1U << group_.rank()) - 1))] = static_cast<std::uint8_t>(mask);
      kinds += count_bits(all);
    }
    group_.sync();
    for (unsigned i = 0; i < kinds; ++i) {
      const unsigned a = scratch_.present[i];
      const unsigned long long of_a = scratch_.of_mask[a];
      for (unsigned j = group_.rank(); j <= i; j += lanes) {
        const unsigned b = scratch_.present[j];
        const unsigned long long found = i == j ? of_a * (of_a - 1) / 2 : of_a * scratch_.of_mask[b];
        if (found != 0) count(pair(pattern, a, b)[0], found);
      }
    }
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  const MotifWork& work_;
  const MotifTableView& tables_;
  MotifScratch& scratch_;
  MotifSums sums_;
  std::uint8_t* marks_;
  std::uint32_t* stack_;
  Group group_;
  std::uint32_t root_ = 0;
  std::uint32_t top_ = 0;
  unsigned size_ = 0;
  unsigned steps_ = 0;
  unsigned looks_ = 0;
  bool ended_ = false;
};

}  // namespace deltamatch::gpu
