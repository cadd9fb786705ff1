// Turns recorded matches into what a sink takes: external ids, the least match of each class, match ids, and order by id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/result.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "match/pattern_search.hpp"
#include "query/arcs.hpp"
#include "query/fingerprint.hpp"
#include "query/paths.hpp"

namespace deltamatch::engine {

/// A match by dense numbers, in the query's order of vertices and edges.
struct ListedMatch {
  MatchId id;
  std::span<const VertexId> vertices;
  std::span<const graph::Edge> edges;
};

/// Tells in which slot a match lies (deltamatch/share.hpp).
class SlotRule {
 public:
  virtual ~SlotRule() = default;
  [[nodiscard]] virtual std::uint32_t slot_of(const ListedMatch& match) const = 0;
};

/// What it takes to deliver the matches of one query. Made once per query.
class Delivery {
 public:
  /// `paths`: those of a variant.
  explicit Delivery(const plan::BoundQuery& query, std::vector<query::Path> paths = {})
      : Delivery(query, query.query, std::move(paths)) {}
  /// `named` gives the matches their ids. It has the vertices and edges of the query, but may have other conditions.
  Delivery(const plan::BoundQuery& query, const Query& named, std::vector<query::Path> paths);

  /// Translated matches. `vertices` and `edges` hold one run per match, in the query's order.
  struct Batch {
    std::vector<MatchId> ids;          ///< ascending
    std::vector<std::uint32_t> order;  ///< [i]: index of the run that the i-th id belongs to
    std::vector<VertexId> vertices;
    std::vector<graph::Edge> edges;
    MatchDigest digest;

    /// The i-th match by id. The query has `query_vertices` vertices and `query_edges` edges.
    [[nodiscard]] ListedMatch match(std::size_t i, std::size_t query_vertices, std::size_t query_edges) const noexcept {
      return {ids[i], std::span(vertices).subspan(order[i] * query_vertices, query_vertices),
              std::span(edges).subspan(order[i] * query_edges, query_edges)};
    }

    /// Adds a match whose id is the greatest.
    void append(const ListedMatch& match);
    /// Keeps only the first `count` matches by id.
    void keep_first(std::size_t count);
  };

  /// What all matches of one sign have in common.
  struct MatchContext {
    bool added = true;
    std::uint64_t batch = 0;
    std::optional<Timestamp> time;
    std::span<const graph::Edge> changed{};  ///< the changed edges, ascending, that a match's `cause` is taken from
    bool transient = false;                  ///< they appear and vanish in the batch, so they are listed once for both signs
  };

  /// Writes matches to a sink, one by one. Everything it is given must outlive it.
  class Writer {
   public:
    /// `slots` may be null: all lie in slot 0.
    Writer(const Delivery& delivery, const graph::DataGraph& graph, const MatchContext& context, MatchSink& sink,
           const SlotRule* slots = nullptr);
    void write(const ListedMatch& match);

   private:
    const Delivery* delivery_;
    const graph::DataGraph* graph_;
    MatchContext context_;
    MatchSink* sink_;
    const SlotRule* slots_;
    std::vector<Id> vertices_;
    std::vector<MatchedEdge> edges_;
    std::size_t width_;                   // the number of attributes of an edge
    std::vector<AttributeValue> values_;  // by edge of the query, then by attribute
    std::vector<std::uint32_t> cause_;
    std::vector<MatchedPath> paths_;
  };

  /// Translates records. `task.list` must be set. Embeddings are multiplied over the orbits of their plans. The result reserves
  /// no more memory than it fills. Throws Stopped once `stop`, which may be null, is set.
  [[nodiscard]] Batch translate(const graph::DataGraph& graph, const match::QueryTask& task, const match::Records& records,
                                const StopFlag* stop = nullptr) const;

  /// Translates matches that were found as embeddings, each at least once. If subgraphs are counted, those of one class become
  /// one match.
  [[nodiscard]] Batch translate(const graph::DataGraph& graph, const match::FoundMatches& found) const;

  /// Writes the matches to the sink, ordered by id.
  void write(const graph::DataGraph& graph, const Batch& batch, const MatchContext& context, MatchSink& sink) const;

 private:
  void add(const graph::DataGraph& graph, std::span<const VertexId> vertices, std::span<const graph::Edge> edges,
           Batch& batch) const;
  [[nodiscard]] query::Permutation least_image(const graph::DataGraph& graph, std::span<const VertexId> vertices,
                                               std::span<VertexId> image) const;
  [[nodiscard]] MatchId id_of(const graph::DataGraph& graph, std::span<const VertexId> vertices,
                              std::span<const graph::Edge> edges) const;

  const plan::BoundQuery* query_;
  query::Fingerprint fingerprint_;
  query::EdgeAction action_;
  std::vector<query::ArcOrbit> orbits_;
  std::vector<std::uint32_t> edge_order_;
  std::vector<std::string> names_;  // of the vertices that are in no path
  std::vector<query::Path> paths_;
};

/// The edge as it is reported, without its attributes. In undirected data the lesser external id is the source.
[[nodiscard]] MatchedEdge external_edge(const graph::DataGraph& graph, const graph::Edge& edge);

}  // namespace deltamatch::engine
