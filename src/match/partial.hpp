// A partial match that is extended level by level: what enumeration and summation share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "match/allowance.hpp"
#include "match/list_view.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// Positions of a plan: the query's vertices, or fewer where a term merges some.
inline constexpr std::size_t max_positions = max_query_vertices;

/// One share of the work on an anchor or partial match: of the candidates of the first vertex that is iterated, every `of`-th
/// from `index` on.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t of = 1;
};

/// What one worker needs to match: lists for the present anchor, what is matched so far, scratch memory.
class Partial {
 public:
  Partial(const Lists& lists, Scratch& scratch) noexcept : lists_(lists), scratch_(&scratch) {}

  [[nodiscard]] Lists& lists() noexcept { return lists_; }
  [[nodiscard]] Scratch& scratch() noexcept { return *scratch_; }

  void begin(const plan::Plan& plan, const graph::Edge& anchor) noexcept {
    plan_ = &plan;
    lists_.anchor(anchor);
    vertices_[0] = anchor.tail;
    vertices_[1] = anchor.head;
  }
  /// Of a rooted plan: position 0 alone.
  void begin(VertexId root) noexcept {
    plan_ = nullptr;
    vertices_[0] = root;
  }
  [[nodiscard]] const plan::Plan& plan() const noexcept { return *plan_; }
  [[nodiscard]] VertexId at(plan::Position position) const noexcept { return vertices_[position]; }
  void put(plan::Position position, VertexId vertex) noexcept { vertices_[position] = vertex; }

  [[nodiscard]] ListView view(const plan::Probe& probe) {
    return lists_.view(probe.reading, vertices_[probe.position], probe.inclusive, *scratch_);
  }

  /// The vertices that satisfy the probes of a level, ascending; kept for deeper levels until the caller's scratch scope ends.
  /// `ordered`: its order constraints as well.
  std::span<const std::uint32_t> extend(std::size_t level, bool ordered);
  /// How many these are, which none deeper can ask for; nullopt where extend is to tell.
  std::optional<std::size_t> count_extensions(std::size_t level, bool ordered);
  /// The vertices that satisfy all probes, ascending; in scratch, or in the graph's own memory. Where `order` is given, lists
  /// without changes are cut by its constraints first.
  std::span<const std::uint32_t> intersect_probes(std::span<const plan::Probe> probes, const plan::Candidates* order = nullptr);
  /// The part of an ascending set that order constraints leave.
  [[nodiscard]] std::span<const std::uint32_t> between(std::span<const std::uint32_t> set,
                                                       const plan::Candidates& candidates) const noexcept;
  /// The same of a list as the settled graph has it; of one with changes nothing is cut off.
  void cut(ListView& view, const plan::Candidates& candidates) const noexcept;
  /// The members of an ascending set that are joined to earlier vertices by as many data edges as an induced match has.
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
  std::span<const std::uint32_t> extend_by_probes(const plan::Level& next, const plan::Candidates* order);
  [[nodiscard]] std::span<const std::uint32_t> without(std::span<const std::uint32_t> set, const ListView& view);

  Lists lists_;
  Scratch* scratch_;
  const plan::Plan* plan_ = nullptr;
  std::array<VertexId, max_positions> vertices_{};
  std::array<std::span<const std::uint32_t>, max_positions> sets_;  // by level, before injectivity and order
};

}  // namespace deltamatch::match
