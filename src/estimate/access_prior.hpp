// How often lists are expected to be looked up, where walks have met few of them.
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

/// What is known of how often a vertex's lists will be looked up.
struct Expected {
  StoredVertex at;
  std::size_t bytes;  ///< what caching it takes; 0: nothing, and it is to be passed over
  double found;       ///< by the batch, as walks say
  double usual;       ///< by any batch of this size, to be expected before walks say anything
};

/// A batch's, ascending by vertex.
struct Posterior {
  std::span<const Expected> lists;
  double of_one = 1;  ///< look-ups that one finding stands for

  /// Look-ups to expect of a list that usually has so many, and of which walks found so many.
  [[nodiscard]] double times(double usual, double found) const noexcept;
};

/// What look-ups to expect where few walks were made: they miss most of what is looked up, and much of what they find they find
/// by chance. Lists are reached along edges, so before any walk a list's share of the look-ups is its share of all lists'
/// bytes. With a gamma distribution around that, and what the walks found as counts drawn from it, the mean is known: first for
/// all lists of about a length together, of which walks find many, then for each list around what its length makes expect.
class AccessPrior {
 public:
  /// `workers` outlives it.
  explicit AccessPrior(Workers& workers) noexcept : workers_(&workers) {}
  /// One batch's accesses, ascending, and with them the longest lists, as many as fit `budget`. Those are looked for, and all
  /// lists counted by length, every so many batches and once the graph has more than doubled. Valid until the next call.
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
  std::uint64_t edges_ = 0;            // that the graph had when its lists were counted
  std::vector<StoredVertex> longest_;  // ascending
  struct Lists {
    double count = 0;
    double bytes = 0;
    void add(const Lists& more) noexcept {
      count += more.count;
      bytes += more.bytes;
    }
  };
  struct Length {   // lists of about a length
    Lists counted;  // of the graph, some batches ago
    Lists found;    // in this batch
    double times = 0;
    double mean = 0;  // look-ups expected of one of them; 0 where there is none as far as is known
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
