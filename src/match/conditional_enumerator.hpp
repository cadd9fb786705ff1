// Finds every match of a conditional query from an anchor, one by one.
//
// It backtracks over the levels of a plan. At each level it chooses the data edges that lead back to matched vertices, before
// it goes on. So conditions and bounds on times prune as early as they can. The times of the edges chosen so far bound that of
// the next one: see condition/time_bounds.hpp. If a vertex has no edge as new as a bound wants, its lists are not read at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "match/arrival_rule.hpp"
#include "match/candidate_space.hpp"
#include "match/enumerator.hpp"
#include "match/partial.hpp"
#include "match/thread_progress.hpp"
#include "match/time_interval.hpp"
#include "match/transient_rule.hpp"

namespace deltamatch::match {

class ConditionalEnumerator {
 public:
  /// What a run needs beside the partial match. One is used for any number of runs, one after the other.
  class Memory {
   private:
    friend class ConditionalEnumerator;
    /// The data edges that a query edge can be mapped to, in the list of its end that was matched first.
    struct Choice {
      ListView view;
      bool flipped = false;      // the list belongs to the target, so directions are the other way round
      std::uint32_t single = 0;  // the tag of all entries, if the relation has no tags
      // Where the search for the next candidate begins, then the end of the candidate's entries.
      std::uint32_t at = 0;
      std::uint32_t plus_at = 0;
      std::uint32_t minus_at = 0;
      std::uint32_t count = 0;  // of the candidate's entries, which end at the positions above
      std::uint32_t plus_count = 0;
      std::uint32_t minus_count = 0;
    };
    std::vector<VertexId> vertices;     // by query vertex
    std::vector<std::uint32_t> tags;    // by query edge
    std::vector<graph::Edge> edges;     // by query edge
    std::vector<Timestamp> times;       // by query edge; only if there are bounds
    std::vector<std::uint32_t> chosen;  // query edges that have an image, in the order in which they got it
    std::vector<Choice> choices;        // by query edge
  };

  /// `query` must be conditional. `ordered`: keep order constraints, so that one match of each class is found. `step_budget`
  /// bounds the run until a match is found; then it is lifted. It may be null.
  ConditionalEnumerator(Partial& partial, const plan::BoundQuery& query, bool ordered, StepBudget* step_budget,
                        Memory& memory) noexcept
      : partial_(&partial), query_(&query), ordered_(ordered), step_budget_(step_budget), memory_(&memory) {}

  /// Finds the matches of the anchor with which the partial match was begun. Passes them to `sink` if it is not null. Returns
  /// their number. The share is of the candidates at the first level.
  std::uint64_t run(Share share, FoundSink* sink);

  /// From now on, matches are also counted in `tally`, as they are found.
  void count_in(const FoundCounter& tally) noexcept { tally_ = tally; }
  /// From now on, only matches that the rule admits are found.
  void report_by(const ArrivalRule& rule) noexcept { rule_ = rule; }
  /// The same. It must outlive the runs.
  void report_by(const TransientRule& rule) noexcept { transient_ = &rule; }
  /// From now on, a run that takes long builds this space, which must be open for the anchor, and stays within it. Such runs
  /// need an allowance.
  void keep_to(CandidateSpace& space) noexcept { space_ = &space; }

 private:
  [[nodiscard]] bool begin();
  void descend(std::size_t level);
  void choose(plan::Position position, std::size_t step);
  void take(plan::Position position, std::size_t step, std::uint32_t tag, const Interval& interval);
  void advance(plan::Position position);
  void count_match();
  [[nodiscard]] bool open_choices(plan::Position position, std::uint32_t vertex);
  [[nodiscard]] bool find_entries(plan::Position position, VertexId candidate) noexcept;
  [[nodiscard]] bool may_be_new_enough(std::uint32_t edge, VertexId owner, bool owns_source) const noexcept;
  [[nodiscard]] Interval interval(std::uint32_t edge) const noexcept;
  [[nodiscard]] bool conditions_hold(const plan::ConditionStep& step) const;
  [[nodiscard]] bool is_chosen(const graph::Edge& edge) const noexcept;
  [[nodiscard]] graph::Edge image_of(std::uint32_t edge, std::uint32_t tag) const noexcept;
  [[nodiscard]] bool over() const noexcept { return step_budget_ != nullptr && step_budget_->over(); }
  [[nodiscard]] bool leaves() const noexcept { return over() || back_to_ != CandidateSpace::none; }

  Partial* partial_;
  const plan::BoundQuery* query_;
  bool ordered_;
  StepBudget* step_budget_;
  Memory* memory_;
  FoundCounter tally_;
  std::optional<ArrivalRule> rule_;
  const TransientRule* transient_ = nullptr;
  CandidateSpace* space_ = nullptr;
  std::size_t back_to_ = CandidateSpace::none;  // the first level whose vertex is known to be in no match
  FoundSink* sink_ = nullptr;
  Share share_;
  bool timed_ = false;     // there are bounds on times
  bool distinct_ = false;  // query edges map to distinct data edges
  bool spanning_ = false;  // induced, and vertices may coincide: decided once edges are chosen
  std::uint64_t count_ = 0;
};

}  // namespace deltamatch::match
