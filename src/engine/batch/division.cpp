#include "engine/batch/division.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deltamatch::engine {

static_assert(std::endian::native == std::endian::little, "slots are those of little-endian integers");
static_assert(sizeof(graph::Edge) == 3 * sizeof(std::uint32_t) && std::is_trivially_copyable_v<graph::Edge>);

std::uint64_t slot_hash(const graph::Edge& anchor) noexcept { return XXH3_64bits(&anchor, sizeof anchor); }

DividedBy divided_by(const QueryFamily& query, bool renumbered) noexcept {
  if (query.once) return DividedBy::binding;
  return renumbered ? DividedBy::id : DividedBy::anchor;
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
