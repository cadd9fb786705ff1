// How a batch is processed, and how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "deltamatch/match.hpp"
#include "deltamatch/query_options.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch {

/// Announces the next batch, so that the engine looks up its ids while it matches the current one. Used only if the
/// backend leaves cores idle (BackendCapabilities::frees_cores). Never changes results, whichever batch is announced or comes.
/// The engine calls it from a thread of its own. The call waits until the next batch is known or `stop` is requested. It
/// returns null if there is none; an exception counts as null. The batch must not change until the call of process returns.
using Upcoming = std::function<const UpdateBatch*(const std::stop_token& stop)>;

/// What to do if an update of a record is refused. stop: apply all records before this one and stop there. skip: leave the
/// record out.
enum class OnReject : std::uint8_t { stop, skip };

/// The state of a batch that is being matched.
struct BatchProgress {
  double seconds = 0;  ///< since process was called
  std::optional<QueryId>
      query{};                ///< the query that has taken most of the matching time so far; nullopt before matching begins
  std::uint64_t matches = 0;  ///< a lower bound of those found so far; matches that are summed count once a sum is complete
};

/// How a batch is processed.
struct BatchOptions {
  OnReject on_reject = OnReject::stop;
  MatchSink* sink = nullptr;  ///< gets the matches of listing queries after all matching of the batch has succeeded
  Upcoming upcoming{};
  /// Called at the beginning, between the steps of the batch and every few milliseconds, by any thread. If it returns true, the
  /// batch is abandoned within milliseconds, as if it had never been given. Not called after the sink has committed. Must be
  /// thread-safe and must not throw.
  std::function<bool()> stop{};
  /// Called about ten times a second while a batch is processed, by a thread of the engine's own; so brief batches never call
  /// it. Must not throw. The batch does not end during a call.
  std::function<void(const BatchProgress&)> progress{};
  /// If a query exceeds its budget: whether the sink gets the matches found so far. If not, it gets only the end.
  bool report_partial = true;
  /// In a graph with a window: whether to report the matches that batches of one record each would report. Else the graphs
  /// before and after the batch decide.
  /// - A match of edges that the batch inserts and of edges that expire in it appears and then vanishes, if it has existed.
  /// - The batch may end early (BatchResult::cut). The caller then gives the rest as the next batch; see
  ///   UpdateBatch::drop_first.
  /// - It ends before a record at which an edge expires that the batch inserts, or that inserts an edge again after it has
  ///   expired. A record that names a vertex after it lost its last edge and its label ends it, too.
  /// - It also ends where the watermark has risen by a sixteenth of the least WITHIN of a query that counts.
  /// - This holds without deletions, changes of keyed edges and changes of labels. With those, the net batch decides.
  bool record_by_record = false;
};

}  // namespace deltamatch
