// Counts cliques, and sets that lack a few of their edges, on devices.
//
// The space of a vertex is its later neighbours in a degeneracy order, which are few. A kernel makes rows of bits of the edges
// among them.
//
// An edge begins a tree of pivots (gpu/mine/clique_step.hpp). Its candidates are the later neighbours that both ends have. A
// node is a set of bits. One lane holds it in registers, or a warp together if it is wide.
//
// A node needs no stack. Its lane follows it until its candidates are used up, and writes its children to a list for the next
// launch (gpu/mine/node_stack.hpp). So work is spread evenly even if the trees are uneven. Launches are short, and the host
// checks the clock in between. Sums of a launch fit 64 bits; the host adds them up in 128.
#pragma once

#include <memory>
#include <vector>

#include "gpu/mine/dense_ops.hpp"
#include "gpu/mine/on_devices.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::gpu {

using MakeDenseOps = MakeOps<DenseOps>;

struct DenseSettings {
  std::size_t memory = 0;               ///< bytes of each device at most; 0: what is free, less a reserve
  std::uint64_t portion = 1ULL << 20;   ///< nodes of a launch at most
  std::uint64_t children = 1ULL << 25;  ///< nodes held at most, beside those that edges begin
};

/// Makes a counter with one thread for each device. The devices share out the roots.
[[nodiscard]] std::unique_ptr<match::DenseSetCounter> make_dense_set_counter(std::vector<MakeDenseOps> devices,
                                                                             const DenseSettings& settings = {});

}  // namespace deltamatch::gpu
