#include "match/partial.hpp"

#include <algorithm>

namespace deltamatch::match {

std::span<const std::uint32_t> Partial::intersect_probes(std::span<const plan::Probe> probes, const plan::Candidates* order) {
  auto* views = scratch_->array<ListView>(probes.size());
  std::size_t count = 0;
  for (const plan::Probe& probe : probes) {
    ListView next = view(probe);
    if (order != nullptr) cut(next, *order);
    if (next.size() == 0) return {};
    // Sorted by size: the shortest list decides what is read.
    std::size_t at = count++;
    for (; at > 0 && views[at - 1].size() > next.size(); --at) views[at] = views[at - 1];
    views[at] = next;
  }
  const ListView& first = views[0];
  if (count == 1 && first.clean() && !first.parallel) return {first.ids, first.count};
  const ListView& second = views[count > 1 ? 1 : 0];
  std::size_t done = 1;
  std::uint32_t* set = nullptr;
  std::size_t size = 0;
  if (count > 1 && first.clean() && !first.parallel && second.clean() && !second.parallel) {
    set = scratch_->words(first.count);
    size = intersect(first.ids, first.count, second.ids, second.count, set);
    done = 2;
  } else {
    const auto all = materialise(first, *scratch_);
    set = all.data();
    size = all.size();
  }
  for (; done < count && size > 0; ++done) size = keep_members(set, size, views[done], *scratch_);
  return {set, size};
}

std::span<const std::uint32_t> Partial::extend(std::size_t level, bool ordered) {
  const plan::Level& next = plan_->levels[level];
  sets_[level] = extend_by_probes(next, ordered && next.early_cut ? &next.candidates : nullptr);
  return ordered ? between(sets_[level], next.candidates) : sets_[level];
}

std::optional<std::size_t> Partial::count_extensions(std::size_t level, bool ordered) {
  const plan::Level& next = plan_->levels[level];
  if (next.reuse < 0 || next.rest.size() != 1 || !next.candidates.distinct.empty()) return std::nullopt;
  // Parallel edges count separately, also in lists that an earlier level has read.
  const auto parallel = [&](const plan::Probe& probe) { return lists_.parallel(probe.query_relation); };
  if (std::ranges::any_of(next.candidates.probes, parallel)) return std::nullopt;
  const ListView list = view(next.rest[0]);
  auto base = sets_[static_cast<std::size_t>(next.reuse)];
  if (ordered) base = between(base, next.candidates);
  return base.empty() ? 0 : count_members(base, list);
}

std::span<const std::uint32_t> Partial::extend_by_probes(const plan::Level& next, const plan::Candidates* order) {
  if (next.reuse < 0) return intersect_probes(next.candidates.probes, order);
  auto base = sets_[static_cast<std::size_t>(next.reuse)];
  if (order != nullptr) base = between(base, *order);
  if (next.rest.empty() || base.empty()) return base;
  const ListView first = view(next.rest[0]);
  std::uint32_t* set = scratch_->words(base.size());
  std::size_t size = 0;
  if (first.clean() && !first.parallel) {
    size = intersect(base.data(), base.size(), first.ids, first.count, set);
  } else {
    std::copy(base.begin(), base.end(), set);
    size = keep_members(set, base.size(), first, *scratch_);
  }
  for (std::size_t i = 1; i < next.rest.size() && size > 0; ++i) size = keep_members(set, size, view(next.rest[i]), *scratch_);
  return {set, size};
}

std::span<const std::uint32_t> Partial::between(std::span<const std::uint32_t> set,
                                                const plan::Candidates& candidates) const noexcept {
  for (const plan::Position position : candidates.above) {
    set = set.subspan(lower_bound(set.data(), set.size(), vertices_[position] + 1));
  }
  for (const plan::Position position : candidates.below) {
    set = set.first(lower_bound(set.data(), set.size(), vertices_[position]));
  }
  return set;
}

void Partial::cut(ListView& view, const plan::Candidates& candidates) const noexcept {
  if (!view.clean() || view.count == 0) return;
  const auto left = between({view.ids, view.count}, candidates);
  view.tags = view.tagged ? view.tags + (left.data() - view.ids) : nullptr;
  view.ids = left.data();
  view.count = static_cast<std::uint32_t>(left.size());
}

std::span<const std::uint32_t> Partial::keep_joined(std::span<const std::uint32_t> set, std::span<const plan::Joined> joined) {
  for (const plan::Joined& pair : joined) {
    if (set.empty()) return set;
    // If no two vertices are joined twice, the query's one edge is the only one.
    if (pair.edges == 1 && !lists_.parallel(pair.query_relation)) continue;
    const ListView view = lists_.view(pair.query_relation, vertices_[pair.position], false, *scratch_);
    if (pair.edges == 0) {
      set = without(set, view);
      continue;
    }
    std::uint32_t* kept = scratch_->words(set.size());
    const auto end =
        std::copy_if(set.begin(), set.end(), kept, [&](std::uint32_t id) { return multiplicity(view, id) == pair.edges; });
    set = {kept, static_cast<std::size_t>(end - kept)};
  }
  return set;
}

std::span<const std::uint32_t> Partial::without(std::span<const std::uint32_t> set, const ListView& view) {
  if (view.size() == 0) return set;
  std::uint32_t* kept = scratch_->words(set.size());
  if (!view.clean() || view.parallel) {
    const auto end = std::copy_if(set.begin(), set.end(), kept, [&](std::uint32_t id) { return multiplicity(view, id) == 0; });
    return {kept, static_cast<std::size_t>(end - kept)};
  }
  const ScratchScope scope(*scratch_);
  std::uint32_t* common = scratch_->words(std::min<std::size_t>(set.size(), view.count));
  const std::size_t size = intersect(set.data(), set.size(), view.ids, view.count, common);
  if (size == 0) return set;
  const auto end = std::set_difference(set.begin(), set.end(), common, common + size, kept);
  return {kept, static_cast<std::size_t>(end - kept)};
}

std::span<const std::uint32_t> Partial::part(std::span<const std::uint32_t> set, Share share) {
  if (share.of == 1) return set.subspan(std::min<std::size_t>(share.index, set.size()));
  std::uint32_t* out = scratch_->words(set.size());
  std::size_t size = 0;
  for (std::size_t i = share.index; i < set.size(); i += share.of) out[size++] = set[i];
  return {out, size};
}

}  // namespace deltamatch::match
