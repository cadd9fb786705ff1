// The order in which a conditional query chooses data edges, and where each condition is tested.
//
// Edges are chosen at the level where their later end is matched, not after all vertices. Otherwise conditions would prune
// nothing. A condition is tested as soon as its last element is bound.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "condition/evaluate.hpp"
#include "plan/plan.hpp"

namespace deltamatch::plan {

/// The steps of a plan whose levels are complete. O(edges + elements of conditions).
[[nodiscard]] ConditionSteps condition_steps(const BoundQuery& query, const Plan& plan);

/// A partial match as conditions read it, or a single element. All that a tested condition names must be bound.
class BoundValues {
 public:
  /// `condition`: index into the query's conditions.
  BoundValues(const BoundQuery& query, std::size_t condition, std::span<const VertexId> vertices,
              std::span<const graph::Edge> edges) noexcept
      : graph_(&query.graph()),
        program_(&query.conditions[condition]),
        symbols_(query.symbols[condition]),
        vertices_(vertices),
        edges_(edges) {}
  /// The same for a condition that counts.
  BoundValues(const BoundQuery& query, const CountedCondition& condition, std::span<const VertexId> vertices,
              std::span<const graph::Edge> edges) noexcept
      : graph_(&query.graph()), program_(&condition.program), symbols_(condition.symbols), vertices_(vertices), edges_(edges) {}

  [[nodiscard]] std::optional<std::int64_t> raw(std::uint32_t element, std::uint32_t slot) const noexcept {
    const Element& of = program_->elements[element];
    return of.kind == Element::Kind::edge ? graph_->edge_table->values().word(edges_[of.index].which, slot)
                                          : graph_->vertex_values.word(vertices_[of.index], slot);
  }
  [[nodiscard]] std::optional<Timestamp> time(std::uint32_t element) const noexcept {
    return graph_->edge_table->time(edges_[program_->elements[element].index].which);
  }
  [[nodiscard]] Id id(std::uint32_t element) const {
    return graph_->dictionary.external(vertices_[program_->elements[element].index]);
  }
  [[nodiscard]] std::int64_t symbol(std::uint32_t text) const noexcept { return symbols_[text]; }

 private:
  const graph::DataGraph* graph_;
  const condition::Program* program_;
  std::span<const std::int64_t> symbols_;
  std::span<const VertexId> vertices_;  // by query vertex
  std::span<const graph::Edge> edges_;  // by query edge
};

/// Whether a whole match satisfies all conditions and bounds on times. `vertices`: by query vertex, `edges`: by query edge.
[[nodiscard]] bool satisfies(const BoundQuery& query, std::span<const VertexId> vertices, std::span<const graph::Edge> edges);

}  // namespace deltamatch::plan
