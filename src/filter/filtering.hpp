// The course of filtering: which steps are taken, and whether matching reads what they leave.
#pragma once

#include <atomic>
#include <memory>

#include "deltamatch/filter.hpp"
#include "filter/pruned_lists.hpp"

namespace deltamatch::filter {

/// How long filtering is going to take, roughly, on one thread.
[[nodiscard]] double expected_seconds(const plan::BoundQuery& query);

/// Outlives the query, which reads its lists.
class Filtering {
 public:
  /// Filters, and where that is worth it lets the query, whose graph this is, read candidates only. Nothing is staged, the
  /// readings are resolved. Once `stop` is set, it ends soon and leaves the query as it is.
  /// With vertices numbered by degree it always reads its own lists; then what is matched are these numbers. Steps run
  /// `elsewhere` where that is not null and takes them. Where there is no memory for the lists the query reads the graph.
  void run(plan::BoundQuery& query, graph::DataGraph& graph, Filter how, Numbering numbering, Workers& workers,
           const std::atomic<bool>& stop, CandidateSteps* elsewhere = nullptr, FilterWithout without = {});

  /// The query reads the graph again; the lists are freed.
  void discard_lists(plan::BoundQuery& query) noexcept;

  /// Whether some query vertex is left without candidates, so that there is no match.
  [[nodiscard]] bool no_match() const noexcept { return no_match_; }
  [[nodiscard]] FilterReport take_report() { return std::move(report_); }

 private:
  template <class Step>
  void take(std::string_view name, Candidates& candidates, const std::atomic<bool>& stop, Step&& step);

  std::unique_ptr<PrunedLists> lists_;
  FilterReport report_;
  bool no_match_ = false;
};

}  // namespace deltamatch::filter
