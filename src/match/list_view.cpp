#include "match/list_view.hpp"

#include <algorithm>
#include <ranges>

namespace deltamatch::match {

namespace {

constexpr VertexId nothing = 0xffffffff;  // a threshold that no vertex reaches

std::uint32_t run_length(const std::uint32_t* ids, std::size_t count, std::uint32_t id) noexcept {
  std::size_t at = lower_bound(ids, count, id);
  std::uint32_t length = 0;
  for (; at < count && ids[at] == id; ++at) ++length;
  return length;
}

}  // namespace

// The least neighbour whose changed edge has a high enough rank.
VertexId Lists::threshold(VertexId vertex, LabelId label, bool incoming, bool inclusive) const noexcept {
  const bool label_suffices = inclusive ? label >= anchor_.which : label > anchor_.which;
  if (directed_ ? !incoming : vertex <= anchor_.tail) {
    // In this list, the vertex is the tail of every edge of higher rank.
    if (vertex > anchor_.tail) return 0;
    if (vertex < anchor_.tail) return nothing;
    return label_suffices ? anchor_.head : anchor_.head + 1;
  }
  // The neighbour is the tail. In undirected data, a neighbour above the anchor's tail is also enough.
  const bool at_tail = vertex > anchor_.head || (vertex == anchor_.head && label_suffices);
  return at_tail ? anchor_.tail : anchor_.tail + 1;
}

void Lists::restrict(ListView& view, const graph::Resolved& where, VertexId vertex, bool inclusive, Scratch& scratch) const {
  if (pass_ == Pass::whole) return;
  const graph::List list = where.store->list(vertex, where.relation);
  const bool added = pass_ != Pass::removed;
  const bool without = pass_ == Pass::added;  // the removed edges
  met_removed_ = met_removed_ || list.removed_size > 0;
  if (!where.tagged) {
    const VertexId from = threshold(vertex, where.edge_label, where.incoming, inclusive);
    if (added) {
      const auto skipped = static_cast<std::uint32_t>(lower_bound(list.added, list.added_size, from));
      if (without) {
        view.minus = list.removed;
        view.minus_count = list.removed_size;
      }
      view.plus = list.added + skipped;
      view.plus_count = list.added_size - skipped;
    } else {
      view.minus = list.removed;
      view.minus_count = static_cast<std::uint32_t>(lower_bound(list.removed, list.removed_size, from));
    }
    return;
  }
  if (without) {
    view.minus = list.removed;
    view.minus_tags = list.removed_tags;
    view.minus_count = list.removed_size;
  }
  // Entries are in order of (neighbour, tag). If all have one direction, that is the order of the rank as well.
  if (!where.derived) {
    const auto first = [&](const std::uint32_t* ids, const std::uint32_t* tags, std::uint32_t count) {
      const auto entries = std::views::iota(std::uint32_t{0}, count);
      return *std::ranges::partition_point(
          entries, [&](std::uint32_t i) { return !admits(vertex, ids[i], tags[i] >> 1, where.incoming, inclusive); });
    };
    if (added) {
      const std::uint32_t skipped = first(list.added, list.added_tags, list.added_size);
      view.plus = list.added + skipped;
      view.plus_tags = list.added_tags + skipped;
      view.plus_count = list.added_size - skipped;
    } else {
      view.minus = list.removed;
      view.minus_tags = list.removed_tags;
      view.minus_count = first(list.removed, list.removed_tags, list.removed_size);
    }
    return;
  }
  // The entries differ in direction or label. So each is compared.
  const auto pick = [&](const std::uint32_t* ids, const std::uint32_t* tags, std::uint32_t count, bool admitted,
                        const std::uint32_t*& out, const std::uint32_t*& out_tags) {
    std::uint32_t* picked = scratch.words(count);
    std::uint32_t* picked_tags = scratch.words(count);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (admits(vertex, ids[i], tags[i] >> 1, (tags[i] & 1u) != 0, inclusive) != admitted) continue;
      picked[kept] = ids[i];
      picked_tags[kept++] = tags[i];
    }
    out = picked;
    out_tags = picked_tags;
    return kept;
  };
  if (added) {
    view.plus_count = pick(list.added, list.added_tags, list.added_size, true, view.plus, view.plus_tags);
  } else {
    view.minus_count = pick(list.removed, list.removed_tags, list.removed_size, false, view.minus, view.minus_tags);
  }
}

std::span<std::uint32_t> materialise(const ListView& view, Scratch& scratch) {
  std::uint32_t* out = scratch.words(std::size_t{view.size()});
  std::size_t size = 0;
  std::uint32_t m = 0;
  std::uint32_t p = 0;
  for (std::uint32_t i = 0; i < view.count; ++i) {
    const std::uint32_t id = view.ids[i];
    if (m < view.minus_count && view.minus[m] == id && (!view.parallel || view.minus_tags[m] == view.tags[i])) {
      ++m;
      continue;
    }
    while (p < view.plus_count && view.plus[p] < id) out[size++] = view.plus[p++];
    out[size++] = id;
  }
  while (p < view.plus_count) out[size++] = view.plus[p++];
  if (view.parallel) size = static_cast<std::size_t>(std::unique(out, out + size) - out);
  return {out, size};
}

std::uint32_t multiplicity(const ListView& view, std::uint32_t id) noexcept {
  if (!view.parallel) {
    if (view.plus_count != 0 && contains(view.plus, view.plus_count, id)) return 1;
    return contains(view.ids, view.count, id) && !(view.minus_count != 0 && contains(view.minus, view.minus_count, id)) ? 1 : 0;
  }
  return run_length(view.ids, view.count, id) - run_length(view.minus, view.minus_count, id) +
         run_length(view.plus, view.plus_count, id);
}

namespace {

/// Writes the members of `set` that are among `ids`, which ascend and may repeat, to `out`. Returns their number. O(s log(l/s))
/// for a short and a long one of sizes s and l.
std::size_t intersect_runs(const std::uint32_t* set, std::size_t size, const std::uint32_t* ids, std::size_t count,
                           std::uint32_t* out) noexcept {
  std::size_t kept = 0;
  std::size_t s = 0;
  std::size_t i = 0;
  while (s < size && i < count) {
    if (set[s] == ids[i]) {
      out[kept++] = set[s++];
    } else if (set[s] < ids[i]) {
      s = gallop(set, s + 1, size, ids[i]);
    } else {
      i = gallop(ids, i + 1, count, set[s]);
    }
  }
  return kept;
}

/// keep_members for a view in which ids may occur several times.
std::size_t keep_members_of_runs(std::uint32_t* set, std::size_t size, const ListView& view, Scratch& scratch) {
  if (view.clean()) return intersect_runs(set, size, view.ids, view.count, set);
  const ScratchScope scope(scratch);
  std::uint32_t* old = scratch.words(size);
  std::size_t from_ids = intersect_runs(set, size, view.ids, view.count, old);
  if (view.minus_count != 0) {
    from_ids = static_cast<std::size_t>(std::remove_if(old, old + from_ids,
                                                       [&](std::uint32_t id) {
                                                         return run_length(view.minus, view.minus_count, id) ==
                                                                run_length(view.ids, view.count, id);
                                                       }) -
                                        old);
  }
  std::uint32_t* fresh = scratch.words(size);
  const std::size_t from_plus = intersect_runs(set, size, view.plus, view.plus_count, fresh);
  return static_cast<std::size_t>(std::set_union(old, old + from_ids, fresh, fresh + from_plus, set) - set);
}

}  // namespace

std::size_t keep_members(std::uint32_t* set, std::size_t size, const ListView& view, Scratch& scratch) {
  if (view.clean() && !view.parallel) [[likely]]
    return intersect(set, size, view.ids, view.count, set);
  if (view.parallel) return keep_members_of_runs(set, size, view, scratch);
  if (size < 8) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (multiplicity(view, set[i]) > 0) set[kept++] = set[i];
    }
    return kept;
  }
  const ScratchScope scope(scratch);
  std::uint32_t* old = scratch.words(std::min<std::size_t>(size, view.count));
  std::size_t from_ids = intersect(set, size, view.ids, view.count, old);
  if (view.minus_count != 0) {
    from_ids = static_cast<std::size_t>(
        std::remove_if(old, old + from_ids, [&](std::uint32_t id) { return contains(view.minus, view.minus_count, id); }) -
        old);
  }
  const std::size_t from_plus = intersect(set, size, view.plus, view.plus_count, set);
  // Both parts ascend and are disjoint. They are merged from the back, because `set` holds the second part.
  std::size_t to = from_ids + from_plus;
  for (std::size_t a = from_ids, b = from_plus; a > 0;) {
    if (b > 0 && set[b - 1] > old[a - 1]) {
      set[--to] = set[--b];
    } else {
      set[--to] = old[--a];
    }
  }
  return from_ids + from_plus;
}

std::span<const std::uint32_t> common(std::span<const std::uint32_t> set, const ListView& view, Scratch& scratch) {
  if (!view.parallel) {
    return members_of(view, set.size(), scratch, [&](std::span<const std::uint32_t> ids, std::uint32_t* out) {
      return intersect(set.data(), set.size(), ids.data(), ids.size(), out);
    });
  }
  std::uint32_t* const out = scratch.words(set.size());
  std::ranges::copy(set, out);
  return {out, keep_members(out, set.size(), view, scratch)};
}

std::size_t count_members(std::span<const std::uint32_t> set, const ListView& view) {
  std::size_t count = intersect_count(set.data(), set.size(), view.ids, view.count);
  if (view.clean()) return count;
  count -= intersect_count(set.data(), set.size(), view.minus, view.minus_count);
  return count + intersect_count(set.data(), set.size(), view.plus, view.plus_count);
}

void collect_tags(const ListView& view, std::uint32_t id, std::uint32_t single, std::vector<std::uint32_t>& tags) {
  if (!view.tagged) {
    if (multiplicity(view, id) > 0) tags.push_back(single);
    return;
  }
  for (std::size_t at = lower_bound(view.ids, view.count, id); at < view.count && view.ids[at] == id; ++at) {
    bool taken = false;
    for (std::size_t m = lower_bound(view.minus, view.minus_count, id); m < view.minus_count && view.minus[m] == id; ++m) {
      taken = taken || view.minus_tags[m] == view.tags[at];
    }
    if (!taken) tags.push_back(view.tags[at]);
  }
  for (std::size_t at = lower_bound(view.plus, view.plus_count, id); at < view.plus_count && view.plus[at] == id; ++at) {
    tags.push_back(view.plus_tags[at]);
  }
}

}  // namespace deltamatch::match
