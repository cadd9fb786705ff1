// An independent counter of embeddings. It checks the program's counts by algebra instead of match by match, and uses nothing
// of src/.
//
// A pattern states for each pair of its vertices a demand on their images: joined, distinct, neither joined nor the same
// ("apart"), or none. If it demands only joined pairs, its images are homomorphisms. These are counted by searching the
// vertices one after the other. What is below a vertex depends on few of the earlier ones (its context), so it is counted once
// per image of the context. The other demands would make contexts large. Most of them are therefore replaced by patterns
// without them:
//
//   distinct = anything - the same        apart = anything - the same - joined
//
// Here "the same" is a pattern with one vertex less. Patterns that differ only in the numbers of their vertices are counted
// once.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace counter {

__extension__ using Number = __int128;

/// The CPU time of this process, so other work of the machine does not count.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  [[nodiscard]] static time_point now();
};

[[nodiscard]] std::string to_string(Number number);

/// A simple undirected graph. Its vertices 0, 1, … have one label each. Labels are small numbers.
class Graph {
 public:
  /// An edge may be given more than once, in either direction. Its ends must differ.
  Graph(std::vector<std::uint32_t> labels, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges);

  struct List {
    const std::uint32_t* first;
    const std::uint32_t* last;
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
    [[nodiscard]] bool holds(std::uint32_t vertex) const;
  };

  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(label_.size()); }
  [[nodiscard]] std::uint32_t labels() const { return labels_; }
  [[nodiscard]] std::uint32_t label(std::uint32_t vertex) const { return label_[vertex]; }
  /// The vertices with the label. Their order is shuffled, so the first of them are a sample.
  [[nodiscard]] const std::vector<std::uint32_t>& bearers(std::uint32_t label) const;
  /// The neighbours of a vertex that have the label, ascending.
  [[nodiscard]] List neighbours(std::uint32_t vertex, std::uint32_t label) const;
  [[nodiscard]] bool joined(std::uint32_t one, std::uint32_t other) const;
  /// The average number of neighbours with label `to` that the end of label `from` has, over edges between the two labels. 0 if
  /// there are no such edges.
  [[nodiscard]] double fan(std::uint32_t from, std::uint32_t to) const;

 private:
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> label_;
  std::vector<std::vector<std::uint32_t>> bearers_;
  std::vector<std::uint32_t> ends_;                           // neighbours, by vertex, then label, then number
  std::vector<std::size_t> begin_;                            // the first entry of each vertex in parts_
  std::vector<std::pair<std::uint32_t, std::size_t>> parts_;  // label, first entry in ends_; plus an end marker
  std::unordered_map<std::uint64_t, double> fan_;
};

enum class Pair : std::uint8_t { any, joined, distinct, apart };

struct Pattern {
  std::vector<std::uint32_t> labels;
  std::vector<Pair> pairs;  ///< the pair of vertices u and v is at u * size + v and at v * size + u

  explicit Pattern(std::vector<std::uint32_t> vertex_labels)
      : labels(std::move(vertex_labels)), pairs(labels.size() * labels.size(), Pair::any) {}
  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] Pair pair(std::size_t u, std::size_t v) const { return pairs[u * size() + v]; }
  void set(std::size_t u, std::size_t v, Pair pair) { pairs[u * size() + v] = pairs[v * size() + u] = pair; }
};

/// Demands distinct vertices and joined edges. If `induced`, all other pairs must not be joined.
[[nodiscard]] Pattern embedding_pattern(std::vector<std::uint32_t> labels,
                                        const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges, bool induced);

struct TimeUp : std::runtime_error {
  TimeUp() : std::runtime_error("time is up") {}
};

constexpr std::uint64_t few_steps = 100'000;

/// Counts patterns in one graph, which must outlive it. It remembers its counts.
class Counter {
 public:
  /// `pilot` is the number of images that a search with all demands may try before replacement is considered. With 0, every
  /// demand that can be replaced is.
  explicit Counter(const Graph& graph, std::uint64_t pilot = few_steps) : graph_(&graph), pilot_(pilot) {}

  /// The number of images of a connected pattern. Throws TimeUp if it is not done by `end`. Throws it at once if the same time
  /// was too short before. Throws std::overflow_error beyond 127 bits.
  [[nodiscard]] Number count(const Pattern& pattern, Clock::time_point end);

 private:
  [[nodiscard]] Number count(Pattern pattern);
  [[nodiscard]] Number trade(Pattern pattern, std::pair<std::size_t, std::size_t> pair);

  const Graph* graph_;
  std::uint64_t pilot_;
  Clock::time_point end_;
  std::unordered_map<std::string, Number> counted_;
  std::unordered_map<std::string, Clock::duration> tried_;  // requested patterns, with a time that was too short for each
};

}  // namespace counter
