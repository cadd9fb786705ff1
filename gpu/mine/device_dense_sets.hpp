// Counting cliques and sets that lack a few of their edges on devices.
//
// The later neighbours of a vertex in a degeneracy order, its space, are few; a kernel makes rows of bits of the edges among
// them. An edge with the later neighbours that its ends have in common begins a tree of pivots (gpu/mine/clique_step.hpp): a
// node is a set of bits, which a lane holds in registers by itself, or a warp together where it is wide. A node has no stack:
// its lane follows it until its candidates are used up, and writes its children to a list, which the next launch takes
// (gpu/mine/node_stack.hpp). So work is spread evenly however uneven the trees are, a launch is short, and the host looks at
// the clock in between. Sums of a launch fit 64 bits; the host adds them up in 128.
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
  std::uint64_t children = 1ULL << 25;  ///< nodes that are held at most, beside those that edges begin
};

/// One thread for each device; they share the roots out among themselves.
[[nodiscard]] std::unique_ptr<match::DenseSetCounter> make_dense_set_counter(std::vector<MakeDenseOps> devices,
                                                                             const DenseSettings& settings = {});

}  // namespace deltamatch::gpu
