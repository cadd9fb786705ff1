// Finds entries in the settled lists, and the places of a delta's entries. Many searches run side by side.
//
// Settling finds them, because it must load the lists anyway. Staging only finds those of added entries with tags, in relations
// that have no parallel entries yet. They tell whether a list gets some.
#include <algorithm>
#include <array>
#include <ranges>

#include "base/prefetch.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

namespace {

// How far ahead rows are prefetched.
constexpr std::size_t prefetch_distance = 16;
// Up to how many lines of a vertex's entries are prefetched before they move. They move from the end on, and long runs are what
// the processor prefetches itself.
constexpr std::ptrdiff_t moving_lines = 8;

}  // namespace

/// Prefetches the end of a vertex's entries, which moves if it changes.
inline void Adjacency::fetch_moving(const Row& row, const DeltaRow& delta) const noexcept {
  const auto fetch = [](const std::uint32_t* begin, const std::uint32_t* end) {
    constexpr std::ptrdiff_t line = 16;
    const std::ptrdiff_t lines = std::min((end - begin) / line, moving_lines);
    for (std::ptrdiff_t i = 0; i <= lines; ++i) fetch_line(end - i * line);
  };
  const std::uint32_t begin = delta_slices_[delta.first_slice].begin;
  const unsigned words = column_words();
  const std::uint32_t* const payload = row.ids() + row.capacity;
  fetch(row.ids() + begin, row.ids() + delta.total);
  if (words > 0) fetch(payload + std::size_t{begin} * words, payload + std::size_t{delta.total} * words);
}

template <bool tagged>
void Adjacency::find_places(std::span<const DeltaRow> deltas, bool settling) noexcept {
  std::array<Search, search_lanes> lanes;
  std::size_t count = 0;
  const auto add = [&](const Row& row, const DeltaSlice& slice, Entries& entries, std::uint32_t begin, std::uint32_t end) {
    if (slice.begin == slice.end) {
      std::fill(entries.places.begin() + begin, entries.places.begin() + end, slice.begin);
      return;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t tag = tagged ? entries.payload[i] : 0;
      lanes[count++] = {row.ids(), row.ids() + row.capacity, slice.begin, slice.end - slice.begin,
                        slice.end, entries.ids[i],           tag,         &entries.places[i]};
      if (count < search_lanes) continue;
      search<tagged>(lanes);
      count = 0;
    }
  };
  for (const DeltaRow& delta : deltas.first(std::min(deltas.size(), prefetch_distance))) prefetch(delta.vertex);
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (i + prefetch_distance < deltas.size()) prefetch(deltas[i + prefetch_distance].vertex);
    const DeltaRow& delta = deltas[i];
    const Row& row = rows_[delta.vertex];
    if (delta.empties) continue;
    if (!settling && delta_slices_[delta.first_slice].added_begin == delta_slices_[delta.end_slice].added_begin) continue;
    fetch_line(row.block);
    if (settling) {
      fetch_moving(row, delta);
    } else {
      fetch_line(row.ids() + delta.total);
    }
    for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) {
      const DeltaSlice* slice = &delta_slices_[s];
      const bool staged = tagged && !was_parallel(slice->relation);
      if (staged != settling) {
        add(row, *slice, added_, slice[0].added_begin, slice[1].added_begin);
      } else if (settling) {  // the places are known
        for (std::uint32_t a = slice[0].added_begin; a < slice[1].added_begin; ++a) fetch_line(row.ids() + added_.places[a]);
      }
      if (settling) add(row, *slice, removed_, slice[0].removed_begin, slice[1].removed_begin);
    }
  }
  search<tagged>(std::span(lanes).first(count));
}

// Halves all ranges in step and compares without branches. A single search would wait at each step, for memory and for a
// mispredicted branch. Tags are read only where the neighbour is found.
template <bool tagged>
void Adjacency::search(std::span<Search> lanes) noexcept {
  std::uint32_t longest = 0;
  for (const Search& lane : lanes) longest = std::max(longest, lane.size);
  for (; longest > 1; longest -= longest / 2) {
    for (Search& lane : lanes) {
      const std::uint32_t half = lane.size / 2;
      lane.begin += half * static_cast<std::uint32_t>(lane.ids[lane.begin + half] < lane.id);
      lane.size -= half;
    }
  }
  for (const Search& lane : lanes) {
    std::uint32_t place = lane.begin + static_cast<std::uint32_t>(lane.ids[lane.begin] < lane.id);
    if constexpr (tagged) {
      const auto before = [&](std::uint32_t at) { return lane.ids[at] == lane.id && lane.tags[at] < lane.tag; };
      if (place < lane.end && before(place)) [[unlikely]] {
        const auto rest = std::views::iota(place + 1, lane.end);
        place += 1 + static_cast<std::uint32_t>(std::ranges::partition_point(rest, before) - rest.begin());
      }
    }
    *lane.place = place;
  }
}

void Adjacency::Finder::finish() noexcept {
  search<false>(std::span(lanes_).first(count_));
  const unsigned words = store_->column_words();
  for (std::size_t i = 0; i < count_; ++i) {
    const Search& lane = lanes_[i];
    const std::uint32_t place = places_[i];
    if (place == lane.end || lane.ids[place] != lane.id) continue;
    const std::uint32_t* const found = words > 0 ? lane.tags + std::size_t{place} * words : lane.ids + place;
    fetch_line(found);
    *found_[i] = found;
  }
  count_ = 0;
}

template void Adjacency::find_places<true>(std::span<const DeltaRow> deltas, bool settling) noexcept;
template void Adjacency::find_places<false>(std::span<const DeltaRow> deltas, bool settling) noexcept;

}  // namespace deltamatch::graph
