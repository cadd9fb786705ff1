#include "estimate/selection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace deltamatch::estimate {

namespace {

struct Candidate {
  double priority;
  StoredVertex at;
  std::size_t bytes;
};

// Best last, as heaps have it.
bool worse(const Candidate& a, const Candidate& b) noexcept {
  return a.priority != b.priority ? a.priority < b.priority : a.at > b.at;
}

Selection fill(std::vector<Candidate> candidates, std::size_t budget) {
  Selection selection;
  std::size_t least = SIZE_MAX;
  std::size_t sum = 0;
  bool all = true;
  for (const Candidate& candidate : candidates) {
    least = std::min(least, candidate.bytes);
    all = all && candidate.bytes <= budget - sum;
    if (all) sum += candidate.bytes;
  }
  if (all) {
    for (const Candidate& candidate : candidates) selection.hot.push_back(candidate.at);
    selection.bytes = sum;
    return selection;
  }
  std::make_heap(candidates.begin(), candidates.end(), worse);
  while (!candidates.empty() && budget - selection.bytes >= least) {
    std::pop_heap(candidates.begin(), candidates.end(), worse);
    const Candidate& best = candidates.back();
    if (best.bytes <= budget - selection.bytes) {
      selection.hot.push_back(best.at);
      selection.bytes += best.bytes;
    }
    candidates.pop_back();
  }
  return selection;
}

// Whether a store holds lists that some reading uses.
std::pair<const graph::Adjacency*, const graph::Adjacency*> stores_of(const graph::DataGraph& graph) {
  const graph::Adjacency* base = nullptr;
  const graph::Adjacency* derived = nullptr;
  for (const graph::Resolved& where : graph.resolved()) {
    if (where.store != nullptr) (where.derived ? derived : base) = where.store;
  }
  return {base, derived};
}

}  // namespace

Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget) {
  std::vector<Candidate> candidates;
  candidates.reserve(accesses.size());
  for (const Access& access : accesses) {
    const std::size_t size = bytes(access.at);
    if (size > 0) candidates.push_back({access.times / static_cast<double>(size), access.at, size});
  }
  return fill(std::move(candidates), budget);
}

Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget) {
  const auto [base, derived] = stores_of(graph);
  std::vector<Candidate> candidates;
  for (VertexId v = 0; v < graph.base().vertices(); ++v) {
    for (const graph::Adjacency* store : {base, derived}) {
      if (store == nullptr || v >= store->vertices()) continue;
      const StoredVertex at{v, store == derived};
      const std::size_t size = bytes(at);
      if (size > 0) candidates.push_back({static_cast<double>(store->degree(v)), at, size});
    }
  }
  return fill(std::move(candidates), budget);
}

Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                        const BytesOf& bytes, std::size_t budget) {
  const auto [base, derived] = stores_of(graph);
  Selection selection;
  std::vector<std::uint8_t> seen(graph.base().vertices());
  std::vector<VertexId> frontier;
  const auto reach = [&](std::vector<VertexId>& into, VertexId vertex) {
    if (seen[vertex] != 0) return;
    seen[vertex] = 1;
    into.push_back(vertex);
  };
  for (const match::PassWork& pass : passes) {
    for (const graph::Edge& edge : pass.anchors) {
      reach(frontier, edge.tail);
      reach(frontier, edge.head);
    }
  }
  // Edges of the batch lead to its ends, which are reached already: settled lists are enough.
  for (unsigned hop = 0;; ++hop) {
    std::sort(frontier.begin(), frontier.end());
    for (const VertexId vertex : frontier) {
      for (const graph::Adjacency* store : {base, derived}) {
        if (store == nullptr || vertex >= store->vertices()) continue;
        const StoredVertex at{vertex, store == derived};
        const std::size_t size = bytes(at);
        if (size == 0) continue;
        if (size > budget - selection.bytes) return selection;
        selection.hot.push_back(at);
        selection.bytes += size;
      }
    }
    if (hop == hops || frontier.empty()) return selection;
    std::vector<VertexId> next;
    for (const VertexId vertex : frontier) {
      graph.base().for_each_list(vertex, [&](graph::RelationId, std::span<const std::uint32_t> ids, const std::uint32_t*) {
        for (const VertexId neighbour : ids) reach(next, neighbour);
      });
    }
    frontier = std::move(next);
  }
}

unsigned hops_of(std::span<const match::QueryTask> tasks) {
  unsigned most = 0;
  for (const match::QueryTask& task : tasks) {
    const plan::BoundQuery& query = *task.query;
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << query.vertices()) - 1);
    for (const plan::BoundEdge& edge : query.edges) {
      std::uint32_t reached = 1U << edge.source | 1U << edge.target;
      unsigned hops = 0;
      // The lists of the last vertices are needed only between two of them; like VSGM, take them along.
      for (; reached != all; ++hops) {
        std::uint32_t next = reached;
        for (std::uint32_t rest = reached; rest != 0; rest &= rest - 1) {
          next |= query.neighbours(static_cast<std::uint32_t>(std::countr_zero(rest)));
        }
        reached = next;
      }
      most = std::max(most, hops);
    }
  }
  return most;
}

double coverage(std::span<const Access> truth, std::span<const StoredVertex> cached, double share) {
  if (truth.empty()) return 1;
  std::vector<StoredVertex> held(cached.begin(), cached.end());
  std::sort(held.begin(), held.end());
  struct Ranked {
    double times;
    bool cached;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(truth.size());
  for (const Access& access : truth) {
    ranked.push_back({access.times, std::binary_search(held.begin(), held.end(), access.at)});
  }
  const auto wanted = static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(ranked.size()))));
  const auto top = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, ranked.size()));
  std::nth_element(ranked.begin(), top - 1, ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return std::tie(a.times, a.cached) > std::tie(b.times, b.cached); });
  const auto covered = std::count_if(ranked.begin(), top, [](const Ranked& one) { return one.cached; });
  return static_cast<double>(covered) / static_cast<double>(top - ranked.begin());
}

}  // namespace deltamatch::estimate
