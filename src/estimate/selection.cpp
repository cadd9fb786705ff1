#include "estimate/selection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <tuple>

#include "estimate/fill.hpp"

namespace deltamatch::estimate {

namespace {

// The stores with lists that some query relation uses.
std::array<const graph::Adjacency*, graph::store_kinds> stores_of(const graph::DataGraph& graph) {
  std::array<const graph::Adjacency*, graph::store_kinds> stores{};
  for (const graph::Resolved& where : graph.resolved()) {
    if (where.store != nullptr) stores[static_cast<std::size_t>(where.kind())] = where.store;
  }
  return stores;
}

}  // namespace

Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget, Workers* workers, double miss) {
  const auto candidate = [&](std::size_t i) {
    return saving(accesses[i].at, bytes(accesses[i].at), accesses[i].times, miss, 0);
  };
  return fill(accesses.size(), candidate, budget, workers);
}

Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget, Workers* workers) {
  const auto candidate = [&, stores = stores_of(graph)](std::size_t i) {
    const std::size_t s = i % graph::store_kinds;
    const StoredVertex at{static_cast<VertexId>(i / graph::store_kinds), static_cast<graph::StoreKind>(s)};
    const graph::Adjacency* store = stores[s];
    const std::size_t size = store == nullptr || at.vertex >= store->vertices() ? 0 : bytes(at);
    return Candidate{at, size, static_cast<double>(size)};
  };
  return fill(graph::store_kinds * graph.base().vertices(), candidate, budget, workers);
}

Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                        const BytesOf& bytes, std::size_t budget, Workers* workers) {
  const auto stores = stores_of(graph);
  // Lent lists may have their own numbers of vertices. They replace the graph's.
  const graph::Adjacency* lent = stores[static_cast<std::size_t>(graph::StoreKind::lent)];
  const graph::Adjacency& along = lent == nullptr ? graph.base() : *lent;
  Selection selection;
  // By vertex: its hop plus one. Threads that reach a vertex at the same time write the same value.
  std::vector<std::uint8_t> reached(graph.base().vertices());
  const auto reach = [&](VertexId vertex, unsigned hop) {
    const std::atomic_ref<std::uint8_t> mark(reached[vertex]);
    if (mark.load(std::memory_order_relaxed) == 0) mark.store(static_cast<std::uint8_t>(hop + 1), std::memory_order_relaxed);
  };
  for (const match::PassWork& pass : passes) {
    for (const graph::Edge& edge : pass.anchors) {
      reach(edge.tail, 0);
      reach(edge.head, 0);
    }
    for (const VertexId root : pass.roots) reach(root, 0);
  }
  const Parts all(reached.size(), workers);
  std::vector<std::vector<VertexId>> found(all.count());
  std::vector<VertexId> frontier;
  // Edges of the batch lead to their ends, which are reached already. So settled lists are enough.
  for (unsigned hop = 0;; ++hop) {
    for (auto& part : found) part.clear();
    all.for_each([&](std::size_t part, std::size_t vertex) {
      if (reached[vertex] == hop + 1) found[part].push_back(static_cast<VertexId>(vertex));
    });
    frontier.clear();
    for (const auto& part : found) frontier.insert(frontier.end(), part.begin(), part.end());
    for (const VertexId vertex : frontier) {
      for (std::size_t s = 0; s < stores.size(); ++s) {
        if (stores[s] == nullptr || vertex >= stores[s]->vertices()) continue;
        const StoredVertex at{vertex, static_cast<graph::StoreKind>(s)};
        const std::size_t size = bytes(at);
        if (size == 0) continue;
        if (size > budget - selection.bytes) return selection;
        selection.hot.push_back(at);
        selection.bytes += size;
      }
    }
    if (hop == hops || frontier.empty()) return selection;
    Parts(frontier.size(), workers).for_each([&](std::size_t, std::size_t i) {
      along.for_each_list(frontier[i], [&](graph::RelationId, std::span<const std::uint32_t> ids, const std::uint32_t*) {
        for (const VertexId neighbour : ids) reach(neighbour, hop + 1);
      });
    });
  }
}

unsigned hops_of(std::span<const match::QueryTask> tasks) {
  unsigned most = 0;
  for (const match::QueryTask& task : tasks) {
    const plan::BoundQuery& query = *task.query;
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << query.vertices()) - 1);
    // The lists of the last vertices are needed only between two of them. They are included, as in VSGM.
    const auto hops_from = [&](std::uint32_t reached) {
      unsigned hops = 0;
      for (; reached != all; ++hops) {
        std::uint32_t next = reached;
        for (std::uint32_t rest = reached; rest != 0; rest &= rest - 1) {
          next |= query.neighbours(static_cast<std::uint32_t>(std::countr_zero(rest)));
        }
        reached = next;
      }
      return hops;
    };
    for (const plan::BoundEdge& edge : query.edges) most = std::max(most, hops_from(1U << edge.source | 1U << edge.target));
    if (task.plans->rooted) most = std::max(most, hops_from(1U << task.plans->rooted->vertex));
  }
  return most;
}

std::vector<TopLists> top_lists(std::vector<Accessed>& truth, std::span<const double> shares) {
  std::sort(truth.begin(), truth.end(),
            [](const Accessed& a, const Accessed& b) { return std::tie(a.times, a.cached) > std::tie(b.times, b.cached); });
  double all = 0;
  for (const Accessed& one : truth) all += one.times;
  std::vector<TopLists> found;
  for (const double share : shares) {
    const auto wanted = static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(truth.size()))));
    const std::size_t size = std::min(wanted, truth.size());
    TopLists top{share, 1, 1, 0};
    if (size > 0) {
      double times = 0;
      double cached = 0;
      for (std::size_t i = 0; i < size; ++i) {
        times += truth[i].times;
        cached += truth[i].cached ? 1 : 0;
        top.bytes += static_cast<double>(truth[i].bytes);
      }
      top.accesses = times / all;
      top.coverage = cached / static_cast<double>(size);
    }
    found.push_back(top);
  }
  return found;
}

}  // namespace deltamatch::estimate
