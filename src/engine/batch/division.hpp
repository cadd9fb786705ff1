// What an engine does of a batch if it owns some of the slots (deltamatch/share.hpp).
//
// A match is found from its anchor, so dividing the anchors divides the work. Where anchors cannot decide, all of them are
// matched, and what lies in other slots is dropped as soon as its id is known.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "deltamatch/share.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/standing_query.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// The hash of an anchor that decides about its slot.
[[nodiscard]] std::uint64_t slot_hash(const graph::Edge& anchor) noexcept;

/// How the matches of a query are divided.
enum class DividedBy : std::uint8_t { anchor, id, binding };
/// `renumbered`: a vertex or an edge gets a fresh number in the batch.
[[nodiscard]] DividedBy divided_by(const QueryFamily& query, bool renumbered) noexcept;

/// The matches of one variant of a query that lie in the slots of a share.
class OwnMatches {
 public:
  /// All must outlive it. `binding`: null unless the query says ALERT ONCE.
  OwnMatches(const Share& share, const graph::DataGraph& graph, const OnceBinding* binding) noexcept
      : share_(&share), graph_(&graph), binding_(binding) {}

  [[nodiscard]] bool has(const ListedMatch& match) const {
    return share_->owns_hash(binding_ == nullptr ? match.id.low : binding_->of(*graph_, match.vertices).low);
  }

 private:
  const Share* share_;
  const graph::DataGraph* graph_;
  const OnceBinding* binding_;
};

/// From which of its changed edges a match is found: that of least rank, or the one that arrived last or first. The latter is
/// so for queries that are matched in lists in order of time.
enum class AnchorIs : std::uint8_t { least, last, first };
[[nodiscard]] AnchorIs anchor_of(const plan::BoundQuery& query, match::Pass pass) noexcept;

/// Tells the slots of the matches of one variant of a query that a pass reports.
class MatchSlots final : public SlotRule {
 public:
  /// `anchors`, ascending: the edges that matches of the pass are found from. `binding`: null unless the query says ALERT ONCE.
  /// All must outlive it.
  MatchSlots(std::uint32_t slots, DividedBy by, AnchorIs anchor, std::span<const graph::Edge> anchors,
             const graph::DataGraph& graph, const OnceBinding* binding) noexcept
      : slots_(slots), by_(by), anchor_(anchor), anchors_(anchors), graph_(&graph), binding_(binding) {}
  /// O(edges × log anchors).
  [[nodiscard]] std::uint32_t slot_of(const ListedMatch& match) const override;

 private:
  [[nodiscard]] std::uint64_t hash_of(const ListedMatch& match) const;
  [[nodiscard]] bool comes_before(const graph::Edge& edge, const graph::Edge& other) const;

  std::uint32_t slots_;
  DividedBy by_;
  AnchorIs anchor_;
  std::span<const graph::Edge> anchors_;
  const graph::DataGraph* graph_;
  const OnceBinding* binding_;
};

class BatchDivision {
 public:
  /// Divides the anchors of the passes. Those of the third pass, if there is one, must be those of the second. Share, graph and
  /// what the passes name must outlive it.
  BatchDivision(const Share& share, const graph::DataGraph& graph, std::span<const match::PassWork> passes);
  BatchDivision(const BatchDivision&) = delete;
  BatchDivision& operator=(const BatchDivision&) = delete;

  /// Adds the next query, with a task for each variant.
  void add(const QueryFamily& query, bool renumbered);
  /// Lets the tasks list only matches of their own.
  void keep_own(BatchListing& listing) const;

  /// Whether a query is matched from own anchors only. Otherwise its listed matches are its own, but not what plans have found.
  [[nodiscard]] bool by_anchor(std::size_t query) const noexcept { return by_anchor_[query]; }
  /// The passes for queries that are matched from own anchors.
  [[nodiscard]] std::span<const match::PassWork> own_passes() const noexcept { return own_passes_; }

 private:
  const Share* share_;
  const graph::DataGraph* graph_;
  std::array<std::vector<graph::Edge>, 2> anchors_;  // own, of the first two passes
  std::vector<match::PassWork> own_passes_;
  std::vector<bool> by_anchor_;  // by query
  struct Task {
    OwnMatches own;
    bool by_anchor;
  };
  std::vector<Task> tasks_;
};

}  // namespace deltamatch::engine
