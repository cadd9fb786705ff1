// The edges of the graph that a query with EMIT FINAL waits for: those whose bounds the watermark has not passed.
//
// Nothing of this is stored: it follows from the graph and the watermark. An entry may be of an edge that has gone since. It is
// dropped when it comes due. The entries that a batch takes out come back if it is undone.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/window.hpp"
#include "match/final_matches.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::engine {

class FinalWait {
 public:
  /// Throws Error(configuration) if edges leave a window before their bounds have passed. `window`: 0 if there is none.
  FinalWait(const Query& query, Timestamp lateness, Timestamp window);
  FinalWait(const FinalWait&) = delete;
  FinalWait& operator=(const FinalWait&) = delete;

  /// Begins with the edges of a settled graph.
  void begin(const plan::BoundQuery& query, std::optional<Timestamp> watermark);
  /// Adds edges that a staged batch inserts. Those that are not inserted after all do no harm.
  void note(const plan::BoundQuery& query, std::span<const graph::Edge> inserted);
  /// Takes the settled edges out whose bounds this watermark has passed. Ends with `settle` or `undo`.
  [[nodiscard]] match::DueEdges take(const graph::DataGraph& graph, Timestamp watermark);
  void settle() noexcept;
  void undo() noexcept;

  [[nodiscard]] const match::FinalRule& rule() const noexcept { return rule_; }
  /// The greatest bound: how long after its edges a match may become final, without the lateness.
  [[nodiscard]] Timestamp greatest() const noexcept { return greatest_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  std::vector<condition::FinalBound> bounds_;
  match::FinalRule rule_;
  Timestamp greatest_ = 0;
  std::vector<std::unique_ptr<graph::Window>> queues_;  // by bound; an edge expires there once its bound is passed
};

/// The edges of a settled graph whose bounds a watermark has not passed, by bound.
[[nodiscard]] match::DueEdges waiting_edges(const plan::BoundQuery& query, const match::FinalRule& rule,
                                            std::optional<Timestamp> watermark);

}  // namespace deltamatch::engine
