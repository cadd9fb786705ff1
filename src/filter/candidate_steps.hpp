// The steps of filtering elsewhere than on the CPU's cores: what a backend with memory of its own may do for Candidates.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/query.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::filter {

/// Bit set of query vertices.
using Mask = std::uint32_t;
static_assert(max_query_vertices <= 32);

/// What a query vertex asks of one list of its candidates.
struct Need {
  graph::ReadingId reading;
  std::uint32_t entries;  ///< at least so many, each leading to a candidate of one of the neighbours
  Mask neighbours;        ///< that the reading leads to; each has a candidate among the entries
};

/// Figures of the candidates that are left.
struct Left {
  std::array<std::uint64_t, max_query_vertices> candidates{};  ///< by query vertex
  std::uint64_t edges = 0;                                     ///< that they have, summed over query vertices
  friend bool operator==(const Left&, const Left&) = default;
};

/// What a query asks of candidates. The graph is settled, its readings are resolved.
struct Asked {
  const graph::DataGraph& graph;
  std::vector<Mask> by_label;            ///< by vertex label: the query vertices that admit it
  std::vector<std::uint32_t> degrees;    ///< by query vertex: edges that a candidate has at least
  std::vector<std::vector<Need>> needs;  ///< by query vertex, one for each reading there
};

/// For one query after the other: begin, any number of steps, read. Each step leaves exactly what the one of that name in
/// Candidates would, and takes stock of it. Throws Error where a device fails.
class CandidateSteps {
 public:
  virtual ~CandidateSteps() = default;
  CandidateSteps() = default;
  CandidateSteps(const CandidateSteps&) = delete;
  CandidateSteps& operator=(const CandidateSteps&) = delete;

  /// False where the steps are left to the CPU. `asked` outlives the steps.
  [[nodiscard]] virtual bool begin(const Asked& asked) = 0;
  virtual Left by_label() = 0;
  virtual Left by_degree() = 0;
  virtual Left refine() = 0;
  /// What is left, by vertex of the graph.
  virtual void read(std::span<Mask> masks) = 0;
};

}  // namespace deltamatch::filter
