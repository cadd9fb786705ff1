// A plan as a program of nested loops: what the GPU kernel interprets and what the frequency estimator walks, so that both
// touch the same lists.
//
// A loop extends each partial match by one vertex at the next position and runs its steps on every partial match that results;
// a count is a loop without steps whose candidates are only counted. Sums of products (CountPlan) become loops too: the trees
// of a factor are rooted, and every tree vertex is a loop or, at a leaf, a count below its tree neighbour.
//
// Weights: each partial match has a weight; a term sets its product to weight x coefficient, counts and inner sums multiply it,
// and `add` adds it to the result. The last loop of a term inherits the product as the weight of what it finds, so that its
// results add up where the term's would: such a loop is `tail`. Any other loop sums its results per partial match it started
// from, and that sum multiplies the product.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace deltamatch::plan {

struct Step {
  enum class Kind : std::uint8_t {
    term,   ///< product = weight x coefficient
    count,  ///< product x= candidates of the node, or sets of `choose` of them
    loop,   ///< run the node on each candidate
    edges,  ///< product x= ways to map the query edges between the matched vertices to data edges
    add,    ///< add the product to the result
    emit,   ///< list what is matched
  };
  Kind kind = Kind::add;
  bool tail = false;             ///< loop: see above
  std::uint32_t node = 0;        ///< count and loop: index into Program::nodes
  std::int64_t coefficient = 1;  ///< term
};

struct Node {
  Candidates candidates;         ///< probes name positions on the path from the anchor to here
  std::uint32_t vertex = 0;      ///< query vertex, or the first of those that a term merges
  std::vector<Joined> joined;    ///< induced isomorphism; where the probes do not imply it
  std::uint32_t choose = 1;      ///< count: that many alike are chosen, as a set
  std::uint32_t first_step = 0;  ///< loop: index into Program::steps
  std::uint32_t steps = 0;
  Position position = 0;  ///< loop: where the vertex is put; one more than its parent loop's, from 2
};

struct Program {
  std::vector<Node> nodes;
  std::vector<Step> steps;       ///< those of the anchors first
  std::uint32_t root_steps = 0;  ///< steps of the anchors
  std::vector<Joined> joined;    ///< induced isomorphism: for the anchor's head
  bool ordered = false;          ///< order constraints are checked
  bool weighted = false;         ///< parallel entries of a list count each
  std::uint32_t positions = 2;   ///< one more than the largest position
};

/// Every match is walked to: by `emit` where `list`, else counted, the last vertex without a loop where that is exact: `plain`
/// says that each query edge can be mapped in one way only and that vertices alone tell matches apart.
[[nodiscard]] Program make_walk(const Plan& plan, bool ordered, bool list, bool plain);

/// The sums of plan.count, which must have terms.
[[nodiscard]] Program make_sums(const BoundQuery& query, const Plan& plan);

/// One line per step, indented by depth.
[[nodiscard]] std::string to_text(const BoundQuery& query, const Program& program);

}  // namespace deltamatch::plan
