#include "engine/batch/division.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "match/time_search.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deltamatch::engine {

static_assert(std::endian::native == std::endian::little, "slots are those of little-endian integers");
static_assert(sizeof(graph::Edge) == 3 * sizeof(std::uint32_t) && std::is_trivially_copyable_v<graph::Edge>);

std::uint64_t slot_hash(const graph::Edge& anchor) noexcept { return XXH3_64bits(&anchor, sizeof anchor); }

AnchorIs anchor_of(const plan::BoundQuery& query, match::Pass pass) noexcept {
  if (!match::in_time_order(query)) return AnchorIs::least;
  return pass == match::Pass::removed ? AnchorIs::first : AnchorIs::last;
}

DividedBy divided_by(const QueryFamily& query, bool renumbered) noexcept {
  if (query.once) return DividedBy::binding;
  return renumbered ? DividedBy::id : DividedBy::anchor;
}

std::uint32_t MatchSlots::slot_of(const ListedMatch& match) const {
  return static_cast<std::uint32_t>(hash_of(match) % slots_);
}

bool MatchSlots::comes_before(const graph::Edge& edge, const graph::Edge& other) const {
  if (anchor_ == AnchorIs::least) return edge < other;
  const std::uint64_t here = graph_->edge_table->ordinal(edge.which);
  const std::uint64_t there = graph_->edge_table->ordinal(other.which);
  return anchor_ == AnchorIs::last ? here > there : here < there;
}

std::uint64_t MatchSlots::hash_of(const ListedMatch& match) const {
  if (by_ == DividedBy::binding) return binding_->of(*graph_, match.vertices).low;
  const graph::Edge* anchor = nullptr;
  for (const graph::Edge& edge : match.edges) {
    if (by_ != DividedBy::anchor || (anchor != nullptr && !comes_before(edge, *anchor))) continue;
    if (std::ranges::binary_search(anchors_, edge)) anchor = &edge;
  }
  return anchor != nullptr ? slot_hash(*anchor) : match.id.low;
}

BatchDivision::BatchDivision(const Share& share, const graph::DataGraph& graph, std::span<const match::PassWork> passes)
    : share_(&share), graph_(&graph), own_passes_(passes.begin(), passes.end()) {
  for (std::size_t p = 0; p < own_passes_.size(); ++p) {
    std::vector<graph::Edge>& own = anchors_[std::min(p, anchors_.size() - 1)];
    if (p < anchors_.size()) {
      for (const graph::Edge& anchor : passes[p].anchors) {
        if (share.owns_hash(slot_hash(anchor))) own.push_back(anchor);
      }
    }
    own_passes_[p].anchors = own;
  }
}

void BatchDivision::add(const QueryFamily& query, bool renumbered) {
  const DividedBy by = divided_by(query, renumbered);
  by_anchor_.push_back(by == DividedBy::anchor);
  for (std::size_t v = 0; v < query.variants.size(); ++v) {
    const OnceBinding* const binding = by == DividedBy::binding ? &query.once->binding(v) : nullptr;
    tasks_.push_back({OwnMatches(*share_, *graph_, binding), by == DividedBy::anchor});
  }
}

void BatchDivision::keep_own(BatchListing& listing) const {
  for (std::size_t t = 0; t < tasks_.size(); ++t) listing.keep_own(t, tasks_[t].own, tasks_[t].by_anchor);
}

}  // namespace deltamatch::engine
