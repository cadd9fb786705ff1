// Whether the conditions of a query that count are TRUE for a match of the rest of the query, in one state of the graph.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "match/pattern_search.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// The images of the vertices that a counted pattern shares with the query, and the pattern's number. Unused places are 0.
struct SharedImages {
  std::uint32_t count = 0;
  std::array<VertexId, 3> vertices{};  // a path of two edges has as many
  friend auto operator<=>(const SharedImages&, const SharedImages&) = default;
  friend std::size_t hash_value(const SharedImages& images) noexcept {
    std::uint64_t hash = images.count;
    for (const VertexId vertex : images.vertices) hash = (hash ^ vertex) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
  }
};

/// Counts in the states of one batch. It remembers what it has counted, if the shared vertices alone decide it. Not
/// thread-safe.
class CountedTruth {
 public:
  /// `query` and `resolved` must outlive it.
  CountedTruth(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved);

  /// Edges of this time or older are not counted in this state, nor those without a time.
  void age(GraphState state, std::optional<Timestamp> aged) noexcept {
    if (aged_[index_of(state)] == aged) return;
    aged_[index_of(state)] = aged;
    known_[index_of(state)].clear();
  }

  /// Says what the state `lasting` leaves out. It must outlive its use. Nothing else is then asked for.
  void read_lasting(const LastingEdges* edges) noexcept {
    for (PatternSearch& search : searches_) search.read_lasting(edges);
  }

  /// Whether all conditions that count are TRUE. `vertices` and `edges` are in the query's order.
  [[nodiscard]] bool holds(GraphState state, std::span<const VertexId> vertices, std::span<const graph::Edge> edges);
  /// How many matches a pattern has, but at most as many as make a difference.
  [[nodiscard]] std::int64_t count(GraphState state, std::uint32_t pattern, std::span<const VertexId> vertices,
                                   std::span<const graph::Edge> edges);

 private:
  static constexpr std::size_t states = 3;  // those of a batch; a settled graph and what lasts take the first place
  static std::size_t index_of(GraphState state) noexcept {
    return state == GraphState::after ? 2 : state == GraphState::aged ? 1 : 0;
  }
  [[nodiscard]] std::int64_t count_anew(GraphState state, std::uint32_t pattern, std::span<const VertexId> vertices,
                                        std::span<const graph::Edge> edges);

  const plan::BoundQuery* query_;
  std::vector<PatternSearch> searches_;  // by pattern
  std::array<std::optional<Timestamp>, states> aged_;
  std::array<boost::unordered_flat_map<SharedImages, std::int64_t>, states> known_;  // by state
  std::vector<std::uint64_t> few_;                 // different images, if few make a difference
  boost::unordered_flat_set<std::uint64_t> many_;  // otherwise
};

/// The images of the vertices that a pattern shares with the query.
[[nodiscard]] SharedImages shared_images(const plan::BoundQuery& query, std::uint32_t pattern,
                                         std::span<const VertexId> vertices) noexcept;

}  // namespace deltamatch::match
