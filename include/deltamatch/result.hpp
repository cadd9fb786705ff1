// What a batch did: to the graph, and to the matches of each standing query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query_options.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch {

/// Counts of the updates that changed nothing, by cause.
struct Ignored {
  std::uint64_t duplicate_insert = 0;  ///< the edge existed already
  std::uint64_t absent_delete = 0;     ///< the edge (or vertex) did not exist
  std::uint64_t superseded = 0;  ///< a later update of the edge in the batch replaced it, or a newer one (EventOrder::time)
  std::uint64_t late = 0;        ///< the window, or the longest WITHIN, had already passed the edge's time
  std::uint64_t self_loop = 0;   ///< an insertion or deletion of an edge from a vertex to itself
  Ignored& operator+=(const Ignored& other) noexcept;
};

/// Seconds spent in each step of the batch life cycle.
struct StepSeconds {
  double apply = 0;
  double estimate = 0;  ///< which lists will be read most (if there is a cache to fill), and which plans are cheaper
  double cache = 0;
  double match = 0;
  double settle = 0;
  double anticipate = 0;  ///< look up the ids of the next batch, in parallel with the steps after `apply`
  StepSeconds& operator+=(const StepSeconds& other) noexcept;
};

/// An order-free digest of a set of matches: the sum of their ids modulo 2^128.
struct MatchDigest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  void add(const MatchId& id) noexcept;
  void add_all(const MatchDigest& other) noexcept;
  friend bool operator==(const MatchDigest&, const MatchDigest&) = default;
};

/// The changes that a batch made to the matches of one standing query.
struct QueryDelta {
  QueryId query{};
  Count added = 0;
  Count removed = 0;
  MatchDigest added_digest{};    ///< only if the query lists
  MatchDigest removed_digest{};  ///< only if the query lists
  Count suppressed = 0;          ///< new matches that AlertOnce leaves out; `added` does not count them
  /// limit or timeout: the query exceeded its budget, so `added` and `removed` are lower bounds. The digests then cover the
  /// matches that the sink got.
  Shortfall shortfall = Shortfall::none;
  /// Its share of StepSeconds::match: the time in which threads searched for its matches, and in which these were listed.
  /// - Threads that search for several queries at once share this time out. So all queries together have at most
  ///   StepSeconds::match. What is done once for all of them counts for none.
  /// - A device's time is shared out by the clock cycles that its warps and blocks worked for each query.
  /// - It is wall-clock time, so it depends on the machine.
  double seconds = 0;
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

struct BatchResult {
  std::uint64_t batch = 0;     ///< number of the batch, from 1
  std::size_t consumed = 0;    ///< updates processed, in whole records: all, or those before the record that ended the batch
  bool cut = false;            ///< the batch ended there (BatchOptions::record_by_record); give the rest as the next batch
  std::uint64_t inserted = 0;  ///< edges in the net batch
  std::uint64_t deleted = 0;   ///< edges in the net batch, including expired ones
  std::uint64_t expired = 0;
  /// Insertions of edges that came late: their time lies below the watermark by more than EngineOptions::allowed_lateness.
  /// Patterns with WITHIN may miss matches with them. 0 if no query has WITHIN.
  std::uint64_t out_of_order = 0;
  Ignored ignored{};
  std::vector<Reject> rejects{};      ///< ascending by index
  std::vector<QueryDelta> queries{};  ///< in order of registration
  std::optional<Timestamp> watermark{};
  StepSeconds seconds{};
};

}  // namespace deltamatch
