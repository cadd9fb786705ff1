// Walks the traversals of all subgraphs of `depth` vertices on all cores, and calls a visitor for each of them.
//
// Each thread has its own visitor, with two functions:
// - bool admit(traversal, v, state, key): whether to grow the part that taking v makes, or to visit it at full depth. The part
//   has at least 2 vertices; state and key are those of the part.
// - std::uint64_t visit(traversal, state, key, first): called at full depth. The canonical candidates are at [first, stack
//   top). It returns the approximate number of its steps.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "mine/pattern_table.hpp"
#include "mine/run_control.hpp"
#include "mine/task_pool.hpp"
#include "mine/traversal.hpp"

namespace deltamatch::mine {

/// A part of the search tree: the taken vertices, as the root and positions of the stack, and the range of candidates to take
/// next.
struct WalkTask {
  VertexId root = 0;
  unsigned size = 1;
  std::array<std::uint32_t, max_k> positions{};  // of the vertices after the root
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  /// Whether the task is all of a root's candidates, which are not known before the root is taken.
  [[nodiscard]] bool is_start() const noexcept { return last == 0; }
};

template <class Visitor>
class Walk {
 public:
  Walk(const OrderedGraph& graph, const PatternTable& table, unsigned depth, TaskPool<WalkTask>& pool, RunControl& control,
       unsigned worker, Visitor& visitor)
      : table_(table), depth_(depth), pool_(pool), visitor_(visitor), check_(control, worker), traversal_(graph) {}

  void run(const WalkTask& task) {
    floor_ = task.size;
    states_[1] = PatternTable::start();
    keys_[1] = 0;
    traversal_.take(task.root);
    if (task.is_start() && depth_ == 1) {
      visit(0);
    } else if (task.is_start()) {
      grow(0, traversal_.stack_size());
    } else {
      std::uint32_t position = 0;
      for (unsigned size = 1; size < task.size; ++size) {
        for (; position <= task.positions[size]; ++position) traversal_.pass(position);
        const auto [state, key] = with(traversal_.at(task.positions[size]));
        take(task.positions[size], state, key);
      }
      for (; position < task.first; ++position) traversal_.pass(position);
      grow(task.first, task.last);
    }
    while (traversal_.size() > 0) traversal_.undo_take();
  }

 private:
  using State = PatternTable::State;

  /// Takes the candidates at [first, last) one after the other. Returns false if the run was stopped. The marks are then
  /// undefined until everything is untaken.
  bool grow(std::uint32_t first, std::uint32_t last) {
    const unsigned size = traversal_.size();
    next_[size] = first;
    last_[size] = last;
    for (; next_[size] < last_[size]; ++next_[size]) {
      const std::uint32_t position = next_[size];
      const VertexId v = traversal_.at(position);
      traversal_.pass(position);
      if (!check_.go_on(0)) return false;
      const auto [state, key] = with(v);
      if (!visitor_.admit(traversal_, v, state, key)) continue;
      if (pool_.has_waiting_threads()) donate();
      take(position, state, key);
      const bool go = size + 1 == depth_ ? visit(position + 1) : grow(position + 1, traversal_.stack_size());
      traversal_.undo_take();
      if (!go) return false;
    }
    for (std::uint32_t position = first; position < last_[size]; ++position) traversal_.undo_pass(position);
    return true;
  }

  bool visit(std::uint32_t first) {
    const unsigned size = traversal_.size();
    return check_.go_on(visitor_.visit(traversal_, states_[size], keys_[size], first));
  }

  [[nodiscard]] std::pair<State, Key> with(VertexId v) const {
    const unsigned size = traversal_.size();
    const std::uint32_t mask = traversal_.mask(v);
    return {table_.next(size, states_[size], mask), grown(keys_[size], size, mask)};
  }

  void take(std::uint32_t position, const State& state, Key key) {
    const unsigned size = traversal_.size();
    positions_[size] = position;
    states_[size + 1] = state;
    keys_[size + 1] = key;
    traversal_.take(traversal_.at(position));
  }

  /// Gives away half of the remaining candidates at the smallest size that has any.
  void donate() {
    for (unsigned size = floor_; size <= traversal_.size() && size < depth_; ++size) {
      const std::uint32_t first = next_[size] + 1;
      if (first >= last_[size]) continue;
      const std::uint32_t middle = first + (last_[size] - first) / 2;
      WalkTask task{.root = traversal_.root(), .size = size, .first = middle, .last = last_[size]};
      std::copy(positions_.begin(), positions_.begin() + size, task.positions.begin());
      last_[size] = middle;
      pool_.donate(task);
      return;
    }
  }

  const PatternTable& table_;
  unsigned depth_;
  TaskPool<WalkTask>& pool_;
  Visitor& visitor_;
  PeriodicCheck check_;
  Traversal traversal_;
  unsigned floor_ = 1;
  std::array<State, max_k + 1> states_{};
  std::array<Key, max_k + 1> keys_{};
  std::array<std::uint32_t, max_k + 1> positions_{};
  std::array<std::uint32_t, max_k + 1> next_{};
  std::array<std::uint32_t, max_k + 1> last_{};
};

/// Visits all subgraphs of `depth` vertices. Each thread uses its own element of `visitors`.
template <class Visitor>
void walk_all(const OrderedGraph& graph, const PatternTable& table, unsigned depth, Workers& workers, RunControl& control,
              std::vector<Visitor>& visitors) {
  TaskPool<WalkTask> pool(graph.vertices());
  const auto start = [](std::uint64_t root) { return WalkTask{.root = static_cast<VertexId>(root)}; };
  workers.for_each(workers.size(), 1, [&](unsigned worker, std::size_t, std::size_t) {
    try {
      Walk<Visitor> walk(graph, table, depth, pool, control, worker, visitors[worker]);
      bool busy = false;
      while (const std::optional<WalkTask> task = pool.take(busy, start)) {
        control.set_share(pool.share_taken());
        walk.run(*task);
        if (control.stopped()) pool.cancel();
      }
    } catch (...) {
      pool.cancel();
      throw;
    }
  });
}

}  // namespace deltamatch::mine
