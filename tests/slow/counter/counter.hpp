// Embeddings counted in a way of its own, to hold the program's counts against: not match by match but by algebra. Nothing of
// src/ is used here.
//
// A pattern says of each pair of its vertices that their images are joined, or distinct, or neither joined nor the same
// ("apart"), or nothing. Where it only asks for joined pairs, its images are homomorphisms, which are counted by searching its
// vertices one after the other: what lies below a vertex depends on few of those above it (its context), so it is counted once
// per image of these. The other demands would make contexts large. Most are therefore traded for patterns without them,
//
//   distinct = anything - the same        apart = anything - the same - joined
//
// where "the same" is a pattern with one vertex less. Patterns that are equal but for the numbers of their vertices are counted
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

/// The time that this process had of its cores: what else a machine does is not counted.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  [[nodiscard]] static time_point now();
};

[[nodiscard]] std::string to_string(Number number);

/// A simple undirected graph whose vertices 0, 1, … bear one label each; labels are small numbers.
class Graph {
 public:
  /// An edge may be given more than once and either way round; the ends of each are different.
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
  /// The vertices that bear the label, in an order that says nothing: the first of them are a sample.
  [[nodiscard]] const std::vector<std::uint32_t>& bearers(std::uint32_t label) const;
  /// Of a vertex, the neighbours that bear the label, ascending.
  [[nodiscard]] List neighbours(std::uint32_t vertex, std::uint32_t label) const;
  [[nodiscard]] bool joined(std::uint32_t one, std::uint32_t other) const;
  /// Neighbours of label `to` that an edge from a vertex of label `from` finds beside itself, on average over edges; 0: there
  /// is none.
  [[nodiscard]] double fan(std::uint32_t from, std::uint32_t to) const;

 private:
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> label_;
  std::vector<std::vector<std::uint32_t>> bearers_;
  std::vector<std::uint32_t> ends_;                           // neighbours, by vertex, then label, then number
  std::vector<std::size_t> begin_;                            // of a vertex's entries in parts_
  std::vector<std::pair<std::uint32_t, std::size_t>> parts_;  // label, first entry in ends_; one more that closes
  std::unordered_map<std::uint64_t, double> fan_;
};

enum class Pair : std::uint8_t { any, joined, distinct, apart };

struct Pattern {
  std::vector<std::uint32_t> labels;
  std::vector<Pair> pairs;  ///< of vertices u and v at u * size + v, both ways round

  explicit Pattern(std::vector<std::uint32_t> vertex_labels)
      : labels(std::move(vertex_labels)), pairs(labels.size() * labels.size(), Pair::any) {}
  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] Pair pair(std::size_t u, std::size_t v) const { return pairs[u * size() + v]; }
  void set(std::size_t u, std::size_t v, Pair pair) { pairs[u * size() + v] = pairs[v * size() + u] = pair; }
};

/// Vertices distinct and the edges joined; all other pairs not joined where `induced`.
[[nodiscard]] Pattern embedding_pattern(std::vector<std::uint32_t> labels,
                                        const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges, bool induced);

struct TimeUp : std::runtime_error {
  TimeUp() : std::runtime_error("time is up") {}
};

constexpr std::uint64_t few_steps = 100'000;

/// Counts patterns in one graph, which outlives it, and remembers what it counted.
class Counter {
 public:
  /// `pilot`: the images that a search of all demands may try before trading is thought of; 0: whatever can be traded is.
  explicit Counter(const Graph& graph, std::uint64_t pilot = few_steps) : graph_(&graph), pilot_(pilot) {}

  /// The images of a connected pattern. Throws TimeUp where that takes until `end`, at once where as much time did
  /// not do before, std::overflow_error beyond 127 bits.
  [[nodiscard]] Number count(const Pattern& pattern, Clock::time_point end);

 private:
  [[nodiscard]] Number count(Pattern pattern);
  [[nodiscard]] Number trade(Pattern pattern, std::pair<std::size_t, std::size_t> pair);

  const Graph* graph_;
  std::uint64_t pilot_;
  Clock::time_point end_;
  std::unordered_map<std::string, Number> counted_;
  std::unordered_map<std::string, Clock::duration>
      tried_;  // patterns that were asked for, and a time that does not do for them
};

}  // namespace counter
