#include "filter/filtering.hpp"

#include <chrono>
#include <new>
#include <set>

#include "base/seconds.hpp"

namespace deltamatch::filter {

namespace {

using Clock = std::chrono::steady_clock;

// Seconds for each vertex and entry that the steps examine. Covers all steps and making the lists.
constexpr double seconds_per_entry = 100e-9;
// Refinement ends once a round drops less than this share of what is left, or after this many rounds.
constexpr double least_gain = 1.0 / 32;
constexpr int most_rounds = 16;
// Query vertices whose candidates differ by at most this share of edges are given the same candidates.
constexpr double little_apart = 1.0 / 8;
// Lists of candidates are made only if they have at most this share of the edges that the labels leave.
constexpr double most_edges = 0.9;

// The vertices, plus the entries of each list that the query reads.
double scanned(const plan::BoundQuery& query) {
  std::set<graph::QueryRelationId> query_relations;
  for (const plan::BoundEdge& edge : query.edges)
    query_relations.insert(edge.query_relation.begin(), edge.query_relation.end());
  auto entries = static_cast<double>(query.graph().base().vertices());
  for (const graph::QueryRelationId query_relation : query_relations)
    entries += static_cast<double>(query.graph().figures(query_relation).entries);
  return entries;
}

// Null if the memory that holds the graph's lists has no room for them. Matching then does without.
std::unique_ptr<PrunedLists> make_lists(const plan::BoundQuery& query, const Candidates& candidates, Numbering numbering,
                                        Workers& workers, const std::atomic<bool>& stop) {
  try {
    return std::make_unique<PrunedLists>(query, candidates, numbering, workers, stop);
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const graph::SlabShortage&) {
    return nullptr;
  }
}

}  // namespace

double expected_seconds(const plan::BoundQuery& query) { return seconds_per_entry * scanned(query); }

template <class Step>
void Filtering::take(std::string_view name, Candidates& candidates, const std::atomic<bool>& stop, Step&& step) {
  const auto start = Clock::now();
  step();
  if (stop.load(std::memory_order_relaxed)) return;
  const auto& sizes = candidates.left().candidates;
  report_.steps.push_back({name, {sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(candidates.needs().size())}, 0});
  report_.steps.back().seconds = seconds_since(start);
  no_match_ = candidates.any_empty();
}

void Filtering::run(plan::BoundQuery& query, graph::DataGraph& graph, Filter how, Numbering numbering, Workers& workers,
                    const std::atomic<bool>& stop, CandidateSteps* elsewhere, FilterWithout without) {
  const auto start = Clock::now();
  const bool automatic = how == Filter::automatic;
  if (how == Filter::none) return;
  const bool by_degree = how != Filter::label && !without.degree;
  const bool refines = (automatic || how == Filter::refine) && !without.refine;
  const bool unites = how != Filter::label && !without.unite;
  Candidates candidates(query, workers, stop, elsewhere);
  const auto over = [&] { return no_match_ || stop.load(std::memory_order_relaxed); };
  take("label", candidates, stop, [&] { candidates.by_label(); });
  const std::uint64_t edges = candidates.left().edges;
  if (!over() && by_degree) take("degree", candidates, stop, [&] { candidates.by_degree(); });
  for (int round = 0; round < most_rounds && !over() && refines; ++round) {
    const std::uint64_t before = candidates.left().edges;
    take("refine", candidates, stop, [&] { candidates.refine(); });
    if (static_cast<double>(before - candidates.left().edges) <= least_gain * static_cast<double>(before)) break;
  }
  candidates.settle();
  if (!over() && unites) take("unite", candidates, stop, [&] { candidates.unite(little_apart); });
  const bool worthwhile = static_cast<double>(candidates.left().edges) <= most_edges * static_cast<double>(edges);
  if (!over() && (!automatic || worthwhile || numbering == Numbering::by_degree)) {
    lists_ = make_lists(query, candidates, numbering, workers, stop);
    if (lists_ && !stop.load(std::memory_order_relaxed)) {
      lists_->lend(query, graph);
      report_.used = true;
      report_.entries = lists_->entries();
      report_.bytes = lists_->bytes();
    }
  }
  report_.seconds = seconds_since(start);
}

void Filtering::discard_lists(plan::BoundQuery& query) noexcept {
  query.lift_restrictions();
  lists_.reset();
  report_.used = false;
  report_.entries = report_.bytes = 0;
}

}  // namespace deltamatch::filter
