// A sink that collects matches as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "ingest/sink/match_form.hpp"
#include "ingest/table/array_builder.hpp"

namespace deltamatch::ingest {

/// Collects matches. A row is a match, in the order in which they come. Its columns are:
/// - sign: `+` if it appeared, `-` if it vanished.
/// - batch: the number of the batch, an int64; 0 of a whole graph.
/// - time: as in files of matches (written_time), an int64 or a timestamp.
/// - query: the query's name. id: 32 hexadecimal digits.
/// - bindings: a struct. A member for each name of a vertex in any query, and for each path a list of the vertices between its
///   steps. It is null if the match's query lacks the name.
/// - edges: a list of structs. `edge` is its name in the query, or e1, e2, …; `step` is its place in a path from 0, or null.
///   Then come `source`, `label` and `target`. If edges have an identity, `key` or `ordinal`, `time` and `attributes` follow.
/// - cause: a list of int32, which of `edges` the batch changed, from 0.
///
/// Ids are int64 if all of them are integers, else texts.
class MatchTable final : public MatchSink {
 public:
  /// What the table's columns depend on, besides the queries.
  struct Form {
    Schema schema{};
    bool timestamps = false;  ///< event times are timestamps; else microseconds as int64
    bool text_ids = false;    ///< ids are texts, also if all of them are integers or there are none
    bool text_keys = false;   ///< the same for keys of edges
  };

  /// `queries` are all whose matches will come.
  MatchTable(const std::vector<Query>& queries, const Form& form);
  ~MatchTable() override;

  /// Takes the matches that were committed. The sink is empty then.
  [[nodiscard]] ArrowTable take();
  /// How many matches can be taken.
  [[nodiscard]] std::uint64_t size() const noexcept;

  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  void end(const ListingEnd& end) override;
  void commit() override;
  void abort() noexcept override;

  /// The query whose listing has ended early since the last take(), with what stopped it.
  struct Incomplete {
    std::string query;
    Shortfall shortfall = Shortfall::none;
  };
  [[nodiscard]] const std::vector<Incomplete>& incomplete() const noexcept { return incomplete_; }

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
  std::vector<Incomplete> incomplete_;
};

}  // namespace deltamatch::ingest
