// The oracle of the whole system: a brute-force matcher, and a brute-force model of what a batch does to a graph.
//
// It is written from the semantics alone, without the library's store, plans and automorphisms. It should be readable in one
// sitting: sets, maps and nested loops. Use it for small graphs (tens of edges) and small queries (up to 8 vertices), because
// it is exponential in both.
//
// If the semantics leave a choice, "Reading:" marks the oracle's choice beside the code.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "deltamatch/engine.hpp"
#include "support/conditions.hpp"
#include "support/paths.hpp"

namespace deltamatch::oracle {

/// An external id that owns its text. Ordered like Id: integers before strings, integers by value, strings by bytes.
using ExternalId = std::variant<std::int64_t, std::string>;

[[nodiscard]] ExternalId own(const Id& id);
[[nodiscard]] Id view(const ExternalId& id);

/// An edge as in the data. In undirected data the smaller id is the source.
struct DataEdge {
  ExternalId source;
  std::string label;
  ExternalId target;
  std::uint64_t ordinal = 0;         ///< among all accepted insertions, in a graph of events; else 0
  std::optional<ExternalId> key{};   ///< in a graph whose edges have keys
  std::optional<Timestamp> time{};   ///< if the model is not `simple`
  std::vector<Stored> attributes{};  ///< as declared
  friend auto operator<=>(const DataEdge&, const DataEdge&) = default;
};

struct DataGraph {
  bool directed = true;
  std::map<ExternalId, std::string> vertices;        ///< with their labels as one text, in order and joined by the byte 0x1f
  std::map<ExternalId, std::vector<Stored>> values;  ///< attributes of vertices that have one which is not NULL
  Schema schema{};
  std::set<DataEdge> edges;

  /// The edge in the form that this graph uses.
  [[nodiscard]] DataEdge edge(const ExternalId& source, const std::string& label, const ExternalId& target) const;
};

/// The images of the query's vertices and edges, in the query's order. Compares by vertices, then by edges, then by lengths.
struct Embedding {
  std::vector<ExternalId> vertices;
  std::vector<DataEdge> edges;
  std::vector<std::uint32_t> lengths{};  ///< of the query's paths; their inner vertices follow those of the query
  friend auto operator<=>(const Embedding&, const Embedding&) = default;
};

using Answer = std::set<Embedding>;

/// What identifies a match: the embedding, whose edges are their keys alone if they have any.
[[nodiscard]] Embedding identity(const Embedding& embedding);

/// The labels that a text joins.
[[nodiscard]] std::set<std::string> labels_of(std::string_view text);
/// The text of labels.
[[nodiscard]] std::string text_of(const std::set<std::string>& labels);

/// The values of a record as the oracle holds them; empty if all are NULL.
[[nodiscard]] std::vector<Stored> own(std::span<const AttributeValue> values);

/// A permutation of the query's vertices that keeps labels, and the matching permutation of its edges.
struct Automorphism {
  std::vector<std::size_t> vertices;
  std::vector<std::size_t> edges;
};

/// All of Aut(Q), by trying every permutation. At most 8 vertices.
[[nodiscard]] std::vector<Automorphism> automorphisms(const Query& query);

/// Thrown if there are more embeddings than the caller's limit.
struct TooMany : std::runtime_error {
  TooMany() : std::runtime_error("more embeddings than the oracle was asked to enumerate") {}
};

/// One query that can be matched against any number of graphs.
class Matcher {
 public:
  /// Throws std::invalid_argument if subgraphs are requested in another mode than isomorphism. `induced`: only embeddings that
  /// include every data edge between their vertices.
  Matcher(Query query, MatchMode mode, CountMode count, bool induced = false);

  /// Every match in the graph: all embeddings, or the smallest embedding of each class under Aut(Q). Throws TooMany beyond
  /// `limit` embeddings, or beyond a hundred times as many partial ones. Throws std::invalid_argument for a directed query edge
  /// over undirected data. `aged`: edges of this time or older, and those without a time, are not counted by conditions.
  [[nodiscard]] Answer match(const DataGraph& graph, std::size_t limit = std::numeric_limits<std::size_t>::max(),
                             std::optional<Timestamp> aged = {}) const;

  [[nodiscard]] const Query& query() const noexcept { return query_; }

 private:
  /// Adds the matches of one choice of lengths.
  void match(const DataGraph& graph, std::size_t variant, std::size_t limit, std::optional<Timestamp> aged,
             Answer& answer) const;

  Query query_;
  MatchMode mode_;
  CountMode count_;
  bool induced_;
  std::vector<Variant> variants_;
  std::vector<std::vector<Automorphism>> symmetries_;  ///< by variant; only if subgraphs are counted
};

/// The effect of a batch on the graph.
struct Outcome {
  std::size_t consumed = 0;
  std::vector<Reject> rejects;
  Ignored ignored;
  std::uint64_t expired = 0;
  std::optional<Timestamp> watermark;
  std::set<DataEdge> deleted;   ///< D, including expired edges
  std::set<DataEdge> inserted;  ///< I
  /// For edges that records deleted or inserted: the running watermark after the first such record, or the last.
  std::map<DataEdge, Timestamp> deleted_at;
  std::map<DataEdge, Timestamp> inserted_at;
};

/// The graph under a stream of batches, with labels, net effect and event time.
class Model {
 public:
  /// `watched`: queries read attributes of vertices, so an edge is deleted and inserted if those of its ends change.
  /// `retained`: if not 0, edges are kept that long for conditions; then there is no window.
  /// `loops`: edges from a vertex to itself are kept.
  explicit Model(bool directed, Timestamp window = 0, const Schema& schema = {}, bool watched = false, Timestamp retained = 0,
                 bool loops = false);

  /// Applies a batch as a whole.
  Outcome apply(std::span<const Update> batch, OnReject on_reject);

  [[nodiscard]] const DataGraph& graph() const noexcept { return graph_; }
  /// The largest insert time of a live edge since its last deletion, or 0 if no time was given.
  [[nodiscard]] Timestamp time(const DataEdge& edge) const { return time_.at(edge); }

 private:
  /// What the batch has done so far to an edge that it names.
  struct Touch {
    std::uint64_t updates = 0;  ///< records that name the edge
    bool insert = false;        ///< whether the last of them inserts
    bool undone = false;        ///< whether the deletion of a vertex then removed the edge again
    bool was_deleted = false;   ///< whether the edge was deleted at some point of the batch
  };
  using Touched = std::map<DataEdge, Touch>;
  /// What the batch has done so far to the edge with a key.
  struct KeyTouch {
    std::uint64_t records = 0;  ///< that name the key and were not counted at once
    bool insert = false;        ///< whether the last of them inserts
    bool undone = false;        ///< whether the edge then vanished with a vertex, or became a self-loop
  };

  [[nodiscard]] bool has_edges(const ExternalId& vertex) const;
  [[nodiscard]] bool conflicts(const ExternalId& vertex, const std::optional<std::string_view>& label) const;
  [[nodiscard]] std::optional<RejectReason> refuse(const Update& update) const;
  [[nodiscard]] bool dead(Timestamp time) const;
  void mention(const ExternalId& vertex, const std::optional<std::string_view>& label);
  void declare(const Update& update);
  void remove(const DataEdge& edge);
  void arrive(const DataEdge& edge);
  [[nodiscard]] std::optional<DataEdge> newest(const DataEdge& like, std::optional<Timestamp> time) const;
  void take(const Update& update, Touched& touched, Outcome& outcome);
  void take_keyed(const Update& update, Outcome& outcome);
  [[nodiscard]] std::optional<DataEdge> with_key(const ExternalId& key) const;
  void count_keys(const DataGraph& before, Outcome& outcome) const;
  std::optional<Reject> take_record(std::span<const Update> batch, std::size_t first, std::size_t last, Touched& touched,
                                    Outcome& outcome);
  void count(const Touched& touched, const DataGraph& before, Outcome& outcome) const;
  void expire(const Touched& touched, const DataGraph& before, Outcome& outcome);
  void forget();

  Timestamp window_;
  EdgeModel edges_;
  bool watched_;
  Timestamp retained_;
  bool loops_;
  std::map<DataEdge, Timestamp> arrived_;   ///< by the batch: the running watermark
  std::map<DataEdge, Timestamp> departed_;  ///< the same
  std::set<DataEdge> late_;
  std::uint64_t insertions_ = 0;
  std::map<ExternalId, KeyTouch> keys_;  ///< that the batch has touched
  DataGraph graph_;
  std::map<DataEdge, Timestamp> time_;
  std::set<ExternalId> declared_;  ///< vertices with a vertex record
  std::optional<Timestamp> watermark_;
  std::optional<Timestamp> watermark_before_;  ///< the batch
  std::optional<Timestamp> running_;           ///< after the record that is being applied
};

[[nodiscard]] std::string to_string(const ExternalId& id);
[[nodiscard]] std::string to_string(const std::vector<Stored>& values);
[[nodiscard]] std::string to_string(const DataEdge& edge);
[[nodiscard]] std::string to_string(const Embedding& embedding);
[[nodiscard]] std::string to_string(const Update& update);

}  // namespace deltamatch::oracle
