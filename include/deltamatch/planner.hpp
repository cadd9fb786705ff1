// Matching orders that a program gives: in which order the vertices of a query are matched.
//
// An order decides how long matching takes, and never what is found. The engine checks every order before it follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/query.hpp"

namespace deltamatch {

/// What the graph holds for a query edge. In a graph with few edges of this kind, the figures for batches are guesses.
struct EdgeFigures {
  double images = 0;       ///< data edges that the query edge can map to
  double from_source = 0;  ///< expected length of the list at the image of the edge's source, at a vertex reached along edges
  double from_target = 0;  ///< the same at its target
};

/// What is expected of the next vertex.
struct CandidateFigures {
  double candidates = 0;  ///< per partial match; observed, if batches have shown it
  std::size_t lists = 0;  ///< neighbour lists whose intersection they are
};

/// A plan that is to be made, and what is known of the graph. Valid during the call.
class PlanRequest {
 public:
  virtual ~PlanRequest() = default;
  PlanRequest() = default;
  PlanRequest(const PlanRequest&) = delete;
  PlanRequest& operator=(const PlanRequest&) = delete;

  /// The query as it is matched. It has no paths: a pattern with paths has a plan for each of its variants (variants). A vertex
  /// with self-loops has a double behind all vertices of the pattern, and its self-loops lead there.
  [[nodiscard]] virtual const Query& query() const noexcept = 0;
  /// The query edge from whose images the search begins. Its ends are matched first.
  [[nodiscard]] virtual std::uint32_t anchor() const noexcept = 0;
  /// Whether a whole graph is matched, instead of the changes of batches.
  [[nodiscard]] virtual bool whole_graph() const noexcept = 0;
  /// The data vertices of the anchor's edge are matched to `tail`, then to `head`.
  [[nodiscard]] virtual std::uint32_t tail() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t head() const noexcept = 0;

  [[nodiscard]] virtual EdgeFigures figures(std::uint32_t edge) const = 0;
  /// What is expected of `vertex` once these vertices are matched, in their order. Some query edge must join it to them.
  /// O(edges + matched).
  [[nodiscard]] virtual CandidateFigures expected(std::uint32_t vertex, std::span<const std::uint32_t> matched) const = 0;
};

/// Chooses matching orders. The engine asks when it makes plans:
/// - before the first batch of a query,
/// - after the graph has grown or shrunk much, and
/// - when it tries other plans with what batches have shown.
///
/// It asks in the thread that calls the engine. An exception ends that call of the engine, which leaves everything as it was.
/// A planner may not call the engine that asks it (Engine).
class Planner {
 public:
  virtual ~Planner() = default;

  /// All vertices of the query but the anchor's ends, in the order in which they are matched. Each must be joined by a query
  /// edge to one before it. Else the call of the engine throws Error(configuration). Counting enumerates a beginning of the
  /// order and sums over the rest; listing enumerates all of it.
  [[nodiscard]] virtual std::vector<std::uint32_t> order(const PlanRequest& request) const = 0;
  /// The query edge from whose images a whole graph is matched. Without one, the engine takes the edge that makes matching
  /// cheapest.
  [[nodiscard]] virtual std::optional<std::uint32_t> first_edge(const Query& query) const;
};

/// The planner of queries that have none of their own. It always takes the vertex with the fewest expected candidates.
[[nodiscard]] const Planner& default_planner() noexcept;

/// A planner that follows one order of a query's vertices, given by their names.
/// - A whole graph is matched from the first edge of the query that joins the first two.
/// - In a batch the search begins at each edge of the query in turn. Then comes, again and again, the first vertex of the order
///   that an edge joins to those matched.
/// - Vertices inside paths come when no vertex of the order can, that with the fewest expected candidates first.
///
/// Throws Error(usage) that begins with `where` if a name is unknown, missing or given twice, or if a vertex is joined to none
/// before it.
[[nodiscard]] std::unique_ptr<Planner> make_fixed_order(const Query& query, std::span<const std::string> names,
                                                        std::string_view where = "matching order");

}  // namespace deltamatch
