// The course of filtering: which steps run, and whether matching reads what they leave.
#pragma once

#include <atomic>
#include <memory>

#include "deltamatch/filter.hpp"
#include "filter/pruned_lists.hpp"

namespace deltamatch::filter {

/// The expected time of filtering on one thread, in seconds, roughly.
[[nodiscard]] double expected_seconds(const plan::BoundQuery& query);

/// Filters for a query. Must outlive the query, which reads its lists.
class Filtering {
 public:
  /// Filters. If that pays, the query, whose graph this is, then reads candidates only. Nothing may be staged, and the query
  /// relations must be resolved. Once `stop` is set, it ends soon and leaves the query as it is.
  ///
  /// If vertices are numbered by degree, the query always reads its own lists, and matches have these numbers. Steps run
  /// `elsewhere` if that is not null and takes them. If there is no memory for the lists, the query reads the graph.
  void run(plan::BoundQuery& query, graph::DataGraph& graph, Filter how, Numbering numbering, Workers& workers,
           const std::atomic<bool>& stop, CandidateSteps* elsewhere = nullptr, FilterWithout without = {});

  /// Lets the query read the graph again, and frees the lists.
  void discard_lists(plan::BoundQuery& query) noexcept;

  /// Whether some query vertex has no candidates left, so that there is no match.
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
