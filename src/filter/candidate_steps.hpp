// The steps of filtering elsewhere than on CPU cores. A backend with its own memory may run them for Candidates.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/query.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::filter {

/// A set of query vertices, one bit each.
using Mask = std::uint32_t;
static_assert(max_query_vertices <= 32);

/// What a query vertex requires of one list of each of its candidates.
struct ListRequirement {
  graph::QueryRelationId query_relation;
  std::uint32_t entries;  ///< the least number of entries, each leading to a candidate of one of the neighbours
  Mask neighbours;        ///< that the query relation leads to; each must have a candidate among the entries
};

/// How many candidates are left.
struct RemainingCandidates {
  std::array<std::uint64_t, max_query_vertices> candidates{};  ///< by query vertex
  std::uint64_t edges = 0;                                     ///< edges of the candidates, summed over query vertices
  friend bool operator==(const RemainingCandidates&, const RemainingCandidates&) = default;
};

/// What a query requires of candidates. The graph must be settled and its query relations resolved.
struct CandidateRequirements {
  const graph::DataGraph& graph;
  std::vector<Mask> by_label;                       ///< by vertex label: the query vertices that admit it
  std::vector<std::uint32_t> degrees;               ///< by query vertex: the least degree of a candidate
  std::vector<std::vector<ListRequirement>> needs;  ///< by query vertex, one per query relation there
};

/// Serves one query after the other: `begin`, any number of steps, `read`. Each step leaves exactly what the step of that name
/// in Candidates would, and counts it. Throws Error if a device fails.
class CandidateSteps {
 public:
  virtual ~CandidateSteps() = default;
  CandidateSteps() = default;
  CandidateSteps(const CandidateSteps&) = delete;
  CandidateSteps& operator=(const CandidateSteps&) = delete;

  /// Begins with a query. Returns false if the CPU must run the steps. `asked` must outlive the steps.
  [[nodiscard]] virtual bool begin(const CandidateRequirements& asked) = 0;
  virtual RemainingCandidates by_label() = 0;
  virtual RemainingCandidates by_degree() = 0;
  virtual RemainingCandidates refine() = 0;
  /// Reads what is left, by vertex of the graph.
  virtual void read(std::span<Mask> masks) = 0;
};

}  // namespace deltamatch::filter
