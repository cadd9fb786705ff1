// Finds every match of a conditional query from an anchor, in lists that are in order of time.
//
// At each level it takes the list with the fewest entries within the bounds on times, and tries each of these entries. An entry
// is a vertex and the data edge to it at once. Other edges to matched vertices are looked for in a short list of the anchor's
// ends, or in the shorter one of two. Conditions are tested as soon as what they read is chosen. If a whole graph is counted,
// the last vertex is not matched: the number of entries within the bounds is that of its matches.
//
// A new match is found from its inserted edge that arrived last. A vanished match is found from its removed edge that arrived
// first. So a new edge meets edges that arrived before it, and most bounds that want newer ones fail at once.
//
// Choosing edges in order of time follows P. Mackey et al., "A Chronological Edge-Driven Approach to Temporal Subgraph
// Isomorphism", 2018. There a search begins at the oldest edge; here it begins at the newest, as a stream brings it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/time_lists.hpp"
#include "match/arrival_rule.hpp"
#include "match/enumerator.hpp"
#include "match/list_view.hpp"
#include "match/scratch.hpp"
#include "match/step_budget.hpp"
#include "match/thread_progress.hpp"
#include "match/time_interval.hpp"
#include "match/transient_rule.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// Whether a query is matched in lists in order of time.
[[nodiscard]] inline bool in_time_order(const plan::BoundQuery& query) noexcept {
  return query.conditional() && !query.induced && !query.edges.empty() && query.graph().edge_table != nullptr;
}

/// Which edges of the lists a pass may read.
class TimePass {
 public:
  /// Reads all edges.
  explicit TimePass(const graph::TimeLists& lists) noexcept : lists_(&lists) {}
  /// `lists` must hold the inserted edges as well as the stable ones, or the removed ones. `changed`: a bit for each slot, set
  /// for all edges that the batch inserts or removes; it may end early. It must stay valid.
  TimePass(const graph::TimeLists& lists, const graph::EdgeTable& table, Pass pass,
           std::span<const std::uint64_t> changed) noexcept
      : lists_(&lists), table_(&table), pass_(pass), changed_(changed) {}
  /// Says that each inserted edge is the newest of those that have arrived. `newest`: the largest time before the batch.
  void is_in_order(Timestamp newest) noexcept {
    in_order_ = true;
    newest_ = newest;
  }

  [[nodiscard]] const graph::TimeLists& lists() const noexcept { return *lists_; }
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }
  [[nodiscard]] bool whole() const noexcept { return pass_ == Pass::whole; }
  /// No edge that an anchor of this time may meet is newer.
  [[nodiscard]] Timestamp latest(Timestamp anchor) const noexcept { return in_order_ ? std::max(anchor, newest_) : INT64_MAX; }
  /// Whether an edge may be read from an anchor with another slot.
  [[nodiscard]] bool shows(graph::Slot slot, std::uint64_t anchor_ordinal) const noexcept {
    const std::size_t word = slot / 64;
    if (word >= changed_.size() || (changed_[word] >> slot % 64 & 1) == 0) return true;
    const std::uint64_t ordinal = table_->ordinal(slot);
    return pass_ != Pass::removed ? ordinal < anchor_ordinal : ordinal > anchor_ordinal;
  }

 private:
  const graph::TimeLists* lists_;
  const graph::EdgeTable* table_ = nullptr;
  Pass pass_ = Pass::whole;
  bool in_order_ = false;
  Timestamp newest_ = 0;
  std::span<const std::uint64_t> changed_;  // a bit per slot
};

class TimeSearch {
  friend class LaneSearch;  // runs several at once

  /// A part of a list that is in order of time.
  struct Part {
    const graph::TimeLists::Entry* first;
    const graph::TimeLists::Entry* last;
    bool leaving;  ///< the edges leave the vertex; in undirected data they all do
  };
  /// The entries of a query edge at a matched vertex, in scratch memory.
  struct Run {
    std::span<const Part> parts;
    std::size_t size = 0;
  };

 public:
  /// What a search needs. One is used for any number of searches, one after the other.
  struct Memory {
    std::vector<VertexId> vertices;     // by query vertex
    std::vector<std::uint32_t> tags;    // by query edge
    std::vector<graph::Edge> edges;     // by query edge
    std::vector<Timestamp> times;       // by query edge
    std::vector<std::uint32_t> chosen;  // query edges that have an image, in the order in which they got it
    std::vector<Run> runs;              // by query edge and end (source, target), at the anchor's ends
    std::vector<Interval> wanted;       // by query edge, of these runs
  };
  /// Which relations hold the images of each query edge, at each of its ends. Of one pass over one graph.
  class Relations {
   public:
    explicit Relations(const plan::BoundQuery& query);
    /// Adds to `wanted`, which is by relation, those that hold an image of any query edge.
    void add_to(std::vector<bool>& wanted) const;

    /// By relation, whether it holds an image of the query edge of a run.
    [[nodiscard]] const std::vector<std::uint8_t>& admitted(std::size_t run) const noexcept { return admitted_[run]; }

   private:
    friend class TimeSearch;
    std::vector<std::vector<std::uint8_t>> admitted_;  // by query edge and end (source, target), then by relation
    std::vector<std::uint8_t> leaving_;                // by relation
  };

  /// `query` must be conditional, not induced, and bound to a graph whose edges have slots. `ordered`: keep order constraints,
  /// so that one match of each class is found. `step_budget` bounds the search until a match is found; then it is lifted. It
  /// may be null.
  TimeSearch(const TimePass& pass, const plan::BoundQuery& query, const Relations& relations, bool ordered,
             StepBudget* step_budget, Memory& memory, Scratch& scratch) noexcept
      : pass_(&pass),
        relations_(&relations),
        scratch_(&scratch),
        query_(&query),
        graph_(&query.graph()),
        table_(query.graph().edge_table.get()),
        ordered_(ordered),
        distinct_(query.mode != MatchMode::homomorphism),
        step_budget_(step_budget),
        memory_(&memory) {}

  /// Whether it can follow a plan. It cannot if very many query edges join one vertex to those before it.
  [[nodiscard]] static bool takes(const plan::Plan& plan) noexcept {
    return std::ranges::all_of(plan.steps, [](const auto& steps) { return steps.size() <= 64; });
  }

  /// Whether a plan can have matches in a pass whose inserted edges are in order. It has none if bounds want an edge that is
  /// newer than the anchor.
  [[nodiscard]] static bool may_match_in_order(const plan::BoundQuery& query, const plan::Plan& plan) noexcept {
    const condition::TimeBounds& bounds = query.time_bounds;
    for (std::uint32_t e = 0; bounds.any() && e < query.edges.size(); ++e) {
      if (e != plan.anchor.edge && bounds.difference(plan.anchor.edge, e) < 0) return false;
    }
    return true;
  }

  /// Finds the matches of an anchor on a plan. Passes them to `sink` if it is not null. Returns their number.
  std::uint64_t run(const plan::Plan& plan, const graph::Edge& anchor, FoundSink* sink);

  /// What the last run has found.
  [[nodiscard]] std::uint64_t found() const noexcept { return count_; }

  /// From now on, matches are also counted in `tally`, as they are found.
  void count_in(const FoundCounter& tally) noexcept { tally_ = tally; }
  /// From now on, only matches that the rule admits are found.
  void report_by(const ArrivalRule& rule) noexcept { rule_ = rule; }
  /// The same. It must outlive the runs.
  void report_by(const TransientRule& rule) noexcept { transient_ = &rule; }

 private:
  [[nodiscard]] bool place(const plan::Plan& plan, const graph::Edge& anchor);
  [[nodiscard]] bool find_ends();
  /// Whether the runs at a query vertex have been found when the search began.
  [[nodiscard]] bool is_end_of_anchor(std::uint32_t query_vertex) const noexcept {
    return query_vertex == plan_->tail || query_vertex == plan_->head;
  }
  [[nodiscard]] Interval interval(std::uint32_t edge) const noexcept;
  [[nodiscard]] Run run_at(std::uint32_t edge, bool at_source, VertexId vertex, const Interval& wanted) const;
  [[nodiscard]] Run find_run(std::uint32_t edge, bool at_source, const Interval& wanted) const;
  [[nodiscard]] Run cut(const Run& run, const Interval& wanted) const;
  void descend(std::size_t level, std::size_t known = 0, const Run* known_run = nullptr);
  template <class Try>
  void for_each_entry(const Run& run, bool at_source, std::uint32_t edge, Try&& attempt);
  [[nodiscard]] std::optional<std::uint64_t> count_run(std::size_t level, std::uint32_t edge, bool at_source,
                                                       const Run& run) const;
  void close(plan::Position position, std::uint64_t bound);
  [[nodiscard]] bool admits_vertex(const plan::Level& level, VertexId vertex) const noexcept;
  [[nodiscard]] bool has_chosen(graph::Slot slot) const noexcept;
  void choose(std::uint32_t edge, const graph::TimeLists::Entry& entry, bool forward) noexcept;
  [[nodiscard]] bool bind(std::uint32_t edge, const graph::TimeLists::Entry& entry, bool forward) noexcept {
    if (distinct_ && has_chosen(entry.slot)) return false;
    choose(edge, entry, forward);
    return true;
  }
  void unbind() noexcept { memory_->chosen.pop_back(); }
  [[nodiscard]] bool conditions_hold(plan::Position position, std::uint64_t bound, std::uint64_t with) const;
  [[nodiscard]] bool admits_edge(std::uint32_t edge, graph::Slot slot) const noexcept;
  void count_match();
  [[nodiscard]] bool over() const noexcept { return step_budget_ != nullptr && step_budget_->over(); }

  const TimePass* pass_;
  const Relations* relations_;
  Scratch* scratch_;
  const plan::BoundQuery* query_;
  const graph::DataGraph* graph_;
  const graph::EdgeTable* table_;
  bool ordered_;
  bool distinct_;  // query edges map to distinct data edges
  StepBudget* step_budget_;
  Memory* memory_;
  FoundCounter tally_;
  std::optional<ArrivalRule> rule_;
  const TransientRule* transient_ = nullptr;
  FoundSink* sink_ = nullptr;
  const plan::Plan* plan_ = nullptr;
  graph::Slot anchor_ = 0;
  std::uint64_t anchor_ordinal_ = 0;
  Timestamp latest_ = INT64_MAX;  // of edges that the anchor may meet
  std::uint64_t count_ = 0;
};

}  // namespace deltamatch::match
