// A device that counts dense sets on the host, with the steps of the kernels, one node after the other. Fresh memory holds
// garbage.
#pragma once

#include <algorithm>
#include <cstddef>

#include "gpu/mine/clique_step.hpp"
#include "gpu/mine/dense_ops.hpp"
#include "gpu/mine/dense_rows.hpp"
#include "gpu/mine/set_step.hpp"
#include "host_memory_ops.hpp"

namespace deltamatch::gpu {

class HostDenseOps : public HostMemoryOps<DenseOps> {
 public:
  using HostMemoryOps::HostMemoryOps;

  void fill_rows(const RowWork& work) override {
    for (std::uint64_t row = 0; row < work.count; ++row) {
      for (unsigned lane = 0; lane < 3; ++lane) {
        fill_row(work, row, lane, 3,
                 [&](std::uint64_t at, unsigned bit) { work.rows[at * work.row_words + bit / 64] |= Word{1} << bit % 64; });
      }
    }
  }
  void seed(const SeedWork& work) override {
    for (std::uint64_t row = 0; row < work.rows.count; ++row) {
      if (is_seed(work, row)) store_seed(work, row, reserve(work.output, 1));
    }
  }
  void expand(const CliqueWork& work, Width width) override {
    ++figures_->launches;
    with(width, [&]<unsigned words>() {
      const CliqueSteps<words, Lane> steps(Lane{}, work.rows);
      for (std::uint64_t i = 0; i < work.count; ++i) follow(work, steps, steps.load(work.nodes, i));
    });
    figures_->deferred += work.output.progress->deferred;
  }
  void evaluate(const CliqueWork& work, Width width) override {
    ++figures_->launches;
    with(width, [&]<unsigned words>() {
      const CliqueSteps<words, Lane> steps(Lane{}, work.rows);
      for (std::uint64_t i = 0; i < work.count; ++i) {
        work.output.progress->sums[0] += steps.completions(steps.load(work.nodes, i), work.missing);
      }
    });
  }
  void grow(const SetWork& work) override {
    ++figures_->launches;
    const SetSteps<Lane> steps{Lane{}, work.rows, work.row_words, work.layers};
    const std::size_t node_words = std::size_t{work.layers} * work.row_words;
    for_each_taken(work, steps, [&](const Word* node, NodeHead head, TakenMember taken) {
      if (steps.left(node, head.rows, head.used, taken) + 1 < work.missing) return true;
      const std::uint64_t slot = reserve(work.output, 1);
      if (slot == refused) {
        const std::uint64_t at = work.output.progress->deferred++;
        work.output.deferred.heads[at] = {head.rows, head.used, static_cast<std::uint16_t>(taken.member)};
        steps.copy(node, work.output.deferred.words + at * node_words);
        return false;
      }
      work.output.nodes.heads[slot] = {head.rows, static_cast<std::uint16_t>(head.used + taken.layer),
                                       static_cast<std::uint16_t>(taken.member + 1)};
      steps.take(node, head.rows, head.used, taken, work.output.nodes.words + slot * node_words);
      return true;
    });
    figures_->deferred += work.output.progress->deferred;
  }
  void finish(const SetWork& work) override {
    ++figures_->launches;
    const SetSteps<Lane> steps{Lane{}, work.rows, work.row_words, work.layers};
    for_each_taken(work, steps, [&](const Word* node, NodeHead head, TakenMember taken) {
      steps.for_each_word(node, head.rows, head.used, taken, [&](unsigned layer, unsigned, Word bits) {
        work.output.progress->sums[head.used + taken.layer + layer] += count_bits(bits);
      });
      return true;
    });
  }

 private:
  static constexpr std::uint64_t refused = ~std::uint64_t{0};

  /// Reserves like the kernels: after the first refused slot, nothing that was reserved is written.
  static std::uint64_t reserve(const Output& output, unsigned wanted) {
    Progress& progress = *output.progress;
    const std::uint64_t first = progress.reserved;
    progress.reserved += wanted;
    if (first + wanted <= output.capacity) return first;
    progress.cut = std::max(progress.cut, ~static_cast<unsigned long long>(first));
    return refused;
  }

  template <unsigned words>
  void follow(const CliqueWork& work, const CliqueSteps<words, Lane>& steps, CliqueNode<words> node) {
    CliqueSplit<words> split{};
    for (;;) {
      const CliqueStep step = steps.step(node, work.missing, split);
      if (step == CliqueStep::leaf) ++work.leaves[node.pivots];
      if (step != CliqueStep::split) return;
      const unsigned children = steps.count(split.branches);
      std::uint64_t slot = reserve(work.output, children);
      if (slot == refused && children > 0) return steps.store(node, work.output.deferred, work.output.progress->deferred++);
      steps.branch(node, split, [&](const CliqueNode<words>& child) { steps.store(child, work.output.nodes, slot++); });
    }
  }

  /// `take` returns whether to go on with the node.
  template <class Take>
  static void for_each_taken(const SetWork& work, const SetSteps<Lane>& steps, Take&& take) {
    for (std::uint64_t i = 0; i < work.count; ++i) {
      const NodeHead head = work.nodes.heads[i];
      const Word* const node = work.nodes.words + i * work.layers * work.row_words;
      for (unsigned from = head.from;;) {
        const TakenMember taken = steps.next(node, head.used, from);
        if (taken.member == TakenMember::none || !take(node, head, taken)) break;
        from = taken.member + 1;
      }
    }
  }

  template <class Body>
  static void with(Width width, Body&& body) {
    switch (width.row_words()) {
      case 1:
        return body.template operator()<1>();
      case 2:
        return body.template operator()<2>();
      case 4:
        return body.template operator()<4>();
      case 8:
        return body.template operator()<8>();
      case 32:
        return body.template operator()<32>();
      default:
        return body.template operator()<128>();
    }
  }
};

}  // namespace deltamatch::gpu
