// A partial match that is extended level by level. Enumeration and summation share it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "match/kept_sets.hpp"
#include "match/list_view.hpp"
#include "match/step_budget.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// The most positions of a plan: one per query vertex, or fewer if a term merges some.
inline constexpr std::size_t max_positions = max_query_vertices;

/// One share of the work on an anchor or partial match: every `of`-th candidate from `index` on, at the first vertex that is
/// iterated.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t of = 1;
};

/// What one worker needs to match: lists for the current anchor, the vertices matched so far, and scratch memory.
class Partial {
 public:
  /// `kept`: for what loops would find again. Null keeps nothing.
  Partial(const Lists& lists, Scratch& scratch, KeptSets* kept = nullptr) noexcept
      : lists_(lists), scratch_(&scratch), kept_(kept) {}

  [[nodiscard]] Lists& lists() noexcept { return lists_; }
  [[nodiscard]] Scratch& scratch() noexcept { return *scratch_; }

  void begin(const plan::Plan& plan, const graph::Edge& anchor) noexcept {
    plan_ = &plan;
    lists_.anchor(anchor);
    if (kept_ != nullptr) kept_->begin();
    put(0, anchor.tail);
    put(1, anchor.head);
    loops_ = false;
  }
  /// Begins a rooted plan: only position 0 is matched.
  void begin(VertexId root) noexcept {
    plan_ = nullptr;
    if (kept_ != nullptr) kept_->begin();
    put(0, root);
    loops_ = false;
  }
  /// Reads the lists of the anchor as another pass does, and forgets what was read before.
  void read_as(Pass pass) noexcept {
    lists_.begin(pass);
    if (kept_ == nullptr) return;
    kept_->begin();
    put(0, at(0));
    put(1, at(1));
    loops_ = false;
  }
  /// How soon loops keep what stays the same. Null if they keep nothing.
  [[nodiscard]] const KeepRule* keep_rule() const noexcept { return kept_ == nullptr ? nullptr : &kept_->rule(); }
  /// Changes whenever a vertex is put at the position, if loops keep anything. Versions only grow.
  [[nodiscard]] KeptSets::Version version(plan::Position position) const noexcept { return versions_[position]; }
  [[nodiscard]] const plan::Plan& plan() const noexcept { return *plan_; }
  [[nodiscard]] VertexId at(plan::Position position) const noexcept { return vertices_[position]; }
  void put(plan::Position position, VertexId vertex) noexcept {
    vertices_[position] = vertex;
    if (kept_ == nullptr) return;
    versions_[position] = kept_->next_version();
    loops_ = true;
  }

  [[nodiscard]] ListView view(const plan::Probe& probe) {
    return lists_.view(probe.query_relation, vertices_[probe.position], probe.inclusive, *scratch_);
  }

  /// The vertices that satisfy the probes of a level, ascending. Kept for deeper levels until the caller's scratch scope ends.
  /// `ordered`: they also satisfy the level's order constraints.
  std::span<const std::uint32_t> extend(std::size_t level, bool ordered);
  /// How many vertices `extend` would return. Deeper levels cannot reuse them. No value if the caller must use `extend`.
  std::optional<std::size_t> count_extensions(std::size_t level, bool ordered);
  /// The vertices that satisfy all probes, ascending, in scratch or in the graph's own memory. If `order` is given, its
  /// constraints first cut the lists that have no changes.
  std::span<const std::uint32_t> intersect_probes(std::span<const plan::Probe> probes, const plan::Candidates* order = nullptr);
  /// The part of an ascending set that satisfies the order constraints.
  [[nodiscard]] std::span<const std::uint32_t> between(std::span<const std::uint32_t> set,
                                                       const plan::Candidates& candidates) const noexcept;
  /// The same for a list of the settled graph. A list with changes is not cut.
  void cut(ListView& view, const plan::Candidates& candidates) const noexcept;
  /// Keeps the members of an ascending set that are joined to earlier vertices by as many data edges as an induced match has.
  [[nodiscard]] std::span<const std::uint32_t> keep_joined(std::span<const std::uint32_t> set,
                                                           std::span<const plan::Joined> joined);
  /// A share of a set: the set itself, or its entries in scratch.
  [[nodiscard]] std::span<const std::uint32_t> part(std::span<const std::uint32_t> set, Share share);
  [[nodiscard]] bool differs(VertexId vertex, const std::vector<plan::Position>& positions) const noexcept {
    for (const plan::Position position : positions) {
      if (vertices_[position] == vertex) return false;
    }
    return true;
  }

 private:
  /// What is kept of the candidates that some probes give.
  struct Known {
    enum class What : std::uint8_t { nothing, fixed, whole };
    What what = What::nothing;
    KeptSets::Kept* kept = nullptr;
    const plan::Probe* last = nullptr;  // fixed: the probe whose list changes
  };
  [[nodiscard]] Known known_of(std::span<const plan::Probe> probes);
  void keep_fixed(KeptSets::Kept& kept, std::span<const plan::Probe> probes, const plan::Probe& last);
  std::span<const std::uint32_t> intersect_views(std::span<const plan::Probe> probes, const plan::Candidates* order);
  std::span<const std::uint32_t> extend_by_probes(const plan::Level& next, const plan::Candidates* order);
  [[nodiscard]] std::span<const std::uint32_t> without(std::span<const std::uint32_t> set, const ListView& view);

  Lists lists_;
  Scratch* scratch_;
  KeptSets* kept_;      // may be null
  bool loops_ = false;  // a vertex was put since the anchor; before, nothing can be asked for again
  const plan::Plan* plan_ = nullptr;
  std::array<VertexId, max_positions> vertices_{};
  std::array<KeptSets::Version, max_positions> versions_{};         // by position
  std::array<std::span<const std::uint32_t>, max_positions> sets_;  // by level, before injectivity and order are checked
};

}  // namespace deltamatch::match
