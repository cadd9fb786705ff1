// Finds out which plans are to be tried at which anchors of a pass.
//
// The labels of an anchor tell which plans begin at it (PlanIndex). Most of these lead to no match. One look at both ends of
// the anchor shows it for all of them: by signatures, then by tests (Screen). Threads share the anchors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "match/family_rule.hpp"
#include "match/matcher.hpp"
#include "match/pieces.hpp"
#include "match/plan_index.hpp"
#include "match/screen.hpp"

namespace deltamatch::match {

class PiecePlanner {
 public:
  /// `workers` must outlive it.
  explicit PiecePlanner(Workers& workers) : workers_(&workers), threads_(workers.size()) {}

  struct Wanted {
    const graph::DataGraph& graph;
    Pass pass;
    std::span<const graph::Edge> anchors;
    std::span<const QueryTask> tasks;
    std::span<const graph::Resolved> resolved;
    const FamilyRule* rule;                           ///< may be null
    std::span<const std::vector<std::uint8_t>> dead;  ///< by task and plan, whether it leads nowhere; empty: none does
    bool may_split;                                   ///< heavy anchors may be split into shares
    const StopFlag* stop;                             ///< if it is set, pieces are missing; may be null
  };
  /// Replaces `pieces` by those of all plans that may have matches, in the order of their anchors. Counts the anchors of the
  /// others in `results`, as they have been tried.
  void plan(const Wanted& wanted, std::vector<Piece>& pieces, std::span<QueryResult> results);

 private:
  struct Part {
    std::size_t anchor;  // the first of some
    std::size_t begin;   // of its pieces
    std::size_t end;
  };
  struct Thread {
    std::optional<PlanIndex> index;
    Screen screen;
    std::vector<Piece> pieces;
    std::vector<Part> parts;
    std::vector<std::vector<std::uint64_t>> refused;  // by task and plan: the number of anchors
  };

  [[nodiscard]] std::vector<std::uint64_t> renew(const Wanted& wanted);
  static void screen(const Wanted& wanted, std::size_t begin, std::size_t end, Thread& thread);
  void add(const Wanted& wanted, const Screen::Candidate& candidate, Thread& thread) const;
  void gather(std::vector<Piece>& pieces);
  void share_out(double seconds, std::size_t pieces, std::span<const QueryTask> tasks, std::span<QueryResult> results) const;

  Workers* workers_;
  std::vector<Thread> threads_;
  std::vector<std::uint64_t> basis_;  // of the indices
  bool splits_ = false;               // heavy anchors
};

}  // namespace deltamatch::match
