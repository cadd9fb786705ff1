// Sets of k vertices that lack at most `budget` <= k - 2 of their edges, around one vertex at a time.
//
// Take two vertices of such a set. Each of the other k - 2 vertices that is not joined to both costs an edge. So the two have
// at least k - 2 - budget common neighbours in the set, and one more if they are not joined. That is at least one, so every
// such set is connected.
//
// The root of a set is its first vertex in a degeneracy order. The other vertices are later neighbours of the root, or later
// vertices that share enough later neighbours with it. These candidates are few, so their adjacency becomes rows of bits. The
// sets are enumerated in ascending order of local numbers. Candidates are in layers by the number of taken vertices that they
// are not joined to. Taking v moves the candidates that are not joined to v one layer up, and drops those that leave the last
// layer. The last vertex is counted, not taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mine/clique_space.hpp"
#include "mine/root_candidates.hpp"
#include "mine/set_store.hpp"

namespace deltamatch::mine {

class DenseSets {
 public:
  /// A part of the sets of a root: those whose second vertex has a local number with remainder `part` modulo `parts`.
  struct Task {
    VertexId root;
    unsigned part;
    unsigned parts;
  };

  /// `store` may be null: then the sets are only counted.
  DenseSets(const OrderedGraph& graph, unsigned k, unsigned budget, RunControl& control, unsigned worker, SetStore* store)
      : by_missing(budget + 1, 0),
        graph_(&graph),
        root_candidates_(graph, k, budget),
        k_(k),
        budget_(budget),
        check_(control, worker),
        store_(store),
        local_(graph.vertices(), 0),
        taken_(k),
        part_(k) {}

  static std::vector<Task> tasks(const OrderedGraph& graph, std::span<const VertexId> roots) {
    std::vector<Task> all;
    for (const VertexId v : roots) {
      const auto parts = static_cast<unsigned>(1 + graph.later(v).size() / 16);
      for (unsigned part = 0; part < parts; ++part) all.push_back({v, part, parts});
    }
    return all;
  }

  void run(const Task& task) {
    centre(task.root);
    part_of_ = task;
    taken_[0] = task.root;
    Word* const layers = layers_.data();
    std::fill_n(layers, (budget_ + 1) * words_, 0);
    for (unsigned i = 0; i < members_.size(); ++i) {
      const unsigned layer = i < joined_ ? 0 : 1;
      if (layer <= budget_) layers[layer * words_ + i / 64] |= Word{1} << i % 64;
    }
    if (k_ == 2) {
      if (task.part == 0) complete(layers, 1, 0);
    } else {
      grow(layers, 1, 0);
    }
  }

  void finish() {
    if (store_ != nullptr) store_->flush(found_);
  }

  std::vector<Count> by_missing;

 private:
  /// Builds the rows of the root's candidates, unless they are built already.
  void centre(VertexId root) {
    if (root == root_) return;
    root_ = root;
    for (const VertexId u : members_) local_[u] = 0;
    root_candidates_.centre(root);
    members_.assign(root_candidates_.members().begin(), root_candidates_.members().end());
    joined_ = static_cast<unsigned>(root_candidates_.joined());
    VertexId next = 0;
    for (const VertexId u : members_) local_[u] = ++next;
    words_ = (members_.size() + 63) / 64;
    rows_.assign(members_.size() * words_, 0);
    for (unsigned i = 0; i < members_.size(); ++i) {
      for (const VertexId w : graph_->later(members_[i])) {
        if (local_[w] != 0) join(i, local_[w] - 1);
      }
    }
    layers_.resize(std::size_t{k_} * (budget_ + 1) * words_);
  }

  void join(unsigned i, unsigned j) noexcept {
    rows_[i * words_ + j / 64] |= Word{1} << j % 64;
    rows_[j * words_ + i / 64] |= Word{1} << i % 64;
  }

  /// Takes each candidate in turn. `layers` has one layer for each number of missing edges that the budget still allows.
  /// Returns false if the run was stopped.
  bool grow(Word* layers, unsigned size, unsigned missing) {
    unsigned candidates = 0;
    for (unsigned layer = 0; layer <= budget_ - missing; ++layer) candidates += popcount({layers + layer * words_, words_});
    if (size + candidates < k_) return true;
    if (!check_.go_on(candidates)) return false;
    Word* const next = layers + (budget_ + 1) * words_;
    for (unsigned layer = 0; layer <= budget_ - missing; ++layer) {
      for (std::size_t i = 0; i < words_; ++i) {
        for (Word rest = layers[layer * words_ + i]; rest != 0; rest &= rest - 1) {
          const unsigned v = static_cast<unsigned>(i * 64) + static_cast<unsigned>(std::countr_zero(rest));
          if (size == 1 && v % part_of_.parts != part_of_.part) continue;
          taken_[size] = members_[v];
          take(layers, next, v, budget_ - missing - layer);
          if (size + 2 == k_) {
            complete(next, size + 1, missing + layer);
            if (store_ != nullptr && !check_.go_on(0)) return false;
          } else if (!grow(next, size + 1, missing + layer)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Computes the layers of the candidates after v, up to `left`, once v is taken.
  void take(const Word* layers, Word* next, unsigned v, unsigned left) const noexcept {
    const Word* const row = rows_.data() + v * words_;
    const std::size_t first = v / 64;
    for (unsigned layer = 0; layer <= left; ++layer) {
      const Word* const same = layers + layer * words_;
      Word* const out = next + layer * words_;
      std::fill_n(out, first, 0);
      if (layer == 0) {
        for (std::size_t i = first; i < words_; ++i) out[i] = same[i] & row[i];
      } else {
        for (std::size_t i = first; i < words_; ++i) out[i] = (same[i] & row[i]) | (same[i - words_] & ~row[i]);
      }
      out[first] &= ~((Word{2} << v % 64) - 1);
    }
  }

  void complete(const Word* layers, unsigned size, unsigned missing) {
    for (unsigned layer = 0; layer <= budget_ - missing; ++layer) {
      const Word* const set = layers + layer * words_;
      by_missing[missing + layer] += popcount({set, words_});
      if (store_ == nullptr) continue;
      for (unsigned i = 0; i < size; ++i) part_[i] = graph_->original(taken_[i]);
      for_each_bit(set, words_, [&](unsigned v) {
        part_[size] = graph_->original(members_[v]);
        store_->add(found_, part_, missing + layer);
      });
    }
  }

  const OrderedGraph* graph_;
  RootCandidates root_candidates_;
  unsigned k_;
  unsigned budget_;
  PeriodicCheck check_;
  SetStore* store_;
  Task part_of_{};
  VertexId root_ = invalid_vertex;
  std::vector<VertexId> local_;    // 1 + number among the members; 0: not a member
  std::vector<VertexId> members_;  // those joined to the root come first
  unsigned joined_ = 0;
  std::size_t words_ = 0;
  std::vector<Word> rows_;
  std::vector<Word> layers_;  // by size, then layer
  std::vector<VertexId> taken_;
  std::vector<VertexId> part_;
  Found found_;
};

}  // namespace deltamatch::mine
