// Fills a budget with the best of many candidates, in parallel. Internal to estimate.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "estimate/selection.hpp"

namespace deltamatch::estimate {

// Candidates are sorted into buckets by the leading bits of their priority as a float: 16 buckets per power of two.
inline constexpr unsigned bucket_shift = 19;
inline constexpr std::size_t buckets = std::size_t{1} << (31 - bucket_shift);
// A budget is full once less than this fraction of it is left: 1 / least_share.
inline constexpr std::size_t least_share = 1024;
// Parts of a loop per thread.
inline constexpr std::size_t parts_per_thread = 4;
// Fewer candidates are not worth waking a thread for.
inline constexpr std::size_t least_part = 2048;

struct Candidate {
  StoredVertex at{};
  std::size_t bytes = 0;  // 0: no candidate
  double priority = 0;    // always above 0

  [[nodiscard]] std::size_t bucket() const noexcept {
    return std::bit_cast<std::uint32_t>(static_cast<float>(priority)) >> bucket_shift;
  }
};

// A candidate whose priority is the bus traffic that it saves, less the cost of moving it, per byte of the cache.
[[nodiscard]] inline Candidate saving(const StoredVertex& at, std::size_t bytes, double times, double miss, double moving) {
  if (bytes == 0) return {};
  const double saved = times * (static_cast<double>(bytes) + miss) - moving;
  return saved > 0 ? Candidate{at, bytes, saved / static_cast<double>(bytes)} : Candidate{};
}

[[nodiscard]] inline bool better(const Candidate& a, const Candidate& b) noexcept {
  return a.priority != b.priority ? a.priority > b.priority : a.at < b.at;
}

// Splits a loop into consecutive parts, so that their findings can be joined in order.
class Parts {
 public:
  Parts(std::size_t size, Workers* workers) noexcept
      : size_(size),
        count_(workers == nullptr ? 1 : std::clamp(size / least_part, std::size_t{1}, parts_per_thread * workers->size())),
        workers_(workers) {}
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // Calls body(part, i) for every position.
  template <class Body>
  void for_each(Body&& body) const {
    const auto run = [&](unsigned, std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        const std::size_t end = size_ * (part + 1) / count_;
        for (std::size_t i = size_ * part / count_; i < end; ++i) body(part, i);
      }
    };
    workers_ == nullptr ? run(0, 0, count_) : workers_->for_each(count_, 1, run);
  }

 private:
  std::size_t size_;
  std::size_t count_;
  Workers* workers_;
};

// Takes the best of candidate(0) to candidate(n - 1), which must ascend by vertex. It works bucket by bucket: the better
// buckets fit as a whole. So only the candidates at the border of what fits are sorted.
template <class CandidateAt>
[[nodiscard]] Selection fill(std::size_t n, const CandidateAt& candidate, std::size_t budget, Workers* workers) {
  struct Found {
    std::vector<std::size_t> bytes;  // by bucket
    std::vector<StoredVertex> inside;
    std::vector<Candidate> border;
  };
  Selection selection;
  const Parts parts(n, workers);
  std::vector<Found> found(parts.count());
  std::vector<Candidate> border;
  std::size_t ascending = 0;  // of the selected ones, how many are in order
  std::size_t end = buckets;  // end of the buckets that are left
  // Repeats, because candidates that did not fit may leave room for lesser ones.
  while (end > 0 && budget - selection.bytes > budget / least_share) {
    const std::size_t left = budget - selection.bytes;
    for (Found& part : found) part.bytes.assign(buckets, 0);
    parts.for_each([&](std::size_t part, std::size_t i) {
      const Candidate one = candidate(i);
      if (one.bytes > 0 && one.bytes <= left && one.bucket() < end) found[part].bytes[one.bucket()] += one.bytes;
    });
    std::size_t first = end;  // the first of the buckets that fit as a whole
    for (std::size_t sum = 0; first > 0; --first) {
      for (const Found& part : found) sum += part.bytes[first - 1];
      if (sum > left) break;
    }
    for (Found& part : found) {
      part.inside.clear();
      part.border.clear();
    }
    parts.for_each([&](std::size_t part, std::size_t i) {
      const Candidate one = candidate(i);
      if (one.bytes == 0 || one.bytes > left || one.bucket() >= end) return;
      if (one.bucket() >= first) found[part].inside.push_back(one.at);
      if (one.bucket() + 1 == first) found[part].border.push_back(one);
    });
    border.clear();
    for (const Found& part : found) {
      for (std::size_t b = first; b < end; ++b) selection.bytes += part.bytes[b];
      selection.hot.insert(selection.hot.end(), part.inside.begin(), part.inside.end());
      border.insert(border.end(), part.border.begin(), part.border.end());
    }
    if (end == buckets) ascending = selection.hot.size();
    std::sort(border.begin(), border.end(), better);
    for (const Candidate& one : border) {
      if (one.bytes > budget - selection.bytes) continue;
      selection.hot.push_back(one.at);
      selection.bytes += one.bytes;
    }
    end = first == 0 ? 0 : first - 1;
  }
  const auto rest = selection.hot.begin() + static_cast<std::ptrdiff_t>(ascending);
  std::sort(rest, selection.hot.end());
  std::inplace_merge(selection.hot.begin(), rest, selection.hot.end());
  return selection;
}

}  // namespace deltamatch::estimate
