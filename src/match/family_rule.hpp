// Variants of one query need much the same around an anchor. If one of them has no edges to go on with, others may be known to
// have none either. They are tried together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "match/matcher.hpp"

namespace deltamatch::match {

/// Whether an edge's times, once the anchor's is known, are among those that another edge may have.
[[nodiscard]] bool times_within(const condition::TimeBounds& bounds, std::uint32_t edge, std::uint32_t anchor,
                                const condition::TimeBounds& other, std::uint32_t other_edge,
                                std::uint32_t other_anchor) noexcept;

/// Whether a plan needs at the ends of an anchor all that another one needs there. For each query edge that the other looks
/// for, it looks for one at the same end. Its labels and times are among those that the other admits. So if the other one finds
/// no such edge, this plan has no match at the anchor. `query` and `other` must be bound to one graph, whose edges have slots.
[[nodiscard]] bool needs_no_less(const plan::BoundQuery& query, const plan::Plan& plan, const plan::BoundQuery& other,
                                 const plan::Plan& other_plan);

/// Groups the plans of a family. A group is tried at once: a leader, and plans that have no match where the leader lacks edges.
class FamilyRule {
 public:
  /// The most plans that one leads.
  static constexpr std::size_t most_followers = 63;
  struct Place {
    std::uint32_t group = none;
    std::uint32_t number = 0;  ///< 0: the leader
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  /// `kind`: plans of one kind may stand in a group; those of kind 0 do not. O(plans * leaders), of which each family has few.
  FamilyRule(std::span<const QueryTask> tasks, const std::function<int(std::size_t task, std::size_t plan)>& kind);

  /// Where a plan stands. Its leader belongs to an earlier task.
  [[nodiscard]] Place place(std::size_t task, std::size_t plan) const noexcept {
    if (task >= places_.size() || plan >= places_[task].size()) return {};
    return places_[task][plan];
  }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }
  /// The plans of a group: the leader, then its followers.
  struct Member {
    std::uint32_t task;
    std::uint32_t plan;
  };
  [[nodiscard]] std::span<const Member> members(std::size_t group) const noexcept { return groups_[group]; }

 private:
  using Kind = std::function<int(std::size_t, std::size_t)>;
  void add(std::span<const QueryTask> tasks, std::size_t first, std::size_t end, const Kind& kind);

  std::vector<std::vector<Place>> places_;  // by task and plan; may end early
  std::vector<std::vector<Member>> groups_;
};

}  // namespace deltamatch::match
