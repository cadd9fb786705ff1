#include "match/counted_changes.hpp"

#include <algorithm>
#include <iterator>

#include "condition/evaluate.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

constexpr std::size_t edges_at_once = 256;
constexpr std::size_t places_at_once = 16;

bool stopped(const QueryTask& task) noexcept { return task.stop != nullptr && task.stop->load(std::memory_order_relaxed); }

/// Runs a loop for a task, whose threads are watched. Stops soon once the task is stopped.
template <class Body>
void for_each(const QueryTask& task, Workers& workers, std::size_t count, std::size_t at_once, const Body& body) {
  workers.for_each(count, at_once, [&](unsigned worker, std::size_t begin, std::size_t end) {
    if (stopped(task)) return;
    if (task.watch != nullptr) task.watch->enter(worker, task.progress_index);
    for (std::size_t i = begin; i < end && !stopped(task); ++i) body(worker, i);
    if (task.watch != nullptr) task.watch->leave(worker);
  });
}

/// Collects where a changed edge is a part of what a query counts.
class PlaceFinder {
 public:
  PlaceFinder(const plan::BoundQuery& query, const CountedBatch& batch) : query_(&query), batch_(&batch) {
    for (const plan::BoundCount& count : query.counts)
      searches_.emplace_back(*count.pattern, count.first_edge(), batch.resolved);
  }

  void look(const graph::Edge& edge, GraphState state, std::vector<SharedImages>& places) {
    for (std::uint32_t c = 0; c < searches_.size(); ++c) {
      const plan::BoundQuery& pattern = *query_->counts[c].pattern;
      for (std::uint32_t e = query_->counts[c].first_edge(); e < pattern.edges.size(); ++e) {
        look(c, e, edge, true, state, places);
        if (!pattern.edges[e].directed) look(c, e, edge, false, state, places);
      }
    }
  }

 private:
  void look(std::uint32_t c, std::uint32_t e, const graph::Edge& edge, bool forward, GraphState state,
            std::vector<SharedImages>& places) {
    PatternSearch& search = searches_[c];
    search.begin(state, state == GraphState::before ? batch_->aged_before : batch_->aged_after);
    if (!search.bind_edge(e, edge, forward)) return;
    const auto take = [&] {
      places.push_back(shared_images(*query_, c, search.vertices()));
      return true;
    };
    if (std::ranges::all_of(query_->counts[c].shared, [&](std::uint32_t v) { return search.bound(v); })) {
      take();
    } else {
      search.run(take);
    }
  }

  const plan::BoundQuery* query_;
  const CountedBatch* batch_;
  std::vector<PatternSearch> searches_;  // by count
};

std::vector<SharedImages> find_places(const QueryTask& task, const CountedBatch& batch, Workers& workers) {
  std::vector<std::vector<SharedImages>> found(workers.size());
  std::vector<std::optional<PlaceFinder>> finders(workers.size());
  for (const GraphState state : {GraphState::before, GraphState::after}) {
    const std::span<const graph::Edge> edges = state == GraphState::before ? batch.removed : batch.inserted;
    for_each(task, workers, edges.size(), edges_at_once, [&](unsigned worker, std::size_t i) {
      if (!finders[worker]) finders[worker].emplace(*task.query, batch);
      finders[worker]->look(edges[i], state, found[worker]);
    });
  }
  std::vector<SharedImages> places;
  for (std::vector<SharedImages>& part : found) places.insert(places.end(), part.begin(), part.end());
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

/// Finds the matches for which the conditions turn, at one place after the other.
class TurnFinder {
 public:
  TurnFinder(const plan::BoundQuery& query, const CountedBatch& batch)
      : query_(&query), batch_(&batch), truth_(query, batch.resolved), outer_(query, 0, batch.resolved) {
    truth_.age(GraphState::before, batch.aged_before);
    truth_.age(GraphState::aged, batch.aged_after);
    truth_.age(GraphState::after, batch.aged_after);
  }

  void look(const SharedImages& place, TurnedMatches& turned) {
    const plan::BoundCount& count = query_->counts[place.count];
    outer_.begin(GraphState::stable, batch_->aged_after);
    for (std::size_t i = 0; i < count.shared.size(); ++i) {
      if (!outer_.bind_vertex(count.shared[i], place.vertices[i])) return;
    }
    if (count.closed && !turns(place)) return;
    if (query_->vertices() == 1 && batch_->vertices->touches(place.vertices[0])) return;
    outer_.run([&] {
      if (!plan::satisfies(*query_, outer_.vertices(), outer_.edges())) return true;
      const auto holds = [&](GraphState state) { return truth_.holds(state, outer_.vertices(), outer_.edges()); };
      const bool after = holds(GraphState::after);
      if (holds(GraphState::aged) != after && holds(GraphState::before) != after)
        (after ? turned.appeared : turned.vanished).add(outer_.vertices(), outer_.edges());
      return true;
    });
  }

  /// A query of one vertex at a vertex that is there before the batch or after it, or changes.
  void look_at_vertices(TurnedMatches& turned) {
    const graph::VertexChanges& vertices = *batch_->vertices;
    for (const VertexId vertex : vertices.arriving) {
      if (holds(GraphState::after, vertex)) turned.appeared.add({&vertex, 1}, {});
    }
    for (const VertexId vertex : vertices.leaving) {
      if (vertices.former_of(vertex) == nullptr && holds(GraphState::before, vertex) && holds(GraphState::aged, vertex))
        turned.vanished.add({&vertex, 1}, {});
    }
    for (const graph::VertexChanges::Former& former : vertices.former) {
      const bool leaves = std::ranges::binary_search(vertices.leaving, former.vertex);
      const bool before = held(former);
      const bool after = !leaves && holds(GraphState::after, former.vertex);
      if (before != after) (after ? turned.appeared : turned.vanished).add({&former.vertex, 1}, {});
    }
  }

  [[nodiscard]] bool holds(GraphState state, VertexId vertex) {
    if (!plan::admits(query_->labels[0], query_->graph().dictionary.label(vertex))) return false;
    return plan::satisfies(*query_, {&vertex, 1}, {}) && truth_.holds(state, {&vertex, 1}, {});
  }

 private:
  [[nodiscard]] bool turns(const SharedImages& place) {
    std::vector<VertexId>& vertices = images_;
    vertices.assign(query_->vertices(), 0);
    const std::vector<std::uint32_t>& shared = query_->counts[place.count].shared;
    for (std::size_t i = 0; i < shared.size(); ++i) vertices[shared[i]] = place.vertices[i];
    const std::int64_t aged = truth_.count(GraphState::aged, place.count, vertices, {});
    // Insertions alone lower no count, so a hub far above its number is counted once.
    if (batch_->removed.empty() && aged == query_->counts[place.count].counted.enough) return false;
    return truth_.count(GraphState::after, place.count, vertices, {}) != aged;
  }

  /// Whether a vertex that had other attributes or another label was a match then. It had no edges, so all counts were 0.
  [[nodiscard]] bool held(const graph::VertexChanges::Former& former) const;

  const plan::BoundQuery* query_;
  const CountedBatch* batch_;
  CountedTruth truth_;
  PatternSearch outer_;
  std::vector<VertexId> images_;
};

/// The values of a vertex before the batch.
class FormerValues {
 public:
  FormerValues(const graph::DataGraph& graph, const graph::VertexChanges::Former& former,
               std::span<const std::int64_t> symbols) noexcept
      : graph_(&graph), former_(&former), symbols_(symbols) {}
  [[nodiscard]] std::optional<std::int64_t> raw(std::uint32_t /*element*/, std::uint32_t slot) const noexcept {
    return former_->values.empty() ? graph_->vertex_values.word(former_->vertex, slot) : former_->values[slot];
  }
  [[nodiscard]] std::optional<Timestamp> time(std::uint32_t /*element*/) const noexcept { return std::nullopt; }
  [[nodiscard]] Id id(std::uint32_t /*element*/) const { return graph_->dictionary.external(former_->vertex); }
  [[nodiscard]] std::int64_t symbol(std::uint32_t text) const noexcept { return symbols_[text]; }
  [[nodiscard]] std::int64_t count(std::uint32_t /*slot*/) const noexcept { return 0; }

 private:
  const graph::DataGraph* graph_;
  const graph::VertexChanges::Former* former_;
  std::span<const std::int64_t> symbols_;
};

bool TurnFinder::held(const graph::VertexChanges::Former& former) const {
  if (!plan::admits(query_->labels[0], former.label)) return false;
  const auto holds = [&](const condition::Program& program, std::span<const std::int64_t> symbols) {
    return condition::evaluate(program, FormerValues(query_->graph(), former, symbols)) == condition::Truth::yes;
  };
  for (std::size_t c = 0; c < query_->conditions.size(); ++c) {
    if (!holds(query_->conditions[c], query_->symbols[c])) return false;
  }
  return std::ranges::all_of(query_->counted, [&](const auto& part) { return holds(part.program, part.symbols); });
}

void append(FoundMatches& to, const FoundMatches& from) {
  to.vertices.insert(to.vertices.end(), from.vertices.begin(), from.vertices.end());
  to.edges.insert(to.edges.end(), from.edges.begin(), from.edges.end());
  to.count += from.count;
}

}  // namespace

TurnedMatches find_turned(const QueryTask& task, const CountedBatch& batch, Workers& workers) {
  const std::vector<SharedImages> places = find_places(task, batch, workers);
  std::vector<TurnedMatches> found(workers.size());
  std::vector<std::optional<TurnFinder>> finders(workers.size());
  const auto finder = [&](unsigned worker) -> TurnFinder& {
    if (!finders[worker]) finders[worker].emplace(*task.query, batch);
    return *finders[worker];
  };
  for_each(task, workers, places.size(), places_at_once,
           [&](unsigned worker, std::size_t i) { finder(worker).look(places[i], found[worker]); });
  TurnedMatches turned;
  for (const TurnedMatches& part : found) {
    append(turned.vanished, part.vanished);
    append(turned.appeared, part.appeared);
  }
  if (task.query->vertices() == 1 && !batch.vertices->empty() && !stopped(task)) finder(0).look_at_vertices(turned);
  return turned;
}

void find_single(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved, std::optional<Timestamp> aged,
                 std::span<const VertexId> vertices, FoundMatches& found) {
  CountedBatch whole;
  whole.resolved = resolved;
  whole.aged_before = aged;  // a settled graph has one state
  TurnFinder finder(query, whole);
  for (const VertexId vertex : vertices) {
    if (finder.holds(GraphState::settled, vertex)) found.add({&vertex, 1}, {});
  }
}

}  // namespace deltamatch::match
