#include "plan/matching_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "deltamatch/planner.hpp"

namespace deltamatch::plan {

namespace {

class Request final : public PlanRequest {
 public:
  Request(const BoundQuery& query, const Estimates& estimates, const Plan& plan, std::uint32_t anchor)
      : query_(&query), estimates_(&estimates), plan_(&plan), anchor_(anchor) {}

  [[nodiscard]] const Query& query() const noexcept override { return query_->query; }
  [[nodiscard]] std::uint32_t anchor() const noexcept override { return plan_->anchor.edge; }
  [[nodiscard]] bool whole_graph() const noexcept override { return anchor_ == no_anchor; }
  [[nodiscard]] std::uint32_t tail() const noexcept override { return plan_->tail; }
  [[nodiscard]] std::uint32_t head() const noexcept override { return plan_->head; }

  [[nodiscard]] EdgeFigures figures(std::uint32_t edge) const override {
    return {estimates_->entries(edge), estimates_->degree(edge, 0), estimates_->degree(edge, 1)};
  }
  [[nodiscard]] CandidateFigures expected(std::uint32_t vertex, std::span<const std::uint32_t> matched) const override {
    std::vector<std::uint32_t> positions;
    positions.reserve(matched.size());
    for (const std::uint32_t each : matched) positions.push_back(1U << each);
    const Candidates candidates = candidates_for(*query_, 1U << vertex, positions, anchor_, positions.size());
    return {estimates_->size(1U << vertex, candidates.probes), candidates.probes.size()};
  }

 private:
  const BoundQuery* query_;
  const Estimates* estimates_;
  const Plan* plan_;
  std::uint32_t anchor_;
};

[[noreturn]] void refuse(const BoundQuery& query, const Plan& plan, std::string_view why) {
  const auto name = [&](std::uint32_t vertex) { return std::string_view(query.query.vertices[vertex].name); };
  throw Error(ErrorKind::configuration, "planner of query " + query.query.name,
              fmt::format("the order after ({}) and ({}) {}", name(plan.tail), name(plan.head), why),
              "return every other vertex once, each joined by an edge to one before it");
}

void check(const BoundQuery& query, const Plan& plan, const std::vector<std::uint32_t>& order) {
  std::uint32_t held = 1U << plan.tail | 1U << plan.head;
  for (const std::uint32_t vertex : order) {
    if (vertex >= query.vertices()) refuse(query, plan, fmt::format("has the vertex {} of {}", vertex, query.vertices()));
    const std::string& name = query.query.vertices[vertex].name;
    if ((held >> vertex & 1U) != 0) refuse(query, plan, fmt::format("has ({}) twice", name));
    if ((query.neighbours(vertex) & held) == 0) refuse(query, plan, fmt::format("has ({}) before all its neighbours", name));
    held |= 1U << vertex;
  }
  for (std::uint32_t v = 0; v < query.vertices(); ++v) {
    if ((held >> v & 1U) == 0) refuse(query, plan, fmt::format("lacks ({})", query.query.vertices[v].name));
  }
}

}  // namespace

std::vector<std::uint32_t> matching_order(const BoundQuery& query, const Estimates& estimates, const Plan& plan,
                                          std::uint32_t anchor) {
  const Planner& planner = query.planner != nullptr ? *query.planner : default_planner();
  std::vector<std::uint32_t> order = planner.order(Request(query, estimates, plan, anchor));
  check(query, plan, order);
  return order;
}

std::optional<std::uint32_t> first_edge(const BoundQuery& query) {
  if (query.planner == nullptr) return std::nullopt;
  const std::optional<std::uint32_t> edge = query.planner->first_edge(query.query);
  if (edge && *edge >= query.edges.size()) {
    throw Error(ErrorKind::configuration, "planner of query " + query.query.name,
                fmt::format("the first edge is number {} of {}", *edge, query.edges.size()), "return the number of an edge");
  }
  return edge;
}

}  // namespace deltamatch::plan
