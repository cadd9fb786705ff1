// Finds every match of an anchor, one by one: backtracking over the levels of a plan, then over the data edges that each query
// edge may be mapped to. Listing always goes this way, and so does counting where it matters which parallel edges are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/busy_threads.hpp"
#include "match/candidate_space.hpp"
#include "match/partial.hpp"
#include "match/watch.hpp"

namespace deltamatch::match {

/// A found match: `vertices` by query vertex, `tags` by query edge: label << 1 | 1 where the data edge leads from the image of
/// the query edge's target to that of its source.
struct Found {
  std::span<const VertexId> vertices;
  std::span<const std::uint32_t> tags;
};

class FoundSink {
 public:
  virtual ~FoundSink() = default;
  virtual void found(const Found& match) = 0;
};

/// Draws for random walks.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Uniform in 0 … n - 1.
  virtual std::size_t below(std::size_t n) = 0;
  /// A walk has come to this level of the plan and has so many candidates there, none perhaps.
  virtual void arrived(std::size_t /*level*/, std::size_t /*candidates*/) {}
};

class Enumerator {
 public:
  /// `ordered`: keep order constraints, so that one match of each class is found. `allowance`, where not null, bounds walks
  /// until a match is found; then it is lifted.
  Enumerator(Partial& partial, const plan::BoundQuery& query, bool ordered, Allowance* allowance) noexcept
      : partial_(&partial), query_(&query), ordered_(ordered), allowance_(allowance) {}

  /// Finds the matches of the anchor that the partial match was begun with; gives them to `sink` where it is not null. Returns
  /// how many. `first`: the vertices at the first levels, where others are not wanted; the share is one of the level after.
  std::uint64_t run(Share share, FoundSink* sink, std::span<const VertexId> first = {});

  /// What a run did not get to.
  struct Rest {
    std::vector<VertexId> first;
    Share share;
    std::size_t candidates;  ///< in that share
  };
  /// From now on a run that is without bounds, and has taken some while, ends where threads of the crew, which outlives it, are
  /// idle.
  void share_with(const BusyThreads& busy_threads) noexcept { busy_threads_ = &busy_threads; }
  /// From now on what is found is counted there, too, as it is found.
  void count_in(const Tally& tally) noexcept { tally_ = tally; }
  /// From now on runs build this space, which is open for the anchor, if they take long, and keep to it. They need an
  /// allowance.
  void keep_to(CandidateSpace& space) noexcept { space_ = &space; }
  /// Of the last run; the parts are disjoint, and with what it found are all.
  [[nodiscard]] std::vector<Rest>& rests() noexcept { return rests_; }

  /// One random walk from the anchor, to one of the candidates of every level, each as likely as the others. Returns how many
  /// ways to its end it stands for: in the mean over all walks, as many as there are from the anchor. The plan may end before
  /// all query vertices are matched.
  double walk_vertices(Chooser& chooser);
  /// The same for a plan that matches all query vertices, and on to one of the data edges that each query edge can be mapped
  /// to. Returns how many matches it stands for. In time that does not grow with the ways to combine parallel edges.
  double walk(Chooser& chooser);

 private:
  [[nodiscard]] bool begin();
  [[nodiscard]] std::span<const std::uint32_t> candidates(std::size_t level, Share share);
  [[nodiscard]] bool over() const noexcept { return allowance_ != nullptr && allowance_->over(); }
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
  Allowance* allowance_;
  const BusyThreads* busy_threads_ = nullptr;
  Tally tally_;
  CandidateSpace* space_ = nullptr;
  std::size_t back_to_ = CandidateSpace::none;  // the first level whose vertex is known to be in no match
  FoundSink* sink_ = nullptr;
  std::span<const VertexId> first_;
  Share share_;
  std::uint64_t done_ = 0;
  bool parting_ = false;
  std::vector<Rest> rests_;
  std::uint64_t count_ = 0;
  bool plain_ = false;                               // every query edge has exactly one data edge, known from the vertices
  bool spanning_ = false;                            // induced, where vertices may coincide: decided once edges are chosen
  std::uint64_t spanned_ = 0;                        // data edges between the matched vertices
  std::vector<std::uint32_t> tags_;                  // by query edge
  std::vector<graph::Edge> edges_;                   // by query edge
  std::vector<VertexId> vertices_;                   // by query vertex
  std::vector<std::vector<std::uint32_t>> options_;  // by query edge

  // Query edges that lie between the same two data vertices and must be mapped to data edges that differ.
  struct Image {
    graph::Edge edge;
    std::size_t owner;  // of the crowd's members, or none
    bool tried;
  };
  static constexpr std::size_t none = SIZE_MAX;
  bool crowds_ = false;                    // there may be such
  bool parallel_ = false;                  // and several data edges for them
  std::vector<plan::Position> positions_;  // by query vertex, where there may
  std::vector<std::uint32_t> crowd_;       // query edges
  std::vector<Image> images_;
};

}  // namespace deltamatch::match
