// Estimates how often lists are looked up if walks have met few of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "estimate/selection.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::estimate {

/// What walks found of a list's look-ups in a batch, or of several lists' together.
struct Findings {
  double certain = 0;                       ///< counted by visits that were certain: exact
  std::array<double, drawn_kinds> drawn{};  ///< estimated from visits that were drawn

  void add(const Findings& more) noexcept {
    certain += more.certain;
    for (std::size_t k = 0; k < drawn_kinds; ++k) drawn[k] += more.drawn[k];
  }
  [[nodiscard]] double times() const noexcept { return std::accumulate(drawn.begin(), drawn.end(), certain); }
};

/// How often a vertex's lists are expected to be looked up.
struct Expected {
  StoredVertex at;
  std::size_t bytes;  ///< size in the cache; 0: it has none, and is skipped
  Findings found;     ///< look-ups by the batch, as walks estimate
  double usual;       ///< look-ups to expect by any batch of this size, before any walk
};

/// The expectations for a batch, ascending by vertex.
struct Posterior {
  std::span<const Expected> lists;
  Findings all;                             ///< of all lists together
  std::array<double, drawn_kinds> noise{};  ///< as in Accesses
  double shape = 1;                         ///< of the prior: the less, the more lists of one length differ

  /// The look-ups to expect of a list that usually has `usual` of them, and of which walks found `found`. What is certain stays
  /// as it is. So if all visits were certain, these are the look-ups found.
  [[nodiscard]] double times(double usual, const Findings& found) const noexcept;
};

/// Estimates look-ups if few walks were made. These miss most lists that are looked up, and find many others by chance.
///
/// Lists are reached along edges. So before any walk, a list's share of the look-ups is its share of all lists' bytes. The
/// prior is a gamma distribution around that. What the walks found are counts drawn from it, so the posterior mean is known.
/// The shape of the distribution follows from how much the findings of lists of the same length differ.
///
/// A finding is trusted as the probability of its visit says. A visit of probability p stands for 1 / p look-ups. So an
/// estimate from such visits has a variance of 1 / p - 1 times itself, and none if they are certain. What each kind of visit
/// finds is tempered by itself, since a list may be found by likely visits alone.
///
/// The mean is computed twice. First it is computed for all lists of about the same length together, because walks find many of
/// them. Then it is computed for each list, around the mean for its length.
class AccessPrior {
 public:
  /// `workers` must outlive it.
  explicit AccessPrior(Workers& workers) noexcept : workers_(&workers) {}
  /// The expectations for a batch's accesses, whose lists must ascend, and for the longest lists, as many as fit `budget`. From
  /// time to time, and once the graph has more than doubled, the longest lists are searched and all lists counted by length.
  /// Valid until the next call.
  [[nodiscard]] Posterior posterior_of(const graph::DataGraph& graph, const Accesses& accesses, const BytesOf& bytes,
                                       std::size_t budget);
  [[nodiscard]] std::size_t memory() const noexcept {
    return longest_.capacity() * sizeof(StoredVertex) + expected_.capacity() * sizeof(Expected);
  }

 private:
  Workers* workers_;
  void count_lengths(const graph::DataGraph& graph, const BytesOf& bytes);
  [[nodiscard]] Findings find(std::span<const Access> accesses, const BytesOf& bytes);

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
    Findings look_ups;
    double squares = 0;  // of the look-ups found of each
    double mean = 0;     // look-ups expected of one of them; 0 if no such list is known
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
