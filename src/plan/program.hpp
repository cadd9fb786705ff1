// A plan as a program of nested loops. The kernels of a backend interpret it and the frequency estimator walks it, so both read
// the same lists.
//
// A loop extends each partial match by one vertex at the next position, and runs its steps on every partial match that results.
// A count is a loop without steps whose candidates are only counted. Sums of products (CountPlan) become loops too. The trees
// of a factor are rooted. Each tree vertex becomes a loop, or a count if it is a leaf, below its tree neighbour.
//
// Each partial match has a weight. A term sets its product to weight x coefficient. Counts and inner sums multiply the product,
// and `add` adds it to the result. The last loop of a term is a `tail`. It passes the product on as the weight of its partial
// matches, so their results add up to that of the term. Any other loop sums its results for each partial match that it started
// from. That sum multiplies the product.
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
    count,  ///< product x= candidates of the node, or the number of sets of `choose` candidates
    loop,   ///< run the node on each candidate
    edges,  ///< product x= ways to map the query edges between the matched vertices to data edges
    add,    ///< add the product to the result
    emit,   ///< list the match
  };
  Kind kind = Kind::add;
  bool tail = false;             ///< loop: passes the product on; see above
  std::uint32_t node = 0;        ///< count and loop: index into Program::nodes
  std::int64_t coefficient = 1;  ///< term
};

struct Node {
  Candidates candidates;         ///< the probes name positions on the path from the anchor to this node
  std::uint32_t vertex = 0;      ///< query vertex, or the first of several that a term merges
  std::vector<Joined> joined;    ///< induced isomorphism: what the probes do not imply
  std::uint32_t choose = 1;      ///< count: this many interchangeable ones are chosen, as a set
  std::uint32_t first_step = 0;  ///< loop: index into Program::steps
  std::uint32_t steps = 0;
  Position position = 0;  ///< loop: position of the vertex; one more than in its parent loop, from 2
};

struct Program {
  std::vector<Node> nodes;
  std::vector<Step> steps;       ///< the steps of the anchors come first
  std::uint32_t root_steps = 0;  ///< number of steps of the anchors
  std::vector<Joined> joined;    ///< induced isomorphism: conditions on the anchor's head
  bool ordered = false;          ///< order constraints are checked
  bool weighted = false;         ///< each of several parallel entries of a list counts
  std::uint32_t positions = 2;   ///< one more than the largest position
};

/// Makes a program that walks to every match: with `emit` if `list`, otherwise it counts. `plain` says that each query edge can
/// map in only one way and that vertices alone identify a match. If `plain`, the last vertex of a count needs no loop.
[[nodiscard]] Program make_walk(const Plan& plan, bool ordered, bool list, bool plain);

/// Makes the program for the sums of plan.count, which must have terms.
[[nodiscard]] Program make_sums(const BoundQuery& query, const Plan& plan);

/// Formats a program, one line per step, indented by depth.
[[nodiscard]] std::string to_text(const BoundQuery& query, const Program& program);

}  // namespace deltamatch::plan
