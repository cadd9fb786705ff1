// Delta plans: how the matches that use a given data edge are found. Plain data, the same for every backend, printed by
// explain.
//
// A plan starts from an anchor: a query arc mapped to a data edge, tail to tail and head to head. Positions number the matched
// query vertices: 0 the tail, 1 the head, then one per level. A match is found only from its least-ranked changed edge, so
// every list is read with the anchor's rank as a bound (see match/list_view.hpp).
//
// Listing walks the levels. Counting has a plan of its own: a prefix of levels is enumerated, and what hangs below is summed,
// as factors that multiply because nothing joins them (variable elimination on what is left of the query). Query vertices that
// the sums leave free to coincide, although they must not, are corrected by inclusion and exclusion: each term merges some of
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/engine.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::plan {

using Position = std::uint8_t;

/// The candidate stands in the list that `reading` gives at the vertex matched at `position`.
struct Probe {
  Position position;
  bool inclusive;          ///< homomorphism: the edge may be the anchor's own data edge
  std::uint8_t power = 1;  ///< how many query edges read the same list: parallel edges count to that power
  std::uint32_t edge;      ///< the query edge, or one of them
  graph::ReadingId reading;
  friend bool operator==(const Probe&, const Probe&) = default;
};

/// What a candidate for a query vertex must satisfy.
struct Candidates {
  std::vector<Probe> probes;       ///< all of them; a far vertex of a tree has none
  std::vector<Position> distinct;  ///< differs from these; adjacent ones differ anyway
  std::vector<Position> above;     ///< greater than these
  std::vector<Position> below;     ///< less than these
};

/// Induced isomorphism: exactly `edges` data edges, of any label and direction, join the candidate to the vertex at `position`.
struct Joined {
  Position position;
  std::uint8_t edges;
  graph::ReadingId reading;  ///< from that vertex along any edge
};

struct Level {
  std::uint32_t vertex;  ///< query vertex
  Candidates candidates;
  int reuse = -1;              ///< index of an earlier level whose probes are part of this one's, or -1
  std::vector<Probe> rest;     ///< the probes beyond the reused ones
  bool early_cut = true;       ///< order constraints may cut the lists before they are intersected: those that reuse keep them
  std::vector<Joined> joined;  ///< induced isomorphism: for every earlier position; else empty
  double estimate = 0;         ///< expected candidates per partial match
};

/// Rooted sums: no table; see TreeEdge::table.
inline constexpr std::uint8_t no_table = 0xff;

/// Two free vertices of a tree that are joined by a query edge.
struct TreeEdge {
  std::uint8_t a;  ///< index into Factor::vertices
  std::uint8_t b;
  bool inclusive;
  std::uint8_t power;
  graph::ReadingId a_to_b;
  graph::ReadingId b_to_a;
  float a_degree;  ///< expected length of a vertex's a_to_b list
  float b_degree;
  std::uint8_t table = no_table;  ///< rooted sums: an end is a leaf that the root alone decides; where its sums are kept
  bool leaf_is_a = false;         ///< which end that is
};

/// One factor of a sum of products: either a tree of free vertices whose assignments are counted without enumerating them, or
/// one vertex that is enumerated, with the factors that depend on it.
struct Factor {
  enum class Kind : std::uint8_t { tree, bind };
  Kind kind = Kind::tree;
  std::vector<Candidates> vertices;                 ///< of a tree; one for bind
  std::vector<std::vector<std::uint32_t>> members;  ///< query vertices by tree vertex; several where a term merges them
  std::vector<TreeEdge> edges;
  std::uint32_t choose = 1;             ///< tree of one vertex: that many alike are chosen, as a set
  Position position = 0;                ///< bind: where the vertex is put
  std::vector<Factor> inner;            ///< bind
  std::vector<graph::ReadingId> reads;  ///< bind: what inner reads at the vertex
  double per_candidate = 0;             ///< bind: expected cost of one candidate
  std::vector<Factor> others;           ///< bind: other vertices that could be bound first; the fewest candidates decide
  double cost = 0;
};

/// One term of an inclusion and exclusion.
struct Term {
  std::int64_t coefficient = 1;
  std::vector<Factor> factors;
};

struct CountPlan {
  std::size_t prefix = 0;   ///< levels that are enumerated first
  bool ordered = false;     ///< order constraints are checked, so nothing is counted twice
  std::vector<Term> terms;  ///< empty: walk all levels and count what is found
  Count divisor = 1;        ///< what is counted per anchor sums up to this times the result
  double cost = 0;
};

struct Plan {  // NOLINT(clang-analyzer-optin.performance.Padding): read in this order
  query::Arc anchor;
  std::uint32_t tail;          ///< query vertex at position 0
  std::uint32_t head;          ///< query vertex at position 1
  std::uint32_t orbit = 1;     ///< arcs that the plan stands for
  Count stabiliser = 1;        ///< automorphisms that fix the anchor
  std::vector<Probe> closing;  ///< other query edges between tail and head, read at position 0
  bool anchor_above = false;   ///< static plans: the head is greater than the tail
  bool anchor_below = false;
  std::vector<Joined> anchor_joined;  ///< induced isomorphism: for the head as the candidate
  std::vector<Level> levels;
  CountPlan count;
  double cost = 0;
};

/// Counts the matches of a whole graph from a vertex instead of an edge: for every data vertex at position 0, sums over all
/// others. What hangs on the root alone is summed once for a root, in tables, and not for each of its edges.
struct RootedPlan {
  std::uint32_t vertex = 0;  ///< query vertex at position 0
  CountPlan count;           ///< without a prefix
  std::size_t tables = 0;
};

/// All plans of a query. Homomorphism: one for every query arc; else one for every arc orbit.
struct QueryPlans {
  std::vector<Plan> plans;
  std::optional<RootedPlan> rooted;  ///< static counts: where set, it counts instead of `plans`
  std::uint64_t planned_edges = 0;   ///< size of the graph that the statistics were taken from
};

/// How many candidates a query vertex was seen to have, given the query vertices that its lists are read at.
struct Observation {
  std::uint32_t vertex;
  std::uint32_t from;  ///< bit set of the latter
  double candidates;   ///< per partial match, whatever order constraints leave of them
};
using Observations = std::vector<Observation>;  ///< of one plan

/// The bit set of query vertices that these probes for `block` (a bit set, too) are read at.
[[nodiscard]] std::uint32_t read_at(const BoundQuery& query, std::uint32_t block, const std::vector<Probe>& probes) noexcept;

/// Plans for batches. `seen`: by plan (their number and anchors are the same for a query, whatever was seen), what is known
/// better than by the estimates; or empty. O(orbits x n^3) and a bounded search for the count plans.
[[nodiscard]] QueryPlans make_delta_plans(const BoundQuery& query, std::span<const Observations> seen = {});

/// What the planner could have done otherwise: by level and in its place, each other vertex that the ones before lead to, as a
/// plan that ends there. It finds no matches: walks along it tell how many candidates there are.
[[nodiscard]] std::vector<Plan> make_detours(const BoundQuery& query, const Plan& plan);

/// One plan that finds all matches of the graph with every edge as anchor; the anchor is the rarest arc, tried in both
/// orientations where its query edge is undirected.
struct StaticPlanning {
  std::optional<std::uint32_t> anchor;  ///< this query edge instead of the rarest, and no root
  bool sums = true;                     ///< plan sums as well; without them all matches are walked to
  bool listed = true;                   ///< the sums only tell whether an anchor leads to any match, and there is no root
  CountFrom from = CountFrom::automatic;
  const std::atomic<bool>* stop = nullptr;  ///< where not null and set, planning sums ends with PlanningStopped
};
/// Sums of large queries with many cycles take seconds to plan.
class PlanningStopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "planning was stopped"; }
};
[[nodiscard]] QueryPlans make_static_plans(const BoundQuery& query, const StaticPlanning& how = {});

/// Actual figures of a plan over the batches so far, beside the estimates.
struct PlanActuals {
  std::uint64_t anchors = 0;
  Count matches = 0;
  std::vector<double> partial_matches;  ///< by level, where they were counted (Engine::analyze)
};

/// The plans as text: docs/reference/patterns.md explains how to read it.
[[nodiscard]] std::string to_text(const BoundQuery& query, const QueryPlans& plans, const std::vector<PlanActuals>& actuals);

}  // namespace deltamatch::plan
