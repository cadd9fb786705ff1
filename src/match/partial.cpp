#include "match/partial.hpp"

#include <algorithm>

namespace deltamatch::match {

Partial::Known Partial::known_of(std::span<const plan::Probe> probes) {
  if (kept_ == nullptr || !loops_) return {};
  if (probes.size() == 1) {
    const ListView list = view(probes[0]);
    if (list.clean() && !list.parallel) return {};  // it lies in the graph
  }
  KeptSets::Kept* const kept = kept_->find(probes.data());
  if (kept == nullptr) return {};
  const auto last = std::ranges::max_element(probes, {}, &plan::Probe::position);
  if (kept->whole_at == versions_[last->position]) {
    if (!kept->has_whole && !kept->too_long) kept_->keep_whole(*kept, intersect_views(probes, nullptr));
    return kept->has_whole ? Known{Known::What::whole, kept, nullptr} : Known{};
  }
  kept->whole_at = versions_[last->position];
  kept->has_whole = false;
  kept->too_long = false;
  if (probes.size() == 1) return {};
  plan::Position before = 0;
  for (const plan::Probe& probe : probes) {
    if (&probe == &*last) continue;
    if (probe.position == last->position) return {};  // two lists of the last vertex change together
    before = std::max(before, probe.position);
  }
  if (kept->fixed_at != versions_[before]) {
    kept->fixed_at = versions_[before];
    kept->has_fixed = false;
    kept->marked = false;
    kept->spared = 0;
    return {};
  }
  if (!kept->has_fixed) keep_fixed(*kept, probes, *last);
  return kept->has_fixed ? Known{Known::What::fixed, kept, &*last} : Known{};
}

// Keeps the fixed part, which all probes but the last make up, if that pays.
void Partial::keep_fixed(KeptSets::Kept& kept, std::span<const plan::Probe> probes, const plan::Probe& last) {
  auto* others = scratch_->array<plan::Probe>(probes.size());
  std::size_t count = 0;
  std::size_t shortest = SIZE_MAX;
  std::size_t second = 0;
  for (const plan::Probe& probe : probes) {
    if (&probe == &last) continue;
    others[count++] = probe;
    const ListView list = view(probe);
    if (probes.size() == 2 && list.clean() && !list.parallel) {
      kept_->keep_fixed(kept, {list.ids, list.count}, true);
      return;
    }
    const std::size_t size = list.size();
    second = count == 1 ? size : std::min(second, std::max(size, shortest));
    shortest = std::min(shortest, size);
  }
  if (shortest > KeptSets::most_copied) return;
  const std::size_t usual = join_cost(std::min<std::size_t>(shortest, view(last).size()), shortest);
  if (!kept_->pays(kept, usual, count == 1 ? shortest : join_cost(shortest, second))) return;
  kept_->keep_fixed(kept, intersect_views({others, count}, nullptr), false);
}

std::span<const std::uint32_t> Partial::intersect_probes(std::span<const plan::Probe> probes, const plan::Candidates* order) {
  const Known known = known_of(probes);
  if (known.what == Known::What::nothing) return intersect_views(probes, order);
  const auto set = known.what == Known::What::whole ? kept_->whole(*known.kept) : known.kept->fixed;
  const auto members = order == nullptr ? set : between(set, *order);
  if (known.what == Known::What::whole || members.empty()) return members;
  ListView list = view(*known.last);
  if (order != nullptr) cut(list, *order);
  if (const MarkedSet* marks = list.parallel ? nullptr : kept_->marks(*known.kept, list.size())) {
    return members_of(list, list.size(), *scratch_,
                      [&](std::span<const std::uint32_t> ids, std::uint32_t* out) { return marks->filter(ids, out); });
  }
  return common(members, list, *scratch_);
}

std::span<const std::uint32_t> Partial::intersect_views(std::span<const plan::Probe> probes, const plan::Candidates* order) {
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
  if (next.reuse < 0 || next.rest.size() != 1) return std::nullopt;
  // Parallel edges count separately, also in lists that an earlier level has read.
  const auto parallel = [&](const plan::Probe& probe) { return lists_.parallel(probe.query_relation); };
  if (std::ranges::any_of(next.candidates.probes, parallel)) return std::nullopt;
  const ListView list = view(next.rest[0]);
  auto base = sets_[static_cast<std::size_t>(next.reuse)];
  if (ordered) base = between(base, next.candidates);
  std::size_t count = base.empty() ? 0 : count_members(base, list);
  for (const plan::Position position : next.candidates.distinct) {
    if (count == 0) break;
    const VertexId vertex = vertices_[position];
    if (contains(base.data(), base.size(), vertex) && multiplicity(list, vertex) > 0) --count;
  }
  return count;
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
