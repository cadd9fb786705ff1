// The dynamic data graph: vertices with labels, labelled edges, the lists that matching reads, and one batch staged on top.
//
// Needs net batches: sorted by rank, inserted edges absent, removed edges present. Life of a batch: stage (everything that can
// fail), any number of reads of before and after, then settle (cannot fail) or unstage.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/labels.hpp"
#include "base/parallel.hpp"
#include "deltamatch/id.hpp"
#include "graph/adjacency.hpp"
#include "graph/blocks.hpp"
#include "graph/bulk_graph.hpp"
#include "graph/dictionary.hpp"
#include "graph/relations.hpp"

namespace deltamatch::graph {

/// A data edge; in undirected data tail < head. The order is the rank that makes every match found once.
struct Edge {
  VertexId tail;
  VertexId head;
  LabelId label;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// The net effect of a batch. Both ascend strictly; no edge is in both.
struct NetBatch {
  std::vector<Edge> inserted;
  std::vector<Timestamp> inserted_times;  ///< parallel to inserted where the graph is timed, else empty
  std::vector<Edge> removed;
  void clear() noexcept;
};

/// The tag of an entry in a derived relation: which data edge the entry is.
constexpr std::uint32_t entry_tag(LabelId label, bool incoming) noexcept { return label << 1 | (incoming ? 1u : 0u); }

/// The stores that readings read: the graph's own two, and one of lists that were lent to it.
enum class StoreKind : std::uint8_t { base, derived, lent };
inline constexpr std::size_t store_kinds = 3;

/// Where a reading's lists are. `parallel`: a list may hold a neighbour several times, told apart by tags.
struct Resolved {
  const Adjacency* store = nullptr;  ///< null: no edge is covered
  RelationId relation = no_relation;
  LabelId edge_label = empty_label;  ///< of all entries, where the relation is a base relation
  bool incoming = false;             ///< of all entries, where the relation is a base relation
  bool derived = false;              ///< entries bear tags; in the graph's derived store unless they are lent
  bool parallel = false;
  bool lent = false;  ///< a part of the lists that the graph has: those of DataGraph::lend_reading

  [[nodiscard]] StoreKind kind() const noexcept {
    return lent ? StoreKind::lent : derived ? StoreKind::derived : StoreKind::base;
  }
};

/// What the edges of one label are and take.
struct EdgeLabelFigures {
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their lists at both ends and of the entries in directories
};

class DataGraph {
 public:
  /// `timed`: entries bear the time of their edge.
  DataGraph(bool directed, bool timed, SlabAllocator& slabs = heap_slabs());

  [[nodiscard]] bool directed() const noexcept { return directed_; }
  [[nodiscard]] bool timed() const noexcept { return base_.column() == Column::time; }
  [[nodiscard]] Edge ranked(VertexId source, VertexId target, LabelId label) const noexcept {
    return directed_ || source < target ? Edge{source, target, label} : Edge{target, source, label};
  }

  Dictionary dictionary;
  LabelTable vertex_labels;
  LabelTable edge_labels;

  /// Frees the number of a label that no vertex, or no settled edge, bears. Nothing is staged. The edge label costs O(its
  /// relations).
  void give_back_vertex_label(LabelId label) noexcept;
  void give_back_edge_label(LabelId label) noexcept;
  /// Of all labels. O(labels + relations).
  void give_back_labels() noexcept;

  /// Of the settled graph. O(log of the shorter list).
  [[nodiscard]] bool contains(const Edge& edge) const noexcept;
  /// In a loop that asks for one edge after the other, at position `at`: fetches what comes next, up to prefetch_lead edges
  /// ahead. next(i) is the i-th edge or null.
  static constexpr std::size_t prefetch_lead = 12;
  template <class Next>
  void prefetch_ahead(Next&& next, std::size_t at) const noexcept {
    const auto known = [&](const Edge* edge) { return edge != nullptr && std::max(edge->tail, edge->head) < base_.vertices(); };
    if (const Edge* edge = next(at + prefetch_lead); known(edge)) {
      base_.prefetch(edge->tail);
      base_.prefetch(edge->head);
    }
    if (const Edge* edge = next(at + 8); known(edge)) {
      base_.prefetch_block(shorter_end(*edge));
    }
    if (const Edge* edge = next(at + 4); known(edge)) base_.prefetch_search(shorter_end(*edge));
  }
  /// Of an edge of the settled, timed graph; nullopt where it is absent.
  [[nodiscard]] std::optional<Timestamp> time(const Edge& edge) const noexcept;
  /// Of a live edge; cannot fail.
  void set_time(const Edge& edge, Timestamp time) noexcept;
  [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }
  /// By edge label, of the settled graph. O(relations).
  [[nodiscard]] std::vector<EdgeLabelFigures> edge_label_figures() const;
  /// Entries of the vertex in the settled graph; in directed data out and in together.
  [[nodiscard]] std::uint32_t degree(VertexId vertex) const noexcept { return base_.degree(vertex); }
  [[nodiscard]] std::uint32_t degree_after(VertexId vertex) const noexcept { return base_.degree_after(vertex); }
  /// Calls visit(edge, time) for every settled edge of the vertex (`all`), or only those whose tail it is.
  template <class Visit>
  void for_each_edge(VertexId vertex, bool all, Visit&& visit) const;

  /// Registers what a query edge reads; equal readings share a number. Materialises nothing yet: stage or resolve_all does.
  ReadingId add_reading(const Reading& reading);
  /// Registers lists that the caller has made and keeps until the reading is dropped: some of the entries that `whole`,
  /// resolved before, reads, with its tags where it is derived. Asked for the same lists again, the same number. Nothing is
  /// staged from its first use to its last, and all lists that are lent at a time lie in one store.
  ReadingId lend_reading(ReadingId whole, const Adjacency& store, RelationId relation);
  void drop_reading(ReadingId reading) noexcept;
  /// Where the reading's lists are, as of the last stage or resolve_all.
  [[nodiscard]] const Resolved& resolve(ReadingId reading) const noexcept { return readings_[reading].resolved; }
  [[nodiscard]] const Reading& reading(ReadingId reading) const noexcept { return readings_[reading].reading; }
  /// By reading.
  [[nodiscard]] std::vector<Resolved> resolved() const;
  /// Figures of the lists of a reading in the settled graph.
  [[nodiscard]] RelationFigures figures(ReadingId reading) const;
  /// Resolves all readings against the settled graph.
  void resolve_all();

  /// Strong guarantee. O(batch log batch + lists' look-ups).
  void stage(const NetBatch& batch, Workers& workers);
  void stage(const NetBatch& batch);
  void unstage() noexcept;
  void settle(Workers& workers) noexcept;
  /// Fills a graph without times that has held nothing but labels with edges of the empty label between the vertices
  /// 0 to labels.size() - 1. Those that have edges are known under their numbers. When it throws, the graph is of no use.
  void build(std::span<const VertexPair> edges, std::span<const LabelId> labels, Workers& workers);
  /// Fills a graph without times that has held nothing but labels and vertices with edges in blocks, of which no two are alike
  /// in all labels. Vertices of one label are numbered behind each other: the parts ascend without gaps from vertex 0 on, in
  /// undirected data in an order in which tails are below heads. When it throws, the graph is of no use.
  void build(std::span<const LabelPart> parts, std::span<const EdgeBlock> blocks, Workers& workers);

  /// Numbers vertices by degree, the least first, in a graph without times where nothing is staged or lent: where an order of
  /// vertices tells which of several equal matches counts, the lists below a vertex become short. Readings are to be resolved
  /// again. May fail for want of memory; the graph is then as before. O(edges log) time, 20 bytes a vertex for the while.
  void renumber_by_degree(Workers& workers);
  /// Whether that was done since the last change.
  [[nodiscard]] bool numbered_by_degree() const noexcept { return numbered_by_degree_; }

  [[nodiscard]] const Adjacency& base() const noexcept { return base_; }
  /// Null where no reading is derived.
  [[nodiscard]] const Adjacency* derived() const noexcept { return derived_.get(); }
  /// The store of the lists that are lent at present, or null. O(readings).
  [[nodiscard]] const Adjacency* lent() const noexcept;
  /// By kind; null where there is none.
  [[nodiscard]] std::array<const Adjacency*, store_kinds> stores() const noexcept { return {&base_, derived(), lent()}; }
  /// Where the graph's lists live, and where lists that are to be lent should.
  [[nodiscard]] SlabAllocator& slabs() const noexcept { return *slabs_; }
  /// From now on the stores remember which vertices change, for mirrors.
  void track_changes() noexcept;
  [[nodiscard]] const BaseRelations& relations() const noexcept { return relations_; }
  [[nodiscard]] std::size_t adjacency_bytes() const noexcept;

 private:
  struct RegisteredReading {
    Reading reading;
    std::uint32_t users = 0;
    RelationId derived = no_relation;  // in derived_, once materialised
    Resolved resolved;
    bool lent = false;
  };

  [[nodiscard]] VertexId shorter_end(const Edge& edge) const noexcept {
    return base_.degree(edge.tail) <= base_.degree(edge.head) ? edge.tail : edge.head;
  }
  void halves_of(std::span<const Edge> edges, std::span<const Timestamp> times, std::vector<HalfEdge>& halves);
  void derive(const HalfEdge& half, std::vector<HalfEdge>& out) const;
  void resolve_readings(std::span<const std::uint8_t> arriving);
  void materialise(RegisteredReading& reading);
  void drop_derived(RelationId dropped);
  void forget_derived() noexcept;
  void note_parallels(std::span<const HalfEdge> added);
  [[nodiscard]] std::uint32_t arity(const RegisteredReading& reading, std::span<const std::uint8_t> arriving,
                                    RelationId& only) const noexcept;

  bool directed_;
  SlabAllocator* slabs_;
  Adjacency base_;
  std::unique_ptr<Adjacency> derived_;
  BaseRelations relations_;
  std::vector<RegisteredReading> readings_;
  std::vector<std::uint8_t> derived_parallel_;  // by derived relation
  std::uint64_t edges_ = 0;
  std::uint64_t staged_edges_ = 0;
  bool tracked_ = false;
  bool numbered_by_degree_ = false;

  std::vector<HalfEdge> added_;
  std::vector<HalfEdge> removed_;
  std::vector<HalfEdge> derived_added_;
  std::vector<HalfEdge> derived_removed_;
  std::vector<HalfEdge> spare_;  // that sorting works in
  std::vector<std::uint8_t> arriving_;
};

template <class Visit>
void DataGraph::for_each_edge(VertexId vertex, bool all, Visit&& visit) const {
  if (vertex >= base_.vertices()) return;
  base_.for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* payload) {
    const BaseRelation& base = relations_[relation];
    const bool incoming = base.direction == Direction::in;
    if (incoming && !all) return;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!all && !directed_ && ids[i] < vertex) continue;
      const Edge edge = incoming ? Edge{ids[i], vertex, base.edge_label} : ranked(vertex, ids[i], base.edge_label);
      Timestamp time = 0;
      if (timed()) __builtin_memcpy(&time, payload + 2 * i, sizeof time);
      visit(edge, time);
    }
  });
}

}  // namespace deltamatch::graph
