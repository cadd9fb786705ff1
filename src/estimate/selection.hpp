// Which vertices to cache under a budget of bytes, by several policies.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "estimate/accesses.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::estimate {

/// What caching a vertex's lists takes; 0: it has none, and is left out. May be asked by several threads at once.
using BytesOf = std::function<std::size_t(const StoredVertex&)>;

/// What a look-up that misses costs beyond reading the list, in bytes that could be read instead.
inline constexpr double miss_bytes = 128;

/// What is known of how often a vertex's lists will be looked up.
struct Expected {
  StoredVertex at;
  std::size_t bytes;  ///< what caching it takes; 0: nothing, and it is to be passed over
  double found;       ///< by the batch, as walks say
  double usual;       ///< by any batch of this size, to be expected before walks say anything
};

/// A batch's, ascending by vertex.
struct Outlook {
  std::span<const Expected> lists;
  double of_one = 1;  ///< look-ups that one finding stands for

  /// Look-ups to expect of a list that usually has so many, and of which walks found so many.
  [[nodiscard]] double times(double usual, double found) const noexcept;
};

struct Selection {
  std::vector<StoredVertex> hot;  ///< ascending, but by hops for select_within
  std::size_t bytes = 0;          ///< never above the budget
};

// All run on the threads of `workers`, or on the caller alone where that is null; the result does not depend on it.

/// Those that save most of the bus for their size, times x (miss_bytes + bytes) / bytes, ties by vertex, until all but a
/// thousandth of the budget is full; what does not fit is skipped. `accesses` ascend. O(n).
[[nodiscard]] Selection select(std::span<const Access> accesses, const BytesOf& bytes, std::size_t budget,
                               Workers* workers = nullptr);

/// Selects for one batch after the other those that save most of the bus in the batch, less what moving them takes where they
/// are not there. Of vertices that were selected before, what is usual is known better: the mean of what to expect of the
/// batches before, where newer ones count for more; so the batches' walks add up. Room that is left is filled with what is
/// worth moving for its use over some batches.
class Selector {
 public:
  /// `workers` outlives it.
  explicit Selector(Workers& workers) noexcept : workers_(&workers) {}
  /// What fits is taken as by estimate::select. `bytes` is asked for vertices that were selected for the batch before and are
  /// not in the outlook.
  Selection select(const Outlook& outlook, const BytesOf& bytes, std::size_t budget);
  [[nodiscard]] std::size_t memory() const noexcept { return (heat_.capacity() + together_.capacity()) * sizeof(Heat); }

 private:
  struct Heat {
    StoredVertex at;
    std::size_t bytes;  // 0: to be passed over
    double times;       // by the batch
    double usual;
    unsigned unseen;  // batches since the last whose outlook had it
    bool known;       // it was selected for the batch before
    bool kept;        // it is selected
  };
  void keep(std::span<const StoredVertex> hot) noexcept;

  Workers* workers_;
  std::vector<Heat> heat_;  // of what was selected, ascending
  std::vector<Heat> together_;
};

/// What look-ups to expect where few walks were made: they miss most of what is looked up, and much of what they find they find
/// by chance. Lists are reached along edges, so before any walk a list's share of the look-ups is its share of all lists'
/// bytes. With a gamma distribution around that, and what the walks found as counts drawn from it, the mean is known: first for
/// all lists of about a length together, of which walks find many, then for each list around what its length makes expect.
class Prior {
 public:
  /// `workers` outlives it.
  explicit Prior(Workers& workers) noexcept : workers_(&workers) {}
  /// One batch's accesses, ascending, and with them the longest lists, as many as fit `budget`. Those are looked for, and all
  /// lists counted by length, every so many batches and once the graph has more than doubled. Valid until the next call.
  [[nodiscard]] Outlook temper(const graph::DataGraph& graph, std::span<const Access> accesses, const BytesOf& bytes,
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

/// Those with the longest lists, in the stores that the graph's readings use.
[[nodiscard]] Selection select_by_degree(const graph::DataGraph& graph, const BytesOf& bytes, std::size_t budget,
                                         Workers* workers = nullptr);

/// Those within `hops` of the ends of the passes' anchors, and of their roots, along any edges, near ones first, as VSGM (Jiang
/// et al., 2022) copies them; the first that does not fit ends it.
[[nodiscard]] Selection select_within(const graph::DataGraph& graph, std::span<const match::PassWork> passes, unsigned hops,
                                      const BytesOf& bytes, std::size_t budget, Workers* workers = nullptr);

/// How far from an anchor or root the matches of the tasks can reach: so many hops hold every list that matching may read.
[[nodiscard]] unsigned hops_of(std::span<const match::QueryTask> tasks);

/// By true counts, a vertex's accesses, whether it was cached, and what it takes in a cache.
struct Accessed {
  double times;
  bool cached;
  std::size_t bytes = 0;
};

/// Of the most accessed vertices S, which are the given share of all that are accessed, at least one: which part of all
/// accesses falls on them, which part of them is cached, and what they all take. Among vertices with as many accesses as the
/// last of S cached ones are preferred, since no ranking tells them apart. By share; `truth` is sorted on the way. Both 1 where
/// nothing is accessed.
[[nodiscard]] std::vector<TopLists> top_lists(std::vector<Accessed>& truth, std::span<const double> shares);

}  // namespace deltamatch::estimate
