#include "filter/candidates.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace deltamatch::filter {

namespace {

constexpr std::size_t grain = std::size_t{1} << 12;

std::vector<std::vector<ListRequirement>> needs_of(const plan::BoundQuery& query) {
  const bool distinct = query.mode != MatchMode::homomorphism;
  std::vector<std::vector<ListRequirement>> needs(query.vertices());
  for (const plan::BoundEdge& edge : query.edges) {
    for (unsigned end = 0; end < 2; ++end) {
      auto& own = needs[end == 0 ? edge.source : edge.target];
      const Mask neighbour = Mask{1} << (end == 0 ? edge.target : edge.source);
      const auto known = std::ranges::find(own, edge.query_relation[end], &ListRequirement::query_relation);
      if (known == own.end()) {
        own.push_back({edge.query_relation[end], 1, neighbour});
      } else {
        known->entries += distinct ? 1 : 0;
        known->neighbours |= neighbour;
      }
    }
  }
  return needs;
}

std::span<const std::uint32_t> list(const graph::DataGraph& graph, graph::QueryRelationId query_relation, VertexId vertex) {
  const graph::Resolved& where = graph.resolve(query_relation);
  if (where.store == nullptr || vertex >= where.store->vertices()) return {};
  return where.store->ids(vertex, where.relation);
}

template <class Visit>
void for_each_bit(Mask mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

CandidateRequirements asked_of(const plan::BoundQuery& query) {
  CandidateRequirements asked{query.graph(), std::vector<Mask>(query.graph().vertex_labels.size()),
                              std::vector<std::uint32_t>(query.vertices(), 1), needs_of(query)};
  for (LabelId label = 0; label < asked.by_label.size(); ++label) {
    for (std::uint32_t v = 0; v < query.vertices(); ++v) {
      if (plan::admits(query.labels[v], label)) asked.by_label[label] |= Mask{1} << v;
    }
  }
  if (query.mode == MatchMode::homomorphism) return asked;
  for (std::uint32_t v = 0; v < query.vertices(); ++v) {
    asked.degrees[v] = 0;
    for (const ListRequirement& need : asked.needs[v]) asked.degrees[v] += need.entries;
  }
  return asked;
}

}  // namespace

Candidates::Candidates(const plan::BoundQuery& query, Workers& workers, const std::atomic<bool>& stop,
                       CandidateSteps* elsewhere)
    : query_(&query),
      workers_(&workers),
      stop_(&stop),
      asked_(asked_of(query)),
      elsewhere_(elsewhere != nullptr && elsewhere->begin(asked_) ? elsewhere : nullptr),
      masks_(query.graph().base().vertices()),
      next_(masks_.size()) {}

void Candidates::settle() {
  if (elsewhere_ != nullptr) elsewhere_->read(masks_);
  elsewhere_ = nullptr;
}

// Replaces every vertex's mask by keep(vertex, mask), and counts what is left.
template <class Keep>
void Candidates::sweep(Keep&& keep) {
  std::vector<RemainingCandidates> left(workers_->size());
  workers_->for_each(masks_.size(), grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    if (stop_->load(std::memory_order_relaxed)) return;
    RemainingCandidates& own = left[worker];
    for (std::size_t i = begin; i < end; ++i) {
      const auto vertex = static_cast<VertexId>(i);
      const Mask kept = keep(vertex, masks_[i]);
      next_[i] = kept;
      if (kept == 0) continue;
      const std::uint64_t degree = query_->graph().degree(vertex);
      for_each_bit(kept, [&](std::uint32_t v) { ++own.candidates[v]; });
      own.edges += degree * static_cast<std::uint64_t>(std::popcount(kept));
    }
  });
  masks_.swap(next_);
  left_ = {};
  for (const RemainingCandidates& own : left) {
    for (std::size_t v = 0; v < own.candidates.size(); ++v) left_.candidates[v] += own.candidates[v];
    left_.edges += own.edges;
  }
}

void Candidates::by_label() {
  if (elsewhere_ != nullptr) {
    left_ = elsewhere_->by_label();
    return;
  }
  const graph::DataGraph& graph = query_->graph();
  sweep([&](VertexId vertex, Mask) { return graph.degree(vertex) == 0 ? 0 : asked_.by_label[graph.dictionary.label(vertex)]; });
}

void Candidates::by_degree() {
  if (elsewhere_ != nullptr) {
    left_ = elsewhere_->by_degree();
    return;
  }
  sweep([&](VertexId vertex, Mask mask) { return mask == 0 ? 0 : keep_by_degree(vertex, mask); });
}

Mask Candidates::keep_by_degree(VertexId vertex, Mask mask) const {
  const graph::DataGraph& graph = query_->graph();
  const std::uint32_t degree = graph.degree(vertex);
  for_each_bit(mask, [&](std::uint32_t v) {
    const bool kept = degree >= asked_.degrees[v] && std::ranges::all_of(asked_.needs[v], [&](const ListRequirement& need) {
                        return list(graph, need.query_relation, vertex).size() >= need.entries;
                      });
    if (!kept) mask &= ~(Mask{1} << v);
  });
  return mask;
}

void Candidates::refine() {
  if (elsewhere_ != nullptr) {
    left_ = elsewhere_->refine();
    return;
  }
  sweep([&](VertexId vertex, Mask mask) { return mask == 0 ? 0 : keep_by_lists(vertex, mask); });
}

Mask Candidates::keep_by_lists(VertexId vertex, Mask mask) const {
  const graph::DataGraph& graph = query_->graph();
  const Mask all = mask;
  for_each_bit(all, [&](std::uint32_t v) {
    for (const ListRequirement& need : asked_.needs[v]) {
      Mask found = 0;
      std::uint32_t entries = 0;
      for (const VertexId neighbour : list(graph, need.query_relation, vertex)) {
        const Mask there = masks_[neighbour] & need.neighbours;
        found |= there;
        entries += there != 0 ? 1 : 0;
        if (found == need.neighbours && entries >= need.entries) break;
      }
      if (found == need.neighbours && entries >= need.entries) continue;
      mask &= ~(Mask{1} << v);
      return;
    }
  });
  return mask;
}

void Candidates::unite(double share) {
  constexpr double most_looked_through = 1e7;
  std::unordered_map<Mask, std::uint64_t> edges;
  for (std::size_t v = 0; v < masks_.size(); ++v) {
    if (masks_[v] != 0) edges[masks_[v]] += query_->graph().degree(static_cast<VertexId>(v));
  }
  // With many query vertices there may be nearly as many masks as vertices. Then reading all of them for each pair takes too
  // long.
  if (static_cast<double>(edges.size()) * query_->vertices() * query_->vertices() > most_looked_through) return;
  const auto edges_of = [&](Mask group) {
    std::uint64_t sum = 0;
    for (const auto& [mask, at] : edges) sum += (mask & group) != 0 ? at : 0;
    return static_cast<double>(sum);
  };
  std::vector<std::pair<double, std::uint32_t>> by_edges;
  by_edges.reserve(query_->vertices());
  for (std::uint32_t v = 0; v < query_->vertices(); ++v) by_edges.emplace_back(edges_of(Mask{1} << v), v);
  std::ranges::stable_sort(by_edges, std::ranges::greater{}, &std::pair<double, std::uint32_t>::first);
  std::vector<Mask> groups;
  for (const auto& entry : by_edges) {  // v has the fewest edges of its group so far
    const double own = entry.first;
    const std::uint32_t v = entry.second;
    const auto group = std::ranges::find_if(groups, [&](Mask others) {
      return query_->labels[static_cast<std::uint32_t>(std::countr_zero(others))] == query_->labels[v] &&
             edges_of(others | Mask{1} << v) <= (1 + share) * own;
    });
    if (group == groups.end()) {
      groups.push_back(Mask{1} << v);
    } else {
      *group |= Mask{1} << v;
    }
  }
  sweep([&](VertexId, Mask mask) {
    for (const Mask group : groups) {
      if ((mask & group) != 0) mask |= group;
    }
    return mask;
  });
}

bool Candidates::any_empty() const noexcept {
  const auto sizes = std::span(left_.candidates).first(query_->vertices());
  return std::ranges::find(sizes, std::uint64_t{0}) != sizes.end();
}

std::vector<Mask> Candidates::alike() const {
  const std::uint32_t vertices = query_->vertices();
  std::vector<Mask> alike(vertices, vertices == 32 ? ~Mask{0} : (Mask{1} << vertices) - 1);
  Mask last = 0;
  for (const Mask mask : masks_) {
    if (mask == last) continue;
    last = mask;
    for (std::uint32_t v = 0; v < vertices; ++v) alike[v] &= (mask >> v & 1u) != 0 ? mask : ~mask;
  }
  return alike;
}

}  // namespace deltamatch::filter
