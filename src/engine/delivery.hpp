// From recorded matches to what a sink takes: external ids, the least match of each class, match ids, order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deltamatch/engine.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "query/arcs.hpp"
#include "query/fingerprint.hpp"

namespace deltamatch::engine {

/// What delivering the matches of one query needs; made once per query.
class Delivery {
 public:
  explicit Delivery(const plan::BoundQuery& query);

  /// Matches by external ids: `vertices` and `edges` hold one run per match, in the query's order.
  struct Batch {
    std::vector<MatchId> ids;          ///< ascending
    std::vector<std::uint32_t> order;  ///< [i]: which run the i-th id belongs to
    std::vector<VertexId> vertices;
    std::vector<graph::Edge> edges;
    MatchDigest digest;

    /// Drops all but the first matches by id.
    void keep_first(std::size_t count);

    /// Takes out the matches whose ids are also in the other.
    void drop_common(Batch& other);
  };

  /// Translates records. `task.list` is set; embeddings are multiplied over the orbits of their plans.
  [[nodiscard]] Batch translate(const graph::DataGraph& graph, const match::QueryTask& task,
                                const match::Records& records) const;

  /// Gives the matches to the sink, by id. `changed` is the ascending set of edges that `cause` refers to.
  void write(const graph::DataGraph& graph, const Batch& batch, bool added, std::uint64_t number, std::optional<Timestamp> time,
             std::span<const graph::Edge> changed, MatchSink& sink) const;

 private:
  void add(const graph::DataGraph& graph, std::span<const VertexId> vertices, std::span<const graph::Edge> edges,
           Batch& batch) const;
  [[nodiscard]] MatchId id_of(const graph::DataGraph& graph, std::span<const VertexId> vertices,
                              std::span<const graph::Edge> edges) const;

  const plan::BoundQuery* query_;
  query::Fingerprint fingerprint_;
  query::EdgeAction action_;
  std::vector<query::ArcOrbit> orbits_;
  std::vector<std::uint32_t> edge_order_;
  std::vector<std::string> names_;
};

/// The edge as it is reported: as the data states it, or in undirected data with the lesser external id as source.
[[nodiscard]] MatchedEdge external_edge(const graph::DataGraph& graph, const graph::Edge& edge);

}  // namespace deltamatch::engine
