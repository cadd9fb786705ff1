// The dynamic data graph: vertices with labels, labelled edges, the lists that matching reads, and one staged batch.
//
// It needs net batches: sorted by rank, inserted edges absent, removed edges present. The life of a batch has three steps.
// - stage does everything that can fail.
// - The states before and after the batch can be read any number of times.
// - settle (cannot fail) applies the batch, or unstage drops it.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/labels.hpp"
#include "base/parallel.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"
#include "graph/adjacency.hpp"
#include "graph/blocks.hpp"
#include "graph/bulk_graph.hpp"
#include "graph/dictionary.hpp"
#include "graph/edge_table.hpp"
#include "graph/relations.hpp"
#include "graph/scatter_sort.hpp"

namespace deltamatch::graph {

/// A data edge; in undirected data tail < head. The order of edges is the rank that makes matching find every match once.
struct Edge {
  VertexId tail;
  VertexId head;
  /// Tells parallel edges apart: the label in a graph of the model `simple`, else the slot (see EdgeTable).
  std::uint32_t which;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// The net effect of a batch. Both lists of edges ascend strictly, and no edge is in both.
struct NetBatch {
  std::vector<Edge> inserted;
  std::vector<Timestamp> inserted_times;  ///< parallel to inserted if the graph is timed, else empty
  std::vector<Edge> removed;
  void clear() noexcept;
};

/// The tag of an entry. It identifies the data edge of the entry. Entries of base relations have tags if edges have slots.
constexpr std::uint32_t entry_tag(std::uint32_t which, bool incoming) noexcept { return which << 1 | (incoming ? 1u : 0u); }

/// The stores that query relations use: the graph's base and derived stores, and one with lists that the caller lent to the
/// graph.
enum class StoreKind : std::uint8_t { base, derived, lent };
inline constexpr std::size_t store_kinds = 3;

/// The place of a query relation's lists. `parallel`: a list may contain a neighbour several times, with different tags.
struct Resolved {
  const Adjacency* store = nullptr;  ///< null: the query relation covers no edges
  RelationId relation = no_relation;
  LabelId edge_label = empty_label;  ///< of all entries, if the relation is a base relation
  bool incoming = false;             ///< of all entries, if the relation is a base relation
  bool derived = false;              ///< entries are in the graph's derived store unless they are lent
  bool parallel = false;
  bool lent = false;    ///< a part of the graph's lists, from DataGraph::lend_query_relation
  bool tagged = false;  ///< entries have tags: in derived relations, and in all if edges have slots

  [[nodiscard]] StoreKind kind() const noexcept {
    return lent ? StoreKind::lent : derived ? StoreKind::derived : StoreKind::base;
  }
};

/// Statistics of the edges with one label.
struct EdgeLabelFigures {
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their lists at both ends, and of their directory entries
};

class DataGraph {
  using HalfEdgeSort = ScatterSort<HalfEdge, HalfEdgeOrder>;
  using HalfEdges = HalfEdgeSort::Items;

 public:
  /// `timed`: edges have times. If the model is not `simple`, they have them anyway.
  DataGraph(bool directed, bool timed, SlabAllocator& slabs = heap_slabs(), Schema schema = {});

  [[nodiscard]] bool directed() const noexcept { return directed_; }
  /// Whether edges from a vertex to itself are kept. Say so before there are any.
  [[nodiscard]] bool keeps_loops() const noexcept { return keeps_loops_; }
  void keep_loops() noexcept { keeps_loops_ = true; }
  [[nodiscard]] bool timed() const noexcept { return base_.column() == Column::time || edge_table; }
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] EdgeModel model() const noexcept { return schema_.model; }
  [[nodiscard]] Edge ranked(VertexId source, VertexId target, std::uint32_t which) const noexcept {
    return directed_ || source < target ? Edge{source, target, which} : Edge{target, source, which};
  }
  [[nodiscard]] LabelId label_of(const Edge& edge) const noexcept {
    return edge_table ? edge_table->label(edge.which) : edge.which;
  }

  Dictionary dictionary;
  LabelTable vertex_labels;
  LabelTable edge_labels;
  SymbolTable symbols;                    ///< texts of attributes
  std::unique_ptr<EdgeTable> edge_table;  ///< null in the model `simple`
  AttributeTable vertex_values;           ///< attributes by vertex

  /// Frees the number of a label, if no vertex, or no settled edge, has the label. Nothing may be staged. For an edge label it
  /// takes O(its relations).
  void give_back_vertex_label(LabelId label) noexcept;
  void give_back_edge_label(LabelId label) noexcept;
  /// Frees the numbers of all such labels. O(labels + relations).
  void give_back_labels() noexcept;

  /// Whether the settled graph contains an edge. O(log of the shorter list).
  [[nodiscard]] bool contains(const Edge& edge) const noexcept;
  /// Calls visit(i, time) for the i-th of `count` edges in turn, which edge(i) returns. The time is that in the settled graph,
  /// or 0 if the graph has no times. Nullopt: the edge is absent. Many searches run side by side.
  template <class EdgeAt, class Visit>
  void find_edges(std::size_t count, EdgeAt&& edge, Visit&& visit) const;
  /// Prefetches the lists that `parallel_edges` searches, for a loop that looks up one edge after another. `at` is the loop's
  /// position, and next(i) is the i-th edge or null. Only the ends of the edges count. It looks up to prefetch_lead edges
  /// ahead.
  static constexpr std::size_t prefetch_lead = 12;
  template <class Next>
  void prefetch_lists_ahead(Next&& next, std::size_t at) const noexcept {
    const auto known = [&](const Edge* edge) { return edge != nullptr && std::max(edge->tail, edge->head) < base_.vertices(); };
    if (const Edge* edge = next(at + prefetch_lead); known(edge)) {
      base_.prefetch(edge->tail);
      base_.prefetch(edge->head);
    }
    if (const Edge* edge = next(at + 8); known(edge)) base_.prefetch_block(shorter_end(*edge));
    if (const Edge* edge = next(at + 4); known(edge)) base_.prefetch_search(shorter_end(*edge));
  }
  /// The time of an edge in the settled, timed graph; nullopt if the edge is absent.
  [[nodiscard]] std::optional<Timestamp> time(const Edge& edge) const noexcept;
  /// Sets the time of an existing edge. Cannot fail.
  void set_time(const Edge& edge, Timestamp time) noexcept;
  /// No edge that leaves the vertex (or with `out` false, enters it) is newer, in both states of a batch. In undirected data
  /// both are the same. Only in graphs whose edges have slots. It never falls, so it may be above all times.
  [[nodiscard]] Timestamp newest(VertexId vertex, bool out) const noexcept { return newest_[vertex][out ? 1 : 0]; }
  [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }
  /// Statistics of the settled graph by edge label. O(relations).
  [[nodiscard]] std::vector<EdgeLabelFigures> edge_label_figures() const;
  /// The number of the vertex's entries in the settled graph; in directed data out and in together.
  [[nodiscard]] std::uint32_t degree(VertexId vertex) const noexcept { return base_.degree(vertex); }
  [[nodiscard]] std::uint32_t degree_after(VertexId vertex) const noexcept { return base_.degree_after(vertex); }
  /// The vertices to which the staged batch, or else the batch that was settled last, leaves no edge.
  [[nodiscard]] std::span<const VertexId> emptied() const noexcept { return base_.emptied(); }
  /// Calls visit(edge, time) for every settled edge of the vertex. Without `all`, only for edges whose tail it is.
  template <class Visit>
  void for_each_edge(VertexId vertex, bool all, Visit&& visit) const;

  /// The tags of all settled edges with these ends, tail first, and this label, in a graph whose edges have slots. Valid until
  /// the next batch is staged.
  [[nodiscard]] std::span<const std::uint32_t> parallel_edges(VertexId tail, VertexId head, LabelId label) const noexcept;

  /// Registers a query relation. Equal ones get the same number. It materialises nothing yet; stage and
  /// resolve_all do.
  QueryRelationId add_query_relation(const QueryRelation& query_relation);
  /// Registers lists that the caller made and keeps until the query relation is dropped. They must hold some of the entries of
  /// `whole`, which must be resolved, with tags if it is derived. The same lists get the same number again. Nothing may be
  /// staged while lent lists are registered. All lists that are lent at one time must be in one store.
  QueryRelationId lend_query_relation(QueryRelationId whole, const Adjacency& store, RelationId relation);
  void drop_query_relation(QueryRelationId query_relation) noexcept;
  /// The place of the query relation's lists, as of the last stage or resolve_all.
  [[nodiscard]] const Resolved& resolve(QueryRelationId query_relation) const noexcept {
    return query_relations_[query_relation].resolved;
  }
  [[nodiscard]] const QueryRelation& query_relation(QueryRelationId query_relation) const noexcept {
    return query_relations_[query_relation].query_relation;
  }
  /// All places, indexed by query relation.
  [[nodiscard]] std::vector<Resolved> resolved() const;
  /// Statistics of a query relation's lists in the settled graph.
  [[nodiscard]] RelationFigures figures(QueryRelationId query_relation) const;
  /// Resolves all query relations against the settled graph.
  void resolve_all();

  /// Stages a batch. Strong guarantee. O(batch log batch + look-ups in lists).
  void stage(const NetBatch& batch, Workers& workers);
  void stage(const NetBatch& batch);
  void unstage() noexcept;
  void settle(Workers& workers) noexcept;
  /// Fills a graph without times, which may have held nothing but labels. The edges have the empty label and join the vertices
  /// 0 to labels.size() - 1. Vertices that have edges get their numbers as ids. If it throws, the graph is unusable.
  void build(std::span<const VertexPair> edges, std::span<const LabelId> labels, Workers& workers);
  /// Fills a graph without times, which may have held nothing but labels and vertices. The edges come in blocks, and no two
  /// blocks have the same three labels. The parts must ascend from vertex 0 without gaps, so vertices of one label have
  /// consecutive numbers. In undirected data their order must put tails below heads. If it throws, the graph is unusable.
  void build(std::span<const LabelPart> parts, std::span<const EdgeBlock> blocks, Workers& workers);

  /// Renumbers vertices by degree, smallest first, in a graph without times in which nothing is staged or lent. If an order of
  /// vertices decides which of several equal matches counts, the lists of smaller vertices become short. Query relations must
  /// be resolved again. May run out of memory; the graph is then unchanged. O(edges log) time, 20 temporary bytes per vertex.
  void renumber_by_degree(Workers& workers);
  /// Whether vertices have been numbered by degree since the last change.
  [[nodiscard]] bool numbered_by_degree() const noexcept { return numbered_by_degree_; }

  [[nodiscard]] const Adjacency& base() const noexcept { return base_; }
  /// Null if no query relation is derived.
  [[nodiscard]] const Adjacency* derived() const noexcept { return derived_.get(); }
  /// The store of the lists that are lent at present, or null. O(query relations).
  [[nodiscard]] const Adjacency* lent() const noexcept;
  /// All stores, by kind; null if there is none of a kind.
  [[nodiscard]] std::array<const Adjacency*, store_kinds> stores() const noexcept { return {&base_, derived(), lent()}; }
  /// The memory of the graph's lists, which lent lists should use too.
  [[nodiscard]] SlabAllocator& slabs() const noexcept { return *slabs_; }
  /// Makes the stores record which vertices change, for mirrors.
  void track_changes() noexcept;
  [[nodiscard]] const BaseRelations& relations() const noexcept { return relations_; }
  [[nodiscard]] std::size_t adjacency_bytes() const noexcept;

 private:
  struct RegisteredQueryRelation {
    QueryRelation query_relation;
    std::uint32_t users = 0;
    RelationId derived = no_relation;  // in derived_, once materialised
    Resolved resolved;
    bool lent = false;
  };

  /// The end whose list is searched for the edge. The rooms of blocks decide, because degrees would be read from the blocks.
  [[nodiscard]] VertexId shorter_end(const Edge& edge) const noexcept {
    return base_.room(edge.tail) <= base_.room(edge.head) ? edge.tail : edge.head;
  }
  /// An entry of the base store, and where it is looked for.
  struct Entry {
    VertexId vertex;
    RelationId relation;
    VertexId neighbour;
  };
  /// The entry of an edge without a slot at its shorter end.
  [[nodiscard]] Entry entry_of(const Edge& edge) const noexcept {
    const bool from_tail = shorter_end(edge) == edge.tail;
    const VertexId neighbour = from_tail ? edge.head : edge.tail;
    return {from_tail ? edge.tail : edge.head,
            relations_.find(direction_of(edge, from_tail), edge.which, dictionary.label(neighbour)), neighbour};
  }
  /// The time in the payload of an entry.
  [[nodiscard]] Timestamp time_in(const std::uint32_t* payload) const noexcept {
    Timestamp time = 0;
    if (base_.column() == Column::time) __builtin_memcpy(&time, payload, sizeof time);
    return time;
  }
  /// The direction of the entry of an edge at its tail, or at its head.
  [[nodiscard]] Direction direction_of(const Edge& edge, bool at_tail) const noexcept {
    if (edge.tail == edge.head) return Direction::loop;
    return !directed_ ? Direction::both : at_tail ? Direction::out : Direction::in;
  }
  /// Makes the sorted half-edges of edges. `relations` then says, by relation, which ones occur.
  void halves_of(std::span<const Edge> edges, std::span<const Timestamp> times, HalfEdges& halves,
                 std::vector<std::uint8_t>& relations, Workers& workers);
  void name_new_relations(std::span<const Edge> edges, HalfEdges& halves, std::vector<std::uint8_t>& relations);
  void join_halves_of_loops(std::span<const Edge> edges, HalfEdges& halves, std::vector<std::uint8_t>& relations);
  void note_times(std::span<const Edge> added);
  void derive(const HalfEdge& half, HalfEdges& out) const;
  void resolve_query_relations(std::span<const std::uint8_t> arriving);
  void materialise(RegisteredQueryRelation& query_relation);
  void drop_derived(RelationId dropped);
  void forget_derived() noexcept;
  [[nodiscard]] std::uint32_t arity(const RegisteredQueryRelation& query_relation, std::span<const std::uint8_t> arriving,
                                    RelationId& only) const noexcept;

  bool directed_;
  bool keeps_loops_ = false;
  Schema schema_;
  SlabAllocator* slabs_;
  Adjacency base_;
  std::unique_ptr<Adjacency> derived_;
  BaseRelations relations_;
  std::vector<RegisteredQueryRelation> query_relations_;
  HugeVector<std::array<Timestamp, 2>> newest_;  // by vertex; only if edges have slots
  std::uint64_t edges_ = 0;
  std::uint64_t staged_edges_ = 0;
  bool tracked_ = false;
  bool numbered_by_degree_ = false;

  HalfEdges added_;
  HalfEdges removed_;
  HalfEdges derived_added_;
  HalfEdges derived_removed_;
  HalfEdgeSort sort_;
  std::vector<std::uint8_t> arriving_;  // by base relation, whether the staged batch adds entries
  std::vector<std::uint8_t> leaving_;   // the same for those that it removes
};

template <class EdgeAt, class Visit>
void DataGraph::find_edges(std::size_t count, EdgeAt&& edge, Visit&& visit) const {
  constexpr std::size_t row_lead = 24;
  constexpr std::size_t block_lead = 12;
  constexpr std::size_t portion = 128;
  if (edge_table) {
    for (std::size_t i = 0; i < std::min(count, row_lead); ++i) edge_table->fetch(edge(i).which);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + row_lead < count) edge_table->fetch(edge(i + row_lead).which);
      visit(i, time(edge(i)));
    }
    return;
  }
  const auto known = [&](const Edge& of) { return std::max(of.tail, of.head) < base_.vertices(); };
  const auto fetch_rows = [&](std::size_t i) {
    if (i >= count || !known(edge(i))) return;
    base_.prefetch(edge(i).tail);
    base_.prefetch(edge(i).head);
  };
  const auto fetch_block = [&](std::size_t i) {
    if (i < count && known(edge(i))) base_.prefetch_block(shorter_end(edge(i)));
  };
  for (std::size_t i = 0; i < row_lead; ++i) fetch_rows(i);
  for (std::size_t i = 0; i < block_lead; ++i) fetch_block(i);
  std::array<const std::uint32_t*, portion> found;
  Adjacency::Finder finder(base_);
  for (std::size_t first = 0; first < count; first += portion) {
    const std::size_t last = std::min(count, first + portion);
    for (std::size_t i = first; i < last; ++i) {
      fetch_rows(i + row_lead);
      fetch_block(i + block_lead);
      const Entry entry = entry_of(edge(i));
      finder.add(entry.vertex, entry.relation, entry.neighbour, found[i - first]);
    }
    finder.finish();
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t* const payload = found[i - first];
      visit(i, payload == nullptr ? std::nullopt : std::optional(time_in(payload)));
    }
  }
}

template <class Visit>
void DataGraph::for_each_edge(VertexId vertex, bool all, Visit&& visit) const {
  if (vertex >= base_.vertices()) return;
  base_.for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* payload) {
    const BaseRelation& base = relations_[relation];
    const bool incoming = base.direction == Direction::in;
    if (incoming && !all) return;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!all && !directed_ && ids[i] < vertex) continue;
      const std::uint32_t which = edge_table ? payload[i] >> 1 : base.edge_label;
      const Edge edge = incoming ? Edge{ids[i], vertex, which} : ranked(vertex, ids[i], which);
      Timestamp time = 0;
      if (edge_table) {
        time = edge_table->time(which).value_or(0);
      } else if (timed()) {
        time = time_in(payload + 2 * i);
      }
      visit(edge, time);
    }
  });
}

}  // namespace deltamatch::graph
