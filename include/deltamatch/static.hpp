// Matching a whole graph once: options, progress and result.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/filter.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query_options.hpp"
#include "deltamatch/result.hpp"
#include "deltamatch/statistics.hpp"

namespace deltamatch {

/// How a count of a whole graph is summed. edges: for each data edge, the matches that map one chosen query edge to it.
/// vertices: the same for data vertices and one query vertex. `automatic` takes the one with the lower estimated cost.
enum class CountFrom : std::uint8_t { automatic, edges, vertices };

struct StaticProgress {
  double fraction = 0;             ///< of the work, estimated from list lengths, or of the limit; never decreases
  std::optional<Count> matches{};  ///< so far; nullopt while a count is not summed yet
};

struct StaticOptions {
  QueryOptions query{};
  /// Only induced matches: the match contains every data edge between its vertices, of any label and direction. A match has the
  /// same id whether it was found by induced matching or not.
  bool induced = false;
  Filter filter = Filter::automatic;  ///< does not change the answer
  FilterWithout filter_without{};
  /// Does not change the answer. Listings use edges, and so do queries that cannot be summed from a vertex. If this and the
  /// filter are both automatic, cliques of at least four vertices are counted with a tree of pivots instead. That needs a query
  /// whose vertices are interchangeable, and a graph in which parallel edges do not multiply matches of a clique.
  CountFrom count_from = CountFrom::automatic;
  std::optional<std::uint64_t> limit{};  ///< list at most this many matches (requires query.list)
  /// List in the order of ids, so equal graphs give equal listings. Of a query with paths, each length is a listing of its own.
  /// The matches wait as those of a batch do (Engine::spool), and the sink gets them once all are found. If the run is stopped
  /// or times out, the sink gets a part of them, or none.
  bool in_order = false;
  /// Counted from the call. The run stops within milliseconds of it, except while it makes derived lists for a wildcard or a
  /// simple graph for a clique. (Vertices are numbered by degree only if enough time is left for that.)
  std::optional<std::chrono::nanoseconds> timeout{};
  /// Called every few milliseconds by any thread. True ends the run as a time-out does. Must be thread-safe and must not throw.
  std::function<bool()> stop{};
  /// Called now and then, by one thread at a time. Needs a few passes over the graph's lists beforehand, to compute the
  /// fraction.
  std::function<void(const StaticProgress&)> progress{};
};

struct StaticResult {
  Count matches = 0;  ///< a lower bound if not complete
  MatchDigest digest{};
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
  FilterReport filter{};
  /// The edge labels in the graph that matching reads, ordered by name. Empty if no edge has a label.
  std::vector<EdgeLabelStatistics> edge_labels{};
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

}  // namespace deltamatch
