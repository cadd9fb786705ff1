// Finds every match of an anchor, one by one. It backtracks over the levels of a plan, then over the data edges that each query
// edge can be mapped to. Listing always goes this way. Counting does so if it matters which parallel edges are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/busy_threads.hpp"
#include "match/candidate_space.hpp"
#include "match/partial.hpp"
#include "match/thread_progress.hpp"
#include "match/transient_rule.hpp"

namespace deltamatch::match {

/// A found match: `vertices` by query vertex, `tags` by query edge. A tag is label << 1. It has 1 added if the data edge leads
/// from the image of the query edge's target to that of its source.
struct Found {
  std::span<const VertexId> vertices;
  std::span<const std::uint32_t> tags;
};

class FoundSink {
 public:
  virtual ~FoundSink() = default;
  virtual void found(const Found& match) = 0;
};

/// Makes the random choices of walks.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// A number from 0 to n - 1, all equally likely.
  virtual std::size_t below(std::size_t n) = 0;
  /// Called if a walk has come to this level of the plan, with the number of candidates there, perhaps none.
  virtual void arrived(std::size_t /*level*/, std::size_t /*candidates*/) {}
};

/// Finds the matches of queries without conditions. Its walks sample those of all queries.
class Enumerator {
 public:
  /// `ordered`: keep order constraints, so that one match of each class is found. `step_budget` bounds walks until a match is
  /// found; then it is lifted. It may be null.
  Enumerator(Partial& partial, const plan::BoundQuery& query, bool ordered, StepBudget* step_budget) noexcept
      : partial_(&partial), query_(&query), ordered_(ordered), step_budget_(step_budget) {}

  /// Finds the matches of the anchor with which the partial match was begun. Passes them to `sink` if it is not null. Returns
  /// their number. `first`: if given, the only vertices wanted at the first levels; the share then applies to the next level.
  std::uint64_t run(Share share, FoundSink* sink, std::span<const VertexId> first = {});

  /// A part that a run did not get to.
  struct Rest {
    std::vector<VertexId> first;
    Share share;
    std::size_t candidates;  ///< in that share
  };
  /// From now on, a run without bounds ends after some time if other threads are idle. `busy_threads` must outlive it.
  void share_with(const BusyThreads& busy_threads) noexcept { busy_threads_ = &busy_threads; }
  /// From now on, matches are also counted in `tally`, as they are found.
  void count_in(const FoundCounter& tally) noexcept { tally_ = tally; }
  /// From now on, only matches that the rule admits are found. It must outlive the runs.
  void report_by(const TransientRule& rule) noexcept { transient_ = &rule; }
  /// From now on, a run that takes long builds this space, which must be open for the anchor, and stays within it. Such runs
  /// need an allowance.
  void keep_to(CandidateSpace& space) noexcept { space_ = &space; }
  /// The parts that the last run did not get to. They are disjoint; together with what was found they are complete.
  [[nodiscard]] std::vector<Rest>& rests() noexcept { return rests_; }

  /// Makes one random walk from the anchor. At every level it takes one of the candidates, all equally likely. Returns how many
  /// ways the walk stands for: the mean over all walks is the number of ways from the anchor. The plan may end before all query
  /// vertices are matched.
  double walk_vertices(Chooser& chooser);
  /// The same for a plan that matches all query vertices. The walk then also takes one of the data edges that each query edge
  /// can be mapped to. Returns how many matches the walk stands for. The time does not grow with the ways to combine parallel
  /// edges.
  double walk(Chooser& chooser);

 private:
  [[nodiscard]] bool begin();
  [[nodiscard]] std::span<const std::uint32_t> candidates(std::size_t level, Share share);
  [[nodiscard]] bool over() const noexcept { return step_budget_ != nullptr && step_budget_->over(); }
  void count_match();
  [[nodiscard]] bool parts() const noexcept;
  void leave(std::size_t level, Share share, std::size_t candidates, std::size_t done);
  [[nodiscard]] bool joined_as_induced();
  [[nodiscard]] bool spans_no_other_edge();
  void descend(std::size_t level);
  [[nodiscard]] Share share_at(std::size_t level) const noexcept { return level == first_.size() ? share_ : Share{}; }
  void leaf();
  void choose_edge(std::uint32_t edge);
  void collect_options(std::uint32_t edge);
  [[nodiscard]] graph::Edge image_of(std::uint32_t edge, std::uint32_t tag) const;
  [[nodiscard]] bool edges_fit(plan::Position position);
  [[nodiscard]] bool can_differ();
  [[nodiscard]] bool take_image(std::size_t member);
  [[nodiscard]] bool taken(const graph::Edge& edge, std::uint32_t before) const noexcept;

  Partial* partial_;
  const plan::BoundQuery* query_;
  bool ordered_;
  StepBudget* step_budget_;
  const BusyThreads* busy_threads_ = nullptr;
  FoundCounter tally_;
  const TransientRule* transient_ = nullptr;
  CandidateSpace* space_ = nullptr;
  std::size_t back_to_ = CandidateSpace::none;  // the first level whose vertex is known to be in no match
  FoundSink* sink_ = nullptr;
  std::span<const VertexId> first_;
  Share share_;
  std::uint64_t done_ = 0;
  bool parting_ = false;
  std::vector<Rest> rests_;
  std::uint64_t count_ = 0;
  bool plain_ = false;                               // vertices alone determine the data edge of every query edge
  bool spanning_ = false;                            // induced, and vertices may coincide: decided once edges are chosen
  std::uint64_t spanned_ = 0;                        // number of data edges between the matched vertices
  std::vector<std::uint32_t> tags_;                  // by query edge
  std::vector<graph::Edge> edges_;                   // by query edge
  std::vector<VertexId> vertices_;                   // by query vertex
  std::vector<std::vector<std::uint32_t>> options_;  // by query edge

  // The crowd: query edges between the same two data vertices that must be mapped to distinct data edges.
  struct Image {
    graph::Edge edge;
    std::size_t owner;  // index of the crowd's member that has it, or none
    bool tried;
  };
  static constexpr std::size_t none = SIZE_MAX;
  bool crowds_ = false;                    // there may be a crowd
  bool parallel_ = false;                  // and there may be several data edges for it
  std::vector<plan::Position> positions_;  // by query vertex; only if there may be a crowd
  std::vector<std::uint32_t> crowd_;       // query edges
  std::vector<Image> images_;
};

}  // namespace deltamatch::match
