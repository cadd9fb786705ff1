// Trees of free query vertices, eliminated leaf by leaf. The method is that of match/tree_sum.hpp. Here sets are unordered, and
// look-ups always go through a table.
#pragma once

#include "gpu/tables/block_lists.cuh"

namespace deltamatch::gpu::device {

// Looking up a list costs about as much as reading this many entries.
inline constexpr float look_up_cost = 8;

__device__ inline TreeNode& node(Block& block, std::uint32_t at) { return block.state.nodes[at]; }
__device__ inline const SumEdge& edge_of(const Block& block, const SumFactor& tree, std::uint32_t at) {
  return block.work.edges[tree.first_edge + at];
}
__device__ inline const SumVertex& vertex_of(const Block& block, const SumFactor& tree, std::uint32_t at) {
  return block.work.vertices[tree.first_vertex + at];
}

// The sum of what all threads have.
__device__ inline Weight sum_of_threads(Block& block, Weight own) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    const Weight other = __shfl_down_sync(all_lanes, own, offset);
    own = plus(block, own, block.lane + offset < 32 ? other : 0);
  }
  __syncthreads();
  if (block.lane == 0) block.state.warp_sums[block.warp] = own;
  __syncthreads();
  Weight sum = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) sum = plus(block, sum, block.state.warp_sums[w]);
  return sum;
}

// Clears the table of a vertex, if it has one.
__device__ inline void drop_table(Block& block, std::uint32_t vertex) {
  __syncthreads();
  const std::uint32_t table = node(block, vertex).table;
  if (table == no_table) return;
  clear_table(block, table);
  if (threadIdx.x == 0) node(block, vertex).table = no_table;
  __syncthreads();
}

// Returns an empty table. If none is left, takes that of a vertex other than `keep`, whose set holds the same.
__device__ inline std::uint32_t take_table(Block& block, std::uint32_t keep) {
  __syncthreads();
  unsigned used = 0;
  std::uint32_t victim = none;
  for (std::uint32_t v = 0; v < max_positions; ++v) {
    if (node(block, v).table == no_table) continue;
    used |= 1U << node(block, v).table;
    if (v != keep) victim = v;
  }
  const std::uint32_t first = block.program().root_tables;
  for (std::uint32_t table = first; table < block.work.memory.tables; ++table) {
    if ((used >> table & 1U) == 0) return table;
  }
  const std::uint32_t table = node(block, victim).table;
  drop_table(block, victim);
  return table;
}

// Makes a table of the weights of a vertex's candidates. The vertex `keep` must not lose its table.
__device__ inline std::uint32_t tabulate(Block& block, std::uint32_t vertex, std::uint32_t keep) {
  if (node(block, vertex).table != no_table) return node(block, vertex).table;
  const std::uint32_t table = take_table(block, keep);
  const Members& members = node(block, vertex).members;
  for (std::uint32_t i = threadIdx.x; i < members.size; i += blockDim.x) {
    const Weight weight = members.weights == nullptr ? 1 : members.weights[i];
    if (weight != 0) add(block, table, members.ids[i], weight);
  }
  __syncthreads();
  if (threadIdx.x == 0) node(block, vertex).table = table;
  __syncthreads();
  return table;
}

// Multiplies the weights of a vertex with candidates by those of a table.
__device__ inline bool multiply_by(Block& block, std::uint32_t into, std::uint32_t table) {
  __syncthreads();
  const Members from = node(block, into).members;
  Members made = from;
  if (made.weights == nullptr && !make_weights(block, made)) return false;
  for (std::uint32_t i = threadIdx.x; i < from.size; i += blockDim.x) {
    const Weight weight = from.weights == nullptr ? 1 : from.weights[i];
    made.weights[i] = weight == 0 ? 0 : multiply(block, weight, weight_of(block, table, from.ids[i]));
  }
  __syncthreads();
  if (threadIdx.x == 0) node(block, into).members = made;
  drop_table(block, into);
  return true;
}

struct Push {
  static constexpr bool sums = false;
  Block& block;
  std::uint32_t table;
  __device__ Weight operator()(std::uint32_t vertex, Weight weight) const {
    add(block, table, vertex, weight);
    return 0;
  }
  __device__ void finish(std::uint32_t, Weight, Weight) const {}
};
struct Reach {
  static constexpr bool sums = false;
  Block& block;
  std::uint32_t table;
  __device__ Weight operator()(std::uint32_t vertex, Weight) const {
    mark(block, table, vertex);
    return 0;
  }
  __device__ void finish(std::uint32_t, Weight, Weight) const {}
};
// Multiplies the weights by the sums, or adds the products up if no weights are to be kept.
struct Pull {
  static constexpr bool sums = true;
  Block& block;
  std::uint32_t table;
  Weight* into;
  Weight total = 0;
  __device__ Weight operator()(std::uint32_t vertex, Weight) const { return weight_of(block, table, vertex); }
  __device__ void finish(std::uint32_t at, Weight weight, Weight sum) {
    const Weight product = multiply(block, weight, sum);
    if (into != nullptr) {
      into[at] = product;
    } else {
      total = plus(block, total, product);
    }
  }
};

// Multiplies the weights of the neighbour by what the lists of its candidates lead to. With `last`, returns their sum instead.
__device__ inline Weight pull_leaf(Block& block, const SumEdge& edge, bool into_a, const SumVertex& leaf_vertex, bool last) {
  const std::uint32_t into = into_a ? edge.a : edge.b;
  const std::uint32_t leaf = into_a ? edge.b : edge.a;
  const std::uint32_t query_relation = into_a ? edge.a_to_b : edge.b_to_a;
  const Members from = node(block, into).members;
  Members made = from;
  if (!last && made.weights == nullptr && !make_weights(block, made)) return 0;
  Weight total = 0;
  if (node(block, leaf).bare) {
    const Allowed to = allowed(block, leaf_vertex, true);
    for (std::uint32_t i = threadIdx.x; i < from.size; i += blockDim.x) {
      Weight weight = from.weights == nullptr ? 1 : from.weights[i];
      if (weight != 0)
        weight =
            multiply(block, weight, size_of(block, open_list(block, query_relation, edge.inclusive != 0, from.ids[i]), to));
      if (last) {
        total = plus(block, total, weight);
      } else {
        made.weights[i] = weight;
      }
    }
  } else {
    const std::uint32_t table = tabulate(block, leaf, into);
    Pull read{block, table, last ? nullptr : made.weights};
    for_each_list(block, from, query_relation, edge.inclusive != 0, allowed(block, leaf_vertex, false), read);
    total = read.total;
  }
  if (last) return sum_of_threads(block, total);
  __syncthreads();
  if (threadIdx.x == 0) node(block, into).members = made;
  drop_table(block, into);
  return 0;
}

// Adds the weight of each of the leaf's candidates to all vertices in its list. With `reach`, these only become the
// neighbour's candidates, and the edge is still to be summed.
__device__ inline void push_leaf(Block& block, const SumEdge& edge, bool into_a, const SumVertex& into_vertex, bool reach) {
  const std::uint32_t into = into_a ? edge.a : edge.b;
  const Members leaf = node(block, into_a ? edge.b : edge.a).members;
  const std::uint32_t query_relation = into_a ? edge.b_to_a : edge.a_to_b;
  const bool bare = node(block, into).bare;
  const std::uint32_t table = take_table(block, into_a ? edge.b : edge.a);
  if (reach) {
    Reach read{block, table};
    for_each_list(block, leaf, query_relation, edge.inclusive != 0, allowed(block, into_vertex, true), read);
  } else {
    Push read{block, table};
    for_each_list(block, leaf, query_relation, edge.inclusive != 0, allowed(block, into_vertex, bare), read);
  }
  if (bare) {
    Members found{nullptr, nullptr, 0};
    const bool taken = !block.state.refused && take_members(block, table, found);
    __syncthreads();
    if (threadIdx.x == 0)
      node(block, into) = {taken ? found : Members{nullptr, nullptr, 0}, table, false, node(block, into).open_edges};
    __syncthreads();
  } else {
    multiply_by(block, into, table);
    clear_table(block, table);
  }
}

// The next step, by expected work. `open`: bits of the edges that are left.
__device__ inline TreeStep cheapest_step(Block& block, const SumFactor& tree, unsigned open) {
  TreeStep best{0, true, Way::pull};
  float least = -1;
  const bool last = (open & (open - 1)) == 0;
  const auto consider = [&](std::uint32_t edge, bool into_a, Way way, float cost) {
    if (least >= 0 && cost >= least) return;
    least = cost;
    best = {edge, into_a, way};
  };
  for (unsigned rest = open; rest != 0; rest &= rest - 1) {
    const std::uint32_t e = __ffs(static_cast<int>(rest)) - 1;
    const SumEdge& edge = edge_of(block, tree, e);
    for (int side = 0; side < 2; ++side) {
      const bool into_a = side == 0;
      const TreeNode& into = node(block, into_a ? edge.a : edge.b);
      const TreeNode& leaf = node(block, into_a ? edge.b : edge.a);
      if (leaf.open_edges != 1) continue;
      const float out = into_a ? edge.b_degree : edge.a_degree;   // list of a leaf candidate
      const float back = into_a ? edge.a_degree : edge.b_degree;  // list of a neighbour's candidate
      const auto into_size = static_cast<float>(into.members.size);
      if (!into.bare) consider(e, into_a, Way::pull, into_size * (look_up_cost + (leaf.bare ? 0 : back)));
      if (!leaf.bare && (!into.bare || !last)) {
        consider(e, into_a, Way::push,
                 static_cast<float>(leaf.members.size) * (look_up_cost + 2 * out) + (into.bare ? 0 : into_size));
      }
    }
  }
  if (least >= 0) return best;
  // All leaves and their neighbours are bare. Somewhere else a vertex with candidates is next to a bare one.
  for (unsigned rest = open; rest != 0; rest &= rest - 1) {
    const std::uint32_t e = __ffs(static_cast<int>(rest)) - 1;
    const SumEdge& edge = edge_of(block, tree, e);
    for (int side = 0; side < 2; ++side) {
      const bool into_a = side == 0;
      const TreeNode& from = node(block, into_a ? edge.b : edge.a);
      if (from.bare || !node(block, into_a ? edge.a : edge.b).bare) continue;
      consider(e, into_a, Way::reach,
               static_cast<float>(from.members.size) * (look_up_cost + (into_a ? edge.b_degree : edge.a_degree)));
    }
  }
  return best;
}

// Multiplies by leaves that hang on the root alone. These are summed once for an item.
__device__ inline bool hang_on_root(Block& block, const SumFactor& tree) {
  for (std::uint32_t e = 0; e < tree.edges; ++e) {
    const SumEdge& edge = edge_of(block, tree, e);
    if (edge.table == no_table) continue;
    block.last = edge.leaf_is_a != 0 ? edge.b : edge.a;
    const std::uint32_t leaf = edge.leaf_is_a != 0 ? edge.a : edge.b;
    if ((block.root_tables >> edge.table & 1U) == 0) {
      block.root_tables |= 1U << edge.table;
      const std::uint32_t mark = block.top;
      Members found;
      if (!find_candidates(block, vertex_of(block, tree, leaf), 0, 1, true, found)) return false;
      const std::uint32_t query_relation = edge.leaf_is_a != 0 ? edge.a_to_b : edge.b_to_a;
      Push push{block, edge.table};
      for_each_list(block, found, query_relation, edge.inclusive != 0,
                    allowed(block, vertex_of(block, tree, block.last), false), push);
      block.top = mark;
    }
    if (!multiply_by(block, block.last, edge.table)) return false;
  }
  return true;
}

// Finds the candidates of vertices with probes, except those that the root decides. Returns false if a vertex has none.
__device__ inline bool fill_tree(Block& block, const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
  unsigned hanging = 0;
  for (std::uint32_t e = 0; e < tree.edges; ++e) {
    const SumEdge& edge = edge_of(block, tree, e);
    if (edge.table != no_table) hanging |= 1U << (edge.leaf_is_a != 0 ? edge.a : edge.b);
  }
  for (std::uint32_t v = 0; v < tree.vertices; ++v) {
    if (vertex_of(block, tree, v).probes == 0 || (hanging >> v & 1U) != 0) continue;
    Members found;
    if (!find_candidates(block, vertex_of(block, tree, v), share, shares, true, found) || found.size == 0) return false;
    share = 0;
    shares = 1;
    if (threadIdx.x == 0) {
      node(block, v).members = found;
      node(block, v).bare = false;
    }
  }
  __syncthreads();
  return true;
}

// Sums over a tree of several vertices.
__device__ inline Weight eliminate(Block& block, const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
  __syncthreads();
  if (threadIdx.x < tree.vertices) block.state.nodes[threadIdx.x] = {{nullptr, nullptr, 0}, no_table, true, 0};
  __syncthreads();
  const bool some = fill_tree(block, tree, share, shares) && hang_on_root(block, tree);
  unsigned open = 0;
  for (std::uint32_t e = 0; e < tree.edges; ++e) {
    if (edge_of(block, tree, e).table != no_table) continue;
    open |= 1U << e;
    if (threadIdx.x != 0) continue;
    ++node(block, edge_of(block, tree, e).a).open_edges;
    ++node(block, edge_of(block, tree, e).b).open_edges;
  }
  std::uint32_t rest = block.last;
  Weight total = 0;
  bool summed = !some;
  while (open != 0 && !summed) {
    __syncthreads();
    if (block.state.refused) break;
    if (threadIdx.x == 0) block.state.step = cheapest_step(block, tree, open);
    __syncthreads();
    const TreeStep step = block.state.step;
    const SumEdge& edge = edge_of(block, tree, step.edge);
    rest = step.into_a ? edge.a : edge.b;
    const std::uint32_t leaf = step.into_a ? edge.b : edge.a;
    if (step.way != Way::reach) {
      open &= ~(1U << step.edge);
      if (threadIdx.x == 0) {
        --node(block, rest).open_edges;
        --node(block, leaf).open_edges;
      }
    }
    if (step.way == Way::pull) {
      total = pull_leaf(block, edge, step.into_a, vertex_of(block, tree, leaf), open == 0);
      summed = open == 0;
    } else {
      push_leaf(block, edge, step.into_a, vertex_of(block, tree, rest), step.way == Way::reach);
    }
    summed = summed || node(block, rest).members.size == 0;
  }
  __syncthreads();
  if (!summed && !block.state.refused) {
    const Members& last = node(block, rest).members;
    Weight own = 0;
    for (std::uint32_t i = threadIdx.x; i < last.size; i += blockDim.x) own = plus(block, own, last.weights[i]);
    total = sum_of_threads(block, own);
  }
  for (std::uint32_t v = 0; v < tree.vertices; ++v) drop_table(block, v);
  return total;
}

// Counts sets of `choose` candidates.
__device__ inline Weight count_sets(Block& block, const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
  Members found;
  if (tree.choose > 1) {  // sets of candidates do not split, so the first share takes all
    if (share > 0) return 0;
    shares = 1;
  }
  find_candidates(block, vertex_of(block, tree, 0), share, shares, false, found);
  Weight result = 1;
  if (found.size < tree.choose) return 0;
  for (std::uint32_t i = 0; i < tree.choose; ++i) result = multiply(block, result, found.size - i) / (i + 1);
  return result;
}

// The sum over all assignments of the tree, the same in all threads. Meaningless once the item is refused.
__device__ inline __noinline__ Weight count_tree(Block& block, const SumFactor& tree, std::uint32_t share,
                                                 std::uint32_t shares) {
  const std::uint32_t mark = block.top;
  const Weight total = tree.vertices == 1 ? count_sets(block, tree, share, shares) : eliminate(block, tree, share, shares);
  block.top = mark;
  return total;
}

// Called at the end of an item.
__device__ inline void clear_root_tables(Block& block) {
  for (; block.root_tables != 0; block.root_tables &= block.root_tables - 1)
    clear_table(block, __ffs(static_cast<int>(block.root_tables)) - 1);
}

}  // namespace deltamatch::gpu::device
