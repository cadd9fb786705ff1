// Estimates how often lists are looked up if walks have met few of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "estimate/selection.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::estimate {

/// How often a vertex's lists are expected to be looked up.
struct Expected {
  StoredVertex at;
  std::size_t bytes;  ///< size in the cache; 0: it has none, and is skipped
  double found;       ///< look-ups by the batch, as walks estimate
  double usual;       ///< look-ups to expect by any batch of this size, before any walk
};

/// The expectations for a batch, ascending by vertex.
struct Posterior {
  std::span<const Expected> lists;
  double of_one = 1;  ///< the look-ups that one finding stands for

  /// The look-ups to expect of a list that usually has `usual` of them, and of which walks found `found`.
  [[nodiscard]] double times(double usual, double found) const noexcept;
};

/// Estimates look-ups if few walks were made. These miss most lists that are looked up, and find many others by chance.
///
/// Lists are reached along edges. So before any walk, a list's share of the look-ups is its share of all lists' bytes. The
/// prior is a gamma distribution around that. What the walks found are counts drawn from it, so the posterior mean is known.
///
/// The mean is computed twice. First it is computed for all lists of about the same length together, because walks find many of
/// them. Then it is computed for each list, around the mean for its length.
class AccessPrior {
 public:
  /// `workers` must outlive it.
  explicit AccessPrior(Workers& workers) noexcept : workers_(&workers) {}
  /// The expectations for a batch's accesses, which must ascend, and for the longest lists, as many as fit `budget`. From time
  /// to time, and once the graph has more than doubled, the longest lists are searched and all lists counted by length. Valid
  /// until the next call.
  [[nodiscard]] Posterior posterior_of(const graph::DataGraph& graph, std::span<const Access> accesses, const BytesOf& bytes,
                                       std::size_t budget);
  [[nodiscard]] std::size_t memory() const noexcept {
    return longest_.capacity() * sizeof(StoredVertex) + expected_.capacity() * sizeof(Expected);
  }

 private:
  Workers* workers_;
  void count_lengths(const graph::DataGraph& graph, const BytesOf& bytes);
  double find(std::span<const Access> accesses, const BytesOf& bytes);

  unsigned batches_ = 0;
  std::uint64_t edges_ = 0;            // of the graph when its lists were counted
  std::vector<StoredVertex> longest_;  // ascending
  struct Lists {
    double count = 0;
    double bytes = 0;
    void add(const Lists& more) noexcept {
      count += more.count;
      bytes += more.bytes;
    }
  };
  struct Length {   // lists of about the same length
    Lists counted;  // in the graph, some batches ago
    Lists found;    // in this batch
    double times = 0;
    double mean = 0;  // look-ups expected of one of them; 0 if no such list is known
    [[nodiscard]] Lists lists() const noexcept {
      return {std::max(counted.count, found.count), std::max(counted.bytes, found.bytes)};
    }
  };
  static constexpr std::size_t lengths_per_doubling = 4;
  using Lengths = std::array<Length, 64 * lengths_per_doubling>;
  [[nodiscard]] static std::size_t length_of(std::size_t bytes) noexcept;
  Lengths lengths_{};
  std::vector<Expected> expected_;
};

}  // namespace deltamatch::estimate
