// Matches, and the sinks that take them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch {

/// Which elements a match must keep distinct. isomorphism: vertices and edges; edge_distinct: edges; homomorphism: none.
enum class MatchMode : std::uint8_t { isomorphism, edge_distinct, homomorphism };

/// What is counted: one match per class under the query's automorphism group (isomorphism only), or every embedding.
enum class CountMode : std::uint8_t { subgraphs, embeddings };

/// A 128-bit id of a match: xxh128 of the query's fingerprint and of the match's vertices and edges by external ids. It is the
/// same on every backend, for every thread count and after every restart.
struct MatchId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const MatchId&, const MatchId&) = default;
};

/// Formats an id as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_string(const MatchId& id);

/// A data edge of a match. In directed data it is as given; in undirected data the smaller id is the source.
struct MatchedEdge {
  Id source{};
  std::string_view label{};
  Id target{};
  /// Its place among all accepted insertions, from 1, in a graph of the model `events`; else 0. It identifies the edge.
  std::uint64_t ordinal = 0;
  std::optional<Id> key{};                       ///< in a graph of the model `keyed`; it identifies the edge
  std::optional<Timestamp> time{};               ///< in a graph whose model is not `simple`
  std::span<const AttributeValue> attributes{};  ///< those of the Schema, in its order; empty if it declares none
};

/// The part of a match that is the image of a path, which is a query edge with a quantifier.
struct MatchedPath {
  std::string_view name{};       ///< of the query edge
  std::uint32_t first_edge = 0;  ///< of its steps, which follow each other in Match::edges
  std::uint32_t steps = 1;
  std::uint32_t first_vertex = 0;  ///< of the `steps - 1` vertices between its steps, in Match::vertices
};

/// One match of a batch. All views are valid until MatchSink::write returns.
struct Match {
  MatchId id{};
  std::string_view query{};              ///< the query's name
  bool added = true;                     ///< false: the match vanished
  std::uint64_t batch = 0;               ///< number of the batch, from 1; 0 in a static match
  std::optional<Timestamp> time{};       ///< the batch's watermark, if the stream has times
  std::span<const std::string> names{};  ///< names of the query vertices
  std::span<const Id> vertices{};        ///< the data vertex of each query vertex, in the query's order; then those of `paths`
  std::span<const MatchedEdge> edges{};  ///< the data edge of each query edge, in the query's order; of a path, all its steps
  std::span<const std::uint32_t> cause{};  ///< ascending indices of the edges that this batch inserted or deleted
  std::span<const MatchedPath> paths{};    ///< in the query's order; empty if it has none
  std::uint32_t slot = 0;                  ///< of the engine's slots (Share); 0 in a static match
};

/// Why an answer is incomplete: not at all, or a limit, a time-out or the caller's request.
enum class Shortfall : std::uint8_t { none, limit, timeout, stopped };

/// The name of a shortfall in outputs; empty for none.
[[nodiscard]] std::string_view shortfall_name(Shortfall shortfall) noexcept;

/// Ends the matches of one query: those of a static match, or those of a batch in which the query exceeded its budget. The view
/// is valid until MatchSink::end returns.
struct ListingEnd {
  std::string_view query{};
  std::uint64_t matches = 0;  ///< number of matches written
  Shortfall shortfall = Shortfall::none;
  std::uint64_t batch = 0;  ///< 0 in a static match
};

/// Receives matches. For a batch, the calls come after its matching has succeeded: begin, write*, commit. If one of them
/// throws, abort follows, and the exception leaves Engine::process, which changes nothing. Matches are ordered by query in
/// order of registration, removed before new, then by id. `end` follows the matches of a query that exceeded its budget
/// (QueryBudget), and of no other.
///
/// A static match writes matches while it runs: begin, (write*, flush)*, end, commit. What was written before a flush is final,
/// even if the run fails later. Matches are ordered by id within such a portion. Portions come in any order.
///
/// A sink may not call the engine that calls it (Engine). It keeps what it wants to do, and its program does that afterwards.
class MatchSink {
 public:
  virtual ~MatchSink() = default;
  virtual void begin(std::uint64_t batch) = 0;
  virtual void write(const Match& match) = 0;
  virtual void flush() {}
  virtual void end(const ListingEnd& /*end*/) {}
  virtual void commit() = 0;
  virtual void abort() noexcept = 0;
};

}  // namespace deltamatch
