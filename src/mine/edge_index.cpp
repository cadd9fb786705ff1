#include "mine/edge_index.hpp"

#include <limits>

#include "deltamatch/error.hpp"

namespace deltamatch::mine {
namespace {

constexpr std::size_t grain = 64;

std::uint32_t add_one(std::uint32_t& counter) noexcept {
  return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

EdgeIndex::EdgeIndex(const OrderedGraph& graph, bool list, Workers& workers, RunControl& control) : first_(graph.vertices()) {
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    first_[v] = static_cast<EdgeId>(ends_.size());
    for (const VertexId u : graph.earlier(v)) ends_.push_back({u, v});
    if (ends_.size() > std::numeric_limits<EdgeId>::max() / 2) {
      throw Error("motifs", "the graph has more edges than the formulas can number", "choose another method");
    }
  }
  lists_.assign(std::size_t{graph.vertices()} + 1, 0);
  for (VertexId v = 0; v < graph.vertices(); ++v) lists_[v + 1] = lists_[v] + graph.degree(v);
  edges_of_.resize(lists_.back());
  std::vector<std::uint64_t> next(lists_.begin(), lists_.end() - 1);
  for (EdgeId e = 0; e < ends_.size(); ++e) edges_of_[next[ends_[e].greater]++] = e;  // earlier neighbours first
  for (EdgeId e = 0; e < ends_.size(); ++e) edges_of_[next[ends_[e].lesser]++] = e;
  triangles_.assign(ends_.size(), 0);
  std::vector<std::vector<EdgeId>> marks(workers.size(), std::vector<EdgeId>(graph.vertices(), 0));
  std::vector<PeriodicCheck> paces;
  paces.reserve(workers.size());
  for (unsigned worker = 0; worker < workers.size(); ++worker) paces.emplace_back(control, worker);
  const auto for_each = [&](auto&& visit) {
    workers.for_each(graph.vertices(), grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end && !control.stopped(); ++c) {
        for_each_triangle(graph, static_cast<VertexId>(c), marks[worker], paces[worker], visit);
      }
    });
  };
  for_each([&](EdgeId ab, EdgeId ac, EdgeId bc) {
    add_one(triangles_[ab]);
    add_one(triangles_[ac]);
    add_one(triangles_[bc]);
  });
  if (!list || control.stopped()) return;
  begin_.assign(ends_.size() + 1, 0);
  for (std::size_t e = 0; e < ends_.size(); ++e) begin_[e + 1] = begin_[e] + triangles_[e];
  sides_ = std::make_unique_for_overwrite<Sides[]>(begin_.back());
  thirds_ = std::make_unique_for_overwrite<VertexId[]>(begin_.back());
  std::vector<std::uint32_t> filled(ends_.size(), 0);
  const auto fill = [&](EdgeId e, VertexId third, const Sides& sides) {
    const std::uint64_t at = begin_[e] + add_one(filled[e]);
    thirds_[at] = third;
    sides_[at] = sides;
  };
  for_each([&](EdgeId ab, EdgeId ac, EdgeId bc) {
    fill(ab, ends_[ac].greater, {ac, bc});
    fill(ac, ends_[ab].greater, {ab, bc});
    fill(bc, ends_[ab].lesser, {ab, ac});
  });
}

}  // namespace deltamatch::mine
