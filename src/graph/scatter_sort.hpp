// Sorts what a batch does, first by a vertex, with all threads.
//
// This is a radix sort from the most significant digit. It scatters the items by the high bits of their vertices, so most
// groups have one or two items. Larger groups are scattered again. What is left is sorted by comparison.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/parallel.hpp"
#include "base/raw_vector.hpp"
#include "base/types.hpp"

namespace deltamatch::graph {

/// Keeps its work memory from batch to batch. Only one thread may call it at a time.
///
/// `Order` has static functions: vertex(item), and key(item), an unsigned number of which the vertex is the highest part.
template <class Item, class Order>
class ScatterSort {
 public:
  using Items = RawVector<Item>;

  /// Sorts items by key; all vertices must be below `vertices`. The result does not depend on the number of threads if keys
  /// differ. O(n), and O(k log k) for each of the groups of k items that remain.
  void run(Items& items, std::size_t vertices, Workers& workers) {
    const std::size_t count = items.size();
    if (count < 2) return;
    const std::size_t portion = std::max<std::size_t>((count + workers.size() - 1) / workers.size(), portion_grain);
    const std::size_t portions = (count + portion - 1) / portion;
    const std::size_t groups = std::clamp<std::size_t>(std::bit_ceil(count), 2, std::bit_floor(most_counters / portions));
    const int excess = static_cast<int>(std::bit_width(vertices)) - std::countr_zero(groups);  // bits that groups do not tell
    const auto shift = static_cast<unsigned>(std::max(0, excess));
    const auto group_of = [&](const Item& item) { return Order::vertex(item) >> shift; };
    spare_.resize(count);
    places_.resize(portions * groups);
    workers.for_each(count, portion, [&](unsigned, std::size_t begin, std::size_t end) {
      const std::span<std::uint32_t> counts = std::span(places_).subspan(begin / portion * groups, groups);
      std::ranges::fill(counts, 0);
      for (std::size_t i = begin; i < end; ++i) ++counts[group_of(items[i])];
    });
    std::uint32_t place = 0;
    for (std::size_t group = 0; group < groups; ++group) {
      for (std::size_t at = group; at < places_.size(); at += groups) place += std::exchange(places_[at], place);
    }
    workers.for_each(count, portion, [&](unsigned, std::size_t begin, std::size_t end) {
      const std::span<std::uint32_t> places = std::span(places_).subspan(begin / portion * groups, groups);
      for (std::size_t i = begin; i < end; ++i) spare_[places[group_of(items[i])]++] = items[i];
    });
    // The places of the last portion are now where the groups end.
    const std::span<const std::uint32_t> ends = std::span(places_).last(groups);
    workers.for_each(groups, workers.size() == 1 ? groups : group_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      std::size_t first = begin == 0 ? 0 : ends[begin - 1];
      for (std::size_t group = begin; group < end; ++group) {
        const std::size_t size = ends[group] - first;
        if (size > 1) sort_group(std::span(spare_).subspan(first, size), &items[first], shift);
        first = ends[group];
      }
    });
    items.swap(spare_);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return spare_.capacity() * sizeof(Item) + places_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::size_t portion_grain = 256;                   // items that are worth a portion of their own
  static constexpr std::size_t most_counters = std::size_t{1} << 14;  // of all portions together
  static constexpr std::size_t group_grain = 64;                      // groups that a thread sorts at a time
  static constexpr std::size_t scattered = 64;                        // larger groups are scattered again
  static constexpr unsigned digit_bits = 6;

  /// Sorts a group whose vertices agree in all bits from `bits` on. `spare` has room for it.
  static void sort_group(std::span<Item> group, Item* spare, unsigned bits) {
    if (group.size() <= scattered || bits == 0) return sort_by_comparison(group);
    const unsigned shift = bits - std::min(bits, digit_bits);
    const auto digit = [&](const Item& item) { return (Order::vertex(item) >> shift) % (1U << digit_bits); };
    std::array<std::uint32_t, 1U << digit_bits> places{};
    for (const Item& item : group) ++places[digit(item)];
    std::uint32_t place = 0;
    for (std::uint32_t& first : places) place += std::exchange(first, place);
    std::ranges::copy(group, spare);
    for (std::size_t i = 0; i < group.size(); ++i) group[places[digit(spare[i])]++] = spare[i];
    std::uint32_t begin = 0;
    for (const std::uint32_t end : places) {
      if (end - begin > 1) sort_group(group.subspan(begin, end - begin), spare, shift);
      begin = end;
    }
  }

  /// Compares without branches, because the keys of a batch are nearly random.
  static void sort_by_comparison(std::span<Item> group) {
    if (group.size() == 2) {
      const bool swap = Order::key(group[1]) < Order::key(group[0]);
      const Item low = group[swap ? 1 : 0];
      group[1] = group[swap ? 0 : 1];
      group[0] = low;
      return;
    }
    boost::sort::pdqsort_branchless(group.begin(), group.end(),
                                    [](const Item& a, const Item& b) { return Order::key(a) < Order::key(b); });
  }

  Items spare_;
  RawVector<std::uint32_t> places_;  // by portion of the items, then by group
};

}  // namespace deltamatch::graph
