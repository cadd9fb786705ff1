// The planners that come with the library.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/planner.hpp"

namespace deltamatch {

namespace {

/// Which vertices of a query share an edge.
class Neighbours {
 public:
  explicit Neighbours(const Query& query) : of_(query.vertices.size()) {
    for (const QueryEdge& edge : query.edges) {
      of_[edge.source] |= 1U << edge.target;
      of_[edge.target] |= 1U << edge.source;
    }
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t vertex) const noexcept { return of_[vertex]; }
  [[nodiscard]] std::size_t size() const noexcept { return of_.size(); }

 private:
  std::vector<std::uint32_t> of_;  // bit sets
};

/// Finds the vertex with the fewest expected candidates among those from `first` on that an edge joins to the matched ones.
/// Among equals, the one that closes the most query edges. There must be one.
std::uint32_t with_fewest_candidates(const PlanRequest& request, const Neighbours& neighbours,
                                     const std::vector<std::uint32_t>& matched, std::uint32_t held, std::uint32_t first) {
  std::uint32_t best = first;
  std::size_t best_lists = 0;
  int best_ahead = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t v = first; v < neighbours.size(); ++v) {
    if ((held >> v & 1U) != 0 || (neighbours.of(v) & held) == 0) continue;
    const CandidateFigures expected = request.expected(v, matched);
    // Among equals, prefer the vertex that joins more of the vertices still to come: the rest may then be twins.
    const int ahead = request.whole_graph() ? std::popcount(neighbours.of(v) & ~held) : 0;
    if (std::tuple(expected.candidates, best_lists, best_ahead) >= std::tuple(least, expected.lists, ahead)) continue;
    best = v;
    best_lists = expected.lists;
    best_ahead = ahead;
    least = expected.candidates;
  }
  return best;
}

class FewestCandidates final : public Planner {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    const Neighbours neighbours(request.query());
    std::vector<std::uint32_t> matched{request.tail(), request.head()};
    std::uint32_t held = 1U << matched[0] | 1U << matched[1];
    while (matched.size() < neighbours.size()) {
      matched.push_back(with_fewest_candidates(request, neighbours, matched, held, 0));
      held |= 1U << matched.back();
    }
    return {matched.begin() + 2, matched.end()};
  }
};

class FixedOrder final : public Planner {
 public:
  explicit FixedOrder(std::vector<std::uint32_t> order) : order_(std::move(order)) {}

  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    const Neighbours neighbours(request.query());
    const auto named = static_cast<std::uint32_t>(order_.size());  // those inside paths follow
    std::vector<std::uint32_t> matched{request.tail(), request.head()};
    std::uint32_t held = 1U << matched[0] | 1U << matched[1];
    while (matched.size() < neighbours.size()) {
      const auto next = std::ranges::find_if(
          order_, [&](std::uint32_t v) { return (held >> v & 1U) == 0 && (neighbours.of(v) & held) != 0; });
      matched.push_back(next != order_.end() ? *next : with_fewest_candidates(request, neighbours, matched, held, named));
      held |= 1U << matched.back();
    }
    return {matched.begin() + 2, matched.end()};
  }

  [[nodiscard]] std::optional<std::uint32_t> first_edge(const Query& query) const override {
    const auto touches = [&](const QueryEdge& edge, std::size_t place) {
      return place < order_.size() && (edge.source == order_[place] || edge.target == order_[place]);
    };
    std::optional<std::uint32_t> first;
    for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
      const QueryEdge& edge = query.edges[e];
      if (!touches(edge, 0) || edge.source == edge.target) continue;
      if (touches(edge, 1)) return e;
      if (!first && std::max(edge.source, edge.target) >= order_.size()) first = e;  // into a path
    }
    return first;
  }

 private:
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::optional<std::uint32_t> Planner::first_edge(const Query& /*query*/) const { return std::nullopt; }

const Planner& default_planner() noexcept {
  static const FewestCandidates planner;
  return planner;
}

std::unique_ptr<Planner> make_fixed_order(const Query& query, std::span<const std::string> names, std::string_view where) {
  std::vector<std::string> all;
  all.reserve(query.vertices.size());
  for (const QueryVertex& vertex : query.vertices) all.push_back(vertex.name);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::usage, where, what,
                fmt::format("name each of {} once, each joined by an edge to one before it", fmt::join(all, ", ")));
  };
  const Neighbours neighbours(query);
  std::vector<std::uint32_t> order;
  std::uint32_t held = 0;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name);
    if (found == all.end()) refuse(fmt::format("query {} has no vertex '{}'", query.name, name));
    const auto vertex = static_cast<std::uint32_t>(found - all.begin());
    if ((held >> vertex & 1U) != 0) refuse(fmt::format("'{}' is named twice", name));
    if (held != 0 && (neighbours.of(vertex) & held) == 0) {
      refuse(fmt::format("no edge joins '{}' to a vertex named before it, so every pair of candidates would be tried", name));
    }
    held |= 1U << vertex;
    order.push_back(vertex);
  }
  for (std::uint32_t v = 0; v < all.size(); ++v) {
    if ((held >> v & 1U) == 0) refuse(fmt::format("'{}' is missing", all[v]));
  }
  return std::make_unique<FixedOrder>(std::move(order));
}

}  // namespace deltamatch
