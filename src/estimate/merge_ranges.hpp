// Merges two ranges by vertex, in parallel. Internal to estimate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "estimate/accesses.hpp"

namespace deltamatch::estimate {

// The length of a part. It does not depend on threads, because sums must not either.
inline constexpr std::size_t merged_part = 8192;

[[nodiscard]] inline StoredVertex vertex_of(const StoredVertex& at) noexcept { return at; }
template <class Item>
[[nodiscard]] const StoredVertex& vertex_of(const Item& item) noexcept {
  return item.at;
}

// Merges two ranges that ascend by vertex, in parts. Part p of `parts()` writes its result at merged[begin(p)] and after. There
// is room for all items of both ranges.
template <class A, class B>
class Merge {
 public:
  Merge(std::span<const A> a, std::span<const B> b) : a_(a), b_(b), parts_(std::max(a.size(), b.size()) / merged_part + 1) {}
  [[nodiscard]] std::size_t parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t size() const noexcept { return a_.size() + b_.size(); }
  // Calls both(a, b) for every vertex of part `part`, in order. a or b is null if its range lacks the vertex. The results go to
  // `merged`. Copies of the last result, with 0 bytes, fill the rest.
  template <class Item, class Both>
  void run(std::size_t part, std::vector<Item>& merged, Both&& both) const {
    auto [a, b] = begin(part);
    const auto [a_end, b_end] = begin(part + 1);
    std::size_t to = a + b;
    while (a < a_end || b < b_end) {
      const bool of_a = a < a_end && (b == b_end || vertex_of(a_[a]) <= vertex_of(b_[b]));
      const bool of_b = b < b_end && (a == a_end || vertex_of(b_[b]) <= vertex_of(a_[a]));
      merged[to++] = both(of_a ? &a_[a] : nullptr, of_b ? &b_[b] : nullptr);
      a += of_a ? 1 : 0;
      b += of_b ? 1 : 0;
    }
    for (const std::size_t last = to - 1; to < a_end + b_end; ++to) {
      merged[to] = merged[last];
      merged[to].bytes = 0;
    }
  }

 private:
  // The positions in both ranges at which a part begins. A part begins with a new vertex, which may occur several times.
  [[nodiscard]] std::pair<std::size_t, std::size_t> begin(std::size_t part) const {
    if (part == 0) return {0, 0};
    if (part == parts_) return {a_.size(), b_.size()};
    const StoredVertex& border =
        a_.size() >= b_.size() ? vertex_of(a_[a_.size() * part / parts_]) : vertex_of(b_[b_.size() * part / parts_]);
    return {below(a_, border), below(b_, border)};
  }
  // How many of `items` come before a vertex.
  template <class Items>
  [[nodiscard]] static std::size_t below(const Items& items, const StoredVertex& border) noexcept {
    const auto before = [](const auto& item, const StoredVertex& vertex) { return vertex_of(item) < vertex; };
    return static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), border, before) - items.begin());
  }

  std::span<const A> a_;
  std::span<const B> b_;
  std::size_t parts_;
};

}  // namespace deltamatch::estimate
