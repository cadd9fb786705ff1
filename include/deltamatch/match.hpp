// Matches, and the sinks that take them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/id.hpp"

namespace deltamatch {

/// What a match may map to the same thing. isomorphism: vertices and edges distinct; edge_distinct: edges distinct;
/// homomorphism: no restriction.
enum class MatchMode : std::uint8_t { isomorphism, edge_distinct, homomorphism };

/// What is counted: one match per class under the query's automorphism group (isomorphism only), or every embedding.
enum class CountMode : std::uint8_t { subgraphs, embeddings };

/// 128 bits that name a match: xxh128 of the query's fingerprint and the match's vertices and edges by external ids. The same
/// on every backend, for every thread count and after every restart.
struct MatchId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const MatchId&, const MatchId&) = default;
};

/// 32 lower-case hexadecimal digits.
[[nodiscard]] std::string to_string(const MatchId& id);

/// A data edge as a match holds it: as the data states it, or in undirected data with the lesser id as source.
struct MatchedEdge {
  Id source;
  std::string_view label;
  Id target;
};

/// One match of a batch. All views hold until MatchSink::write returns.
struct Match {
  MatchId id;
  std::string_view query;                ///< the query's name
  bool added = true;                     ///< false: the match vanished
  std::uint64_t batch = 0;               ///< number of the batch, from 1; 0 in a static match
  std::optional<Timestamp> time;         ///< the batch's watermark, where the stream bears times
  std::span<const std::string> names;    ///< names of the query vertices
  std::span<const Id> vertices;          ///< what each query vertex is mapped to, in the query's order
  std::span<const MatchedEdge> edges;    ///< what each query edge is mapped to, in the query's order
  std::span<const std::uint32_t> cause;  ///< ascending indices of the edges that this batch inserted or deleted
};

/// What cut an answer short: nothing, or a limit, a time-out, the caller's wish.
enum class Shortfall : std::uint8_t { none, limit, timeout, stopped };

/// The name of a shortfall as outputs spell it; empty for none.
[[nodiscard]] std::string_view shortfall_name(Shortfall shortfall) noexcept;

/// Ends the matches of one query: all that a static match lists, or what a batch in which the query exceeded its budget tells
/// of it. The view holds until MatchSink::end returns.
struct ListingEnd {
  std::string_view query;
  std::uint64_t matches = 0;  ///< written
  Shortfall shortfall = Shortfall::none;
  std::uint64_t batch = 0;  ///< 0 in a static match
};

/// Takes the matches of one batch after the batch's matching has succeeded: begin, write*, commit; or abort in place of
/// commit when a write fails. Matches arrive by query in order of registration, removed before new, then by id. `end` follows
/// those of a query that exceeded its budget (QueryBudget), and of no other.
///
/// A static match hands its matches over while it runs: begin, (write*, flush)*, end, commit. What was written before a flush
/// is final, whatever comes. Within such a portion matches arrive by id; portions come in any order.
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
