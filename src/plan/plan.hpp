// Delta plans: how to find the matches that use a given data edge. They are plain data, the same for every backend, and explain
// prints them.
//
// A plan starts from an anchor: a query arc mapped to a data edge, tail to tail and head to head. Positions number the matched
// query vertices: 0 is the tail, 1 is the head, and each level adds one. A match is found only from its changed edge of lowest
// rank. So every list is read with the anchor's rank as a bound (see match/list_view.hpp).
//
// Listing walks the levels. Counting has a plan of its own: it enumerates a prefix of the levels and sums over the free
// vertices below. The sums are products of factors, because no edge joins the factors (variable elimination on the rest of the
// query). Free vertices may coincide in these sums although they must not. Inclusion and exclusion corrects that: each term
// merges some of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/static.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::plan {

using Position = std::uint8_t;

/// A condition on a candidate: it is in the list that `query_relation` gives at the vertex matched at `position`.
struct Probe {
  Position position;
  bool inclusive;          ///< homomorphism: the edge may map to the anchor's data edge
  std::uint8_t power = 1;  ///< number of query edges that read this list; each parallel edge counts to this power
  std::uint32_t edge;      ///< the query edge, or one of several
  graph::QueryRelationId query_relation;
  friend bool operator==(const Probe&, const Probe&) = default;
};

/// The conditions on a candidate for a query vertex.
struct Candidates {
  std::vector<Probe> probes;       ///< all of them; a tree's vertex that no matched vertex joins has none
  std::vector<Position> distinct;  ///< differs from these; vertices joined to it differ anyway
  std::vector<Position> above;     ///< greater than these
  std::vector<Position> below;     ///< less than these
};

/// Induced isomorphism: exactly `edges` data edges of any label and direction join the candidate to the vertex at `position`.
struct Joined {
  Position position;
  std::uint8_t edges;
  graph::QueryRelationId query_relation;  ///< from that vertex, along any edge
};

struct Level {
  std::uint32_t vertex;  ///< query vertex
  Candidates candidates;
  int reuse = -1;              ///< index of an earlier level whose probes are a part of this one's, or -1
  std::vector<Probe> rest;     ///< the probes that are not reused
  bool early_cut = true;       ///< order constraints may cut lists before intersection: every level that reuses it has them
  std::vector<Joined> joined;  ///< induced isomorphism: one for each earlier position; else empty
  double estimate = 0;         ///< expected candidates per partial match
};

/// Means that a tree edge has no table; see TreeEdge::table.
inline constexpr std::uint8_t no_table = 0xff;

/// A query edge between two free vertices of a tree.
struct TreeEdge {
  std::uint8_t a;  ///< index into Factor::vertices
  std::uint8_t b;
  bool inclusive;
  std::uint8_t power;
  graph::QueryRelationId a_to_b;
  graph::QueryRelationId b_to_a;
  float a_degree;  ///< expected length of a vertex's a_to_b list
  float b_degree;
  std::uint8_t table = no_table;  ///< rooted sums: the table of sums over a leaf that depends on the root alone
  bool leaf_is_a = false;         ///< whether that leaf is a
};

/// One factor of a sum of products. tree: free vertices whose assignments are counted without enumeration. bind: one vertex
/// that is enumerated, with the factors that depend on it.
struct Factor {
  enum class Kind : std::uint8_t { tree, bind };
  Kind kind = Kind::tree;
  std::vector<Candidates> vertices;                 ///< of the tree; one for bind
  std::vector<std::vector<std::uint32_t>> members;  ///< query vertices for each tree vertex; several if a term merges them
  std::vector<TreeEdge> edges;
  std::uint32_t choose = 1;                   ///< tree of one vertex: this many interchangeable ones are chosen, as a set
  Position position = 0;                      ///< bind: position of the vertex
  std::vector<Factor> inner;                  ///< bind
  std::vector<graph::QueryRelationId> reads;  ///< bind: query relations of the inner factors at the vertex
  double per_candidate = 0;                   ///< bind: expected cost of one candidate
  std::vector<Factor> others;  ///< bind: alternatives to this vertex; the one with the fewest candidates is bound
  double cost = 0;
};

/// One term of a sum by inclusion and exclusion.
struct Term {
  std::int64_t coefficient = 1;
  std::vector<Factor> factors;
};

struct CountPlan {
  std::size_t prefix = 0;   ///< number of levels that are enumerated first
  bool ordered = false;     ///< order constraints are checked, so each match is counted once
  std::vector<Term> terms;  ///< empty: walk all levels and count the matches
  Count divisor = 1;        ///< the sum over all anchors is this times the result
  double cost = 0;
};

/// One step of a conditional query at a position. It chooses a data edge for a query edge, unless there is none to choose. Then
/// it tests conditions.
struct ConditionStep {
  std::optional<std::uint32_t> edge;      ///< the query edge; nullopt in the first step of each position
  std::vector<std::uint32_t> conditions;  ///< indices into BoundQuery::conditions
  /// For each condition the steps of this position, as a bit set modulo 64, whose edges it reads. So the edges may also be
  /// chosen in another order.
  std::vector<std::uint64_t> reads;
};
/// [position] holds the steps once the vertex of that position is matched; [0] is empty. The anchor's edge is bound at
/// position 1.
using ConditionSteps = std::vector<std::vector<ConditionStep>>;

struct Plan {  // NOLINT(clang-analyzer-optin.performance.Padding): read in this order
  query::Arc anchor;
  std::uint32_t tail;          ///< query vertex at position 0
  std::uint32_t head;          ///< query vertex at position 1
  std::uint32_t orbit = 1;     ///< number of arcs that the plan stands for
  Count stabiliser = 1;        ///< number of automorphisms that fix the anchor
  std::vector<Probe> closing;  ///< other query edges between tail and head, read at position 0
  bool anchor_above = false;   ///< static plans: the head is greater than the tail
  bool anchor_below = false;
  std::vector<Joined> anchor_joined;  ///< induced isomorphism: conditions on the head as a candidate
  std::vector<Level> levels;
  ConditionSteps steps;  ///< empty unless the query is conditional
  CountPlan count;
  double cost = 0;
};

/// Counts the matches of a whole graph from a vertex instead of an edge. For every data vertex at position 0, it sums over all
/// other query vertices. Sums that depend on the root alone are computed once per root, in tables, not once per edge.
struct RootedPlan {
  std::uint32_t vertex = 0;  ///< query vertex at position 0
  CountPlan count;           ///< has no prefix
  std::size_t tables = 0;
};

/// All plans of a query: for homomorphism one per query arc, otherwise one per arc orbit.
struct QueryPlans {
  std::vector<Plan> plans;
  std::optional<RootedPlan> rooted;  ///< static counts: if set, it counts instead of `plans`
  std::uint64_t planned_edges = 0;   ///< number of edges in the graph when it was planned
};

/// An observed number of candidates of a query vertex, given the query vertices at which its lists are read.
struct Observation {
  std::uint32_t vertex;
  std::uint32_t from;  ///< bit set of these query vertices
  double candidates;   ///< per partial match, before order constraints
};
using Observations = std::vector<Observation>;  ///< of one plan

/// Returns the bit set of query vertices at which these probes for `block` (also a bit set) are read.
[[nodiscard]] std::uint32_t read_at(const BoundQuery& query, std::uint32_t block, const std::vector<Probe>& probes) noexcept;

/// Makes the plans for batches. `seen` has observations for each plan, which replace estimates, or is empty. A query always has
/// the same number of plans with the same anchors. `closure`: the graph's triangle_closure if it is known, because sampling it
/// takes longer than the rest. O(orbits x n^3), plus a bounded search for the count plans.
[[nodiscard]] QueryPlans make_delta_plans(const BoundQuery& query, std::span<const Observations> seen = {},
                                          std::optional<double> closure = std::nullopt);

/// Makes the alternatives that the planner could have chosen. For each level and each other vertex that could take its place,
/// there is a plan that ends with that vertex. It finds no matches: walks along it show how many candidates there are.
[[nodiscard]] std::vector<Plan> make_detours(const BoundQuery& query, const Plan& plan);

/// Options for planning a match of the whole graph. One plan finds all matches, with every data edge as an anchor. The anchor
/// is the rarest query edge. If that edge is undirected, both orientations are tried.
struct StaticPlanning {
  std::optional<std::uint32_t> anchor;  ///< use this query edge instead of the rarest, and no root
  bool sums = true;                     ///< plan sums too; without them, matching walks to every match
  bool listed = true;                   ///< the sums only decide whether an anchor leads to any match, and there is no root
  CountFrom from = CountFrom::automatic;
  const std::atomic<bool>* stop = nullptr;  ///< if set, planning of sums ends with PlanningStopped; may be null
};
/// Thrown if planning is stopped. Sums of large queries with many cycles take seconds to plan.
class PlanningStopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "planning was stopped"; }
};
[[nodiscard]] QueryPlans make_static_plans(const BoundQuery& query, const StaticPlanning& how = {});

/// Measured figures of a plan over all batches so far, to compare with the estimates.
struct PlanActuals {
  std::uint64_t anchors = 0;
  Count matches = 0;
  std::vector<double> partial_matches;  ///< by level, if they were counted (Engine::analyze)
};

/// Formats the plans as text. docs/reference/patterns.md explains how to read it.
[[nodiscard]] std::string to_text(const BoundQuery& query, const QueryPlans& plans, const std::vector<PlanActuals>& actuals);

}  // namespace deltamatch::plan
