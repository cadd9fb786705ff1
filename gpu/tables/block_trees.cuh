// Trees of free query vertices, eliminated leaf by leaf: third layer of the kernel that counts with tables. The method is that
// of match/tree_sum.hpp. Here sets are unordered, and look-ups always go through a table.
#pragma once

#include "gpu/tables/block_lists.cuh"

namespace deltamatch::gpu::device {

// Looking up a list costs about as much as reading this many entries.
inline constexpr float look_up_cost = 8;

class BlockTrees : public BlockLists {
 protected:
  using Base = BlockLists;
  using Base::Base;

  // The sum over all assignments of the tree, the same in all threads. Meaningless once the item is refused.
  __device__ __noinline__ Weight count_tree(const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
    const std::uint32_t mark = top_;
    const Weight total = tree.vertices == 1 ? single(tree, share, shares) : eliminate(tree, share, shares);
    top_ = mark;
    return total;
  }

  // Called at the end of an item.
  __device__ void clear_root_tables() {
    for (; root_tables_ != 0; root_tables_ &= root_tables_ - 1) clear(__ffs(static_cast<int>(root_tables_)) - 1);
  }

  __device__ Weight sum_of_threads(Weight own) {
#pragma unroll
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      const Weight other = __shfl_down_sync(all_lanes, own, offset);
      own = plus(own, lane_ + offset < 32 ? other : 0);
    }
    __syncthreads();
    if (lane_ == 0) state_.warp_sums[warp_] = own;
    __syncthreads();
    Weight sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum = plus(sum, state_.warp_sums[w]);
    return sum;
  }

 private:
  struct Push {
    static constexpr bool sums = false;
    BlockTrees& block;
    std::uint32_t table;
    __device__ Weight operator()(std::uint32_t vertex, Weight weight) const {
      block.add(table, vertex, weight);
      return 0;
    }
    __device__ void finish(std::uint32_t, Weight, Weight) const {}
  };
  struct Reach {
    static constexpr bool sums = false;
    BlockTrees& block;
    std::uint32_t table;
    __device__ Weight operator()(std::uint32_t vertex, Weight) const {
      block.mark(table, vertex);
      return 0;
    }
    __device__ void finish(std::uint32_t, Weight, Weight) const {}
  };
  // Multiplies the weights by the sums, or adds the products up if no weights are to be kept.
  struct Pull {
    static constexpr bool sums = true;
    BlockTrees& block;
    std::uint32_t table;
    Weight* into;
    Weight total = 0;
    __device__ Weight operator()(std::uint32_t vertex, Weight) const { return block.weight_of(table, vertex); }
    __device__ void finish(std::uint32_t at, Weight weight, Weight sum) {
      const Weight product = block.multiply(weight, sum);
      if (into != nullptr) {
        into[at] = product;
      } else {
        total = block.plus(total, product);
      }
    }
  };

  __device__ TreeNode& node(std::uint32_t at) { return state_.nodes[at]; }
  __device__ const SumEdge& edge_of(const SumFactor& tree, std::uint32_t at) const { return work_.edges[tree.first_edge + at]; }
  __device__ const SumVertex& vertex_of(const SumFactor& tree, std::uint32_t at) const {
    return work_.vertices[tree.first_vertex + at];
  }

  // Counts sets of `choose` candidates.
  __device__ Weight single(const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
    Members found;
    if (tree.choose > 1) {  // sets of candidates do not split, so the first share takes all
      if (share > 0) return 0;
      shares = 1;
    }
    candidates(vertex_of(tree, 0), share, shares, false, found);
    Weight result = 1;
    if (found.size < tree.choose) return 0;
    for (std::uint32_t i = 0; i < tree.choose; ++i) result = multiply(result, found.size - i) / (i + 1);
    return result;
  }

  __device__ Weight eliminate(const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
    __syncthreads();
    if (threadIdx.x < tree.vertices) state_.nodes[threadIdx.x] = {{nullptr, nullptr, 0}, no_table, true, 0};
    __syncthreads();
    const bool some = fill(tree, share, shares) && hang_on_root(tree);
    unsigned open = 0;
    for (std::uint32_t e = 0; e < tree.edges; ++e) {
      if (edge_of(tree, e).table != no_table) continue;
      open |= 1U << e;
      if (threadIdx.x != 0) continue;
      ++node(edge_of(tree, e).a).open_edges;
      ++node(edge_of(tree, e).b).open_edges;
    }
    std::uint32_t rest = last_;
    Weight total = 0;
    bool summed = !some;
    while (open != 0 && !summed) {
      __syncthreads();
      if (state_.refused) break;
      if (threadIdx.x == 0) state_.step = cheapest_step(tree, open);
      __syncthreads();
      const TreeStep step = state_.step;
      const SumEdge& edge = edge_of(tree, step.edge);
      rest = step.into_a ? edge.a : edge.b;
      const std::uint32_t leaf = step.into_a ? edge.b : edge.a;
      if (step.way != Way::reach) {
        open &= ~(1U << step.edge);
        if (threadIdx.x == 0) {
          --node(rest).open_edges;
          --node(leaf).open_edges;
        }
      }
      if (step.way == Way::pull) {
        total = pull(edge, step.into_a, vertex_of(tree, leaf), open == 0);
        summed = open == 0;
      } else {
        push(edge, step.into_a, vertex_of(tree, rest), step.way == Way::reach);
      }
      summed = summed || node(rest).members.size == 0;
    }
    __syncthreads();
    if (!summed && !state_.refused) {
      const Members& last = node(rest).members;
      Weight own = 0;
      for (std::uint32_t i = threadIdx.x; i < last.size; i += blockDim.x) own = plus(own, last.weights[i]);
      total = sum_of_threads(own);
    }
    for (std::uint32_t v = 0; v < tree.vertices; ++v) drop_table(v);
    return total;
  }

  // Finds the candidates of vertices with probes, except those that the root decides. Returns false if a vertex has none.
  __device__ bool fill(const SumFactor& tree, std::uint32_t share, std::uint32_t shares) {
    unsigned hanging = 0;
    for (std::uint32_t e = 0; e < tree.edges; ++e) {
      const SumEdge& edge = edge_of(tree, e);
      if (edge.table != no_table) hanging |= 1U << (edge.leaf_is_a != 0 ? edge.a : edge.b);
    }
    for (std::uint32_t v = 0; v < tree.vertices; ++v) {
      if (vertex_of(tree, v).probes == 0 || (hanging >> v & 1U) != 0) continue;
      Members found;
      if (!candidates(vertex_of(tree, v), share, shares, true, found) || found.size == 0) return false;
      share = 0;
      shares = 1;
      if (threadIdx.x == 0) {
        node(v).members = found;
        node(v).bare = false;
      }
    }
    __syncthreads();
    return true;
  }

  // Multiplies by leaves that hang on the root alone. These are summed once for an item.
  __device__ bool hang_on_root(const SumFactor& tree) {
    for (std::uint32_t e = 0; e < tree.edges; ++e) {
      const SumEdge& edge = edge_of(tree, e);
      if (edge.table == no_table) continue;
      last_ = edge.leaf_is_a != 0 ? edge.b : edge.a;
      const std::uint32_t leaf = edge.leaf_is_a != 0 ? edge.a : edge.b;
      if ((root_tables_ >> edge.table & 1U) == 0) {
        root_tables_ |= 1U << edge.table;
        const std::uint32_t mark = top_;
        Members found;
        if (!candidates(vertex_of(tree, leaf), 0, 1, true, found)) return false;
        const std::uint32_t reading = edge.leaf_is_a != 0 ? edge.a_to_b : edge.b_to_a;
        Push push{*this, edge.table};
        for_each_list(found, reading, edge.inclusive != 0, allowed(vertex_of(tree, last_), false), push);
        top_ = mark;
      }
      if (!multiply_by(last_, edge.table)) return false;
    }
    return true;
  }

  __device__ TreeStep cheapest_step(const SumFactor& tree, unsigned open) {
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
      const SumEdge& edge = edge_of(tree, e);
      for (int side = 0; side < 2; ++side) {
        const bool into_a = side == 0;
        const TreeNode& into = node(into_a ? edge.a : edge.b);
        const TreeNode& leaf = node(into_a ? edge.b : edge.a);
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
      const SumEdge& edge = edge_of(tree, e);
      for (int side = 0; side < 2; ++side) {
        const bool into_a = side == 0;
        const TreeNode& from = node(into_a ? edge.b : edge.a);
        if (from.bare || !node(into_a ? edge.a : edge.b).bare) continue;
        consider(e, into_a, Way::reach,
                 static_cast<float>(from.members.size) * (look_up_cost + (into_a ? edge.b_degree : edge.a_degree)));
      }
    }
    return best;
  }

  // Adds the weight of each of the leaf's candidates to all vertices in its list. With `reach`, these only become the
  // neighbour's candidates, and the edge is still to be summed.
  __device__ void push(const SumEdge& edge, bool into_a, const SumVertex& into_vertex, bool reach) {
    const std::uint32_t into = into_a ? edge.a : edge.b;
    const Members leaf = node(into_a ? edge.b : edge.a).members;
    const std::uint32_t reading = into_a ? edge.b_to_a : edge.a_to_b;
    const bool bare = node(into).bare;
    const std::uint32_t table = take_table(into_a ? edge.b : edge.a);
    if (reach) {
      Reach read{*this, table};
      for_each_list(leaf, reading, edge.inclusive != 0, allowed(into_vertex, true), read);
    } else {
      Push read{*this, table};
      for_each_list(leaf, reading, edge.inclusive != 0, allowed(into_vertex, bare), read);
    }
    if (bare) {
      Members found{nullptr, nullptr, 0};
      const bool taken = !state_.refused && take_members(table, found);
      __syncthreads();
      if (threadIdx.x == 0) node(into) = {taken ? found : Members{nullptr, nullptr, 0}, table, false, node(into).open_edges};
      __syncthreads();
    } else {
      multiply_by(into, table);
      clear(table);
    }
  }

  __device__ Weight pull(const SumEdge& edge, bool into_a, const SumVertex& leaf_vertex, bool last) {
    const std::uint32_t into = into_a ? edge.a : edge.b;
    const std::uint32_t leaf = into_a ? edge.b : edge.a;
    const std::uint32_t reading = into_a ? edge.a_to_b : edge.b_to_a;
    const Members from = node(into).members;
    Members made = from;
    if (!last && made.weights == nullptr && !make_weights(made)) return 0;
    Weight total = 0;
    if (node(leaf).bare) {
      const Allowed to = allowed(leaf_vertex, true);
      for (std::uint32_t i = threadIdx.x; i < from.size; i += blockDim.x) {
        Weight weight = from.weights == nullptr ? 1 : from.weights[i];
        if (weight != 0) weight = multiply(weight, size_of(open(reading, edge.inclusive != 0, from.ids[i]), to));
        if (last) {
          total = plus(total, weight);
        } else {
          made.weights[i] = weight;
        }
      }
    } else {
      const std::uint32_t table = tabulate(leaf, into);
      Pull read{*this, table, last ? nullptr : made.weights};
      for_each_list(from, reading, edge.inclusive != 0, allowed(leaf_vertex, false), read);
      total = read.total;
    }
    if (last) return sum_of_threads(total);
    __syncthreads();
    if (threadIdx.x == 0) node(into).members = made;
    drop_table(into);
    return 0;
  }

  // Multiplies the weights of a vertex with candidates by those of a table.
  __device__ bool multiply_by(std::uint32_t into, std::uint32_t table) {
    __syncthreads();
    const Members from = node(into).members;
    Members made = from;
    if (made.weights == nullptr && !make_weights(made)) return false;
    for (std::uint32_t i = threadIdx.x; i < from.size; i += blockDim.x) {
      const Weight weight = from.weights == nullptr ? 1 : from.weights[i];
      made.weights[i] = weight == 0 ? 0 : multiply(weight, weight_of(table, from.ids[i]));
    }
    __syncthreads();
    if (threadIdx.x == 0) node(into).members = made;
    drop_table(into);
    return true;
  }

  // Makes a table of the weights of a vertex's candidates. The vertex `keep` must not lose its table.
  __device__ std::uint32_t tabulate(std::uint32_t vertex, std::uint32_t keep) {
    if (node(vertex).table != no_table) return node(vertex).table;
    const std::uint32_t table = take_table(keep);
    const Members& members = node(vertex).members;
    for (std::uint32_t i = threadIdx.x; i < members.size; i += blockDim.x) {
      const Weight weight = members.weights == nullptr ? 1 : members.weights[i];
      if (weight != 0) add(table, members.ids[i], weight);
    }
    __syncthreads();
    if (threadIdx.x == 0) node(vertex).table = table;
    __syncthreads();
    return table;
  }

  // Returns an empty table. If none is left, takes that of a vertex other than `keep`, whose set holds the same.
  __device__ std::uint32_t take_table(std::uint32_t keep) {
    __syncthreads();
    unsigned used = 0;
    std::uint32_t victim = none;
    for (std::uint32_t v = 0; v < max_positions; ++v) {
      if (node(v).table == no_table) continue;
      used |= 1U << node(v).table;
      if (v != keep) victim = v;
    }
    const std::uint32_t first = program().root_tables;
    for (std::uint32_t table = first; table < work_.memory.tables; ++table) {
      if ((used >> table & 1U) == 0) return table;
    }
    const std::uint32_t table = node(victim).table;
    drop_table(victim);
    return table;
  }

  __device__ void drop_table(std::uint32_t vertex) {
    __syncthreads();
    const std::uint32_t table = node(vertex).table;
    if (table == no_table) return;
    clear(table);
    if (threadIdx.x == 0) node(vertex).table = no_table;
    __syncthreads();
  }

  unsigned root_tables_ = 0;  // bits of the tables that are made, the same in all threads
  std::uint32_t last_ = 0;    // the vertex into which the last leaf was eliminated
};

}  // namespace deltamatch::gpu::device
