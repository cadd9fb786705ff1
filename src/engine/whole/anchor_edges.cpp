#include "engine/whole/anchor_edges.hpp"

#include <utility>

namespace deltamatch::engine {

namespace {

constexpr std::size_t first_step = 4096;
constexpr std::size_t most_vertices = std::size_t{1} << 20;
// Parts per thread of the vertices that are gathered at once. Their degrees differ, so one part per thread would not balance.
constexpr std::size_t parts_per_thread = 4;

}  // namespace

AnchorEdges::AnchorEdges(const graph::DataGraph& graph, const match::QueryTask& task, Workers& workers,
                         const match::StopFlag& stop)
    : graph_(&graph),
      workers_(&workers),
      stop_(&stop),
      labels_(graph.vertex_labels.size()),
      relations_(graph.relations().size()),
      edge_labels_(graph.edge_labels.size()),
      step_(first_step),
      parts_(parts_per_thread * workers.size()) {
  const plan::BoundQuery& query = *task.query;
  const std::vector<plan::Plan>& plans = task.plans->plans;
  if (const graph::Resolved& where = graph.resolve(query.edges[plans[0].anchor.edge].query_relation[0]); where.lent) {
    read_lent(where);
    return;
  }
  bool all = false;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const plan::LabelIds& tail = query.labels[plans[p].tail];
    const plan::LabelIds& head = query.labels[plans[p].head];
    const plan::LabelIds& edge = query.edges[plans[p].anchor.edge].labels;
    all = all || (tail.empty() && head.empty() && edge.empty());
    const Plans bit = Plans{1} << p % 64;
    const auto admit = [&](LabelId label, Admitted& into) {
      if (plan::admits(tail, label)) into.as_tail |= bit;
      if (plan::admits(head, label)) into.as_head |= bit;
    };
    for (std::size_t label = 0; label < labels_.size(); ++label) admit(static_cast<LabelId>(label), labels_[label]);
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      const graph::BaseRelation& relation = graph.relations()[static_cast<graph::RelationId>(r)];
      if (plan::admits(edge, relation.edge_label)) admit(relation.neighbour_label, relations_[r]);
    }
    for (std::size_t label = 0; label < edge_labels_.size(); ++label) {
      if (plan::admits(edge, static_cast<LabelId>(label))) edge_labels_[label] |= bit;
    }
  }
  if (all) {
    size_ = graph.edges();
    return;
  }
  std::vector<std::uint64_t> sizes(workers.size());
  workers.for_each(vertices(), grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    if (stop.load(std::memory_order_relaxed)) return;
    std::uint64_t size = 0;
    for (std::size_t v = begin; v < end; ++v) {
      for_each_list(static_cast<VertexId>(v), [&](const EdgeList& list) { size += list.heads.size(); });
    }
    sizes[worker] += size;
  });
  size_ = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

void AnchorEdges::read_lent(const graph::Resolved& where) {
  std::vector<graph::Edge> edges;
  for (VertexId vertex = 0; vertex < where.store->vertices() && !stop_->load(std::memory_order_relaxed); ++vertex) {
    const graph::List list = where.store->list(vertex, where.relation);
    for (std::uint32_t i = 0; i < list.size; ++i) {
      const std::uint32_t tag = where.tagged ? list.tags[i] : graph::entry_tag(where.edge_label, where.incoming);
      const bool incoming = graph_->directed() && (tag & 1u) != 0;
      edges.push_back(incoming ? graph_->ranked(list.ids[i], vertex, tag >> 1) : graph_->ranked(vertex, list.ids[i], tag >> 1));
    }
  }
  if (stop_->load(std::memory_order_relaxed)) edges.clear();  // no edge will be given, so none needs sorting
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  make_room(edges.size());
  std::ranges::copy(edges, buffer_.get());
  size_ = end_ = edges.size();
  next_vertex_ = vertices();
  lent_ = true;
}

std::span<const graph::Edge> AnchorEdges::next(std::size_t wanted) {
  first_ += given_;
  if (graph_->edge_table && !lent_) {
    if (!stop_->load(std::memory_order_relaxed)) gather_slots(wanted);
  } else {
    while (end_ - first_ < wanted && next_vertex_ < vertices() && !stop_->load(std::memory_order_relaxed)) gather(wanted);
  }
  given_ = stop_->load(std::memory_order_relaxed) ? 0 : std::min(wanted, end_ - first_);
  return {buffer_.get() + first_, given_};
}

// Adds the edges of the next slots to the buffer. What a search reads of an edge lies in columns by slot.
void AnchorEdges::gather_slots(std::size_t wanted) {
  const graph::EdgeTable& table = *graph_->edge_table;
  make_room(wanted);
  for (; next_slot_ < table.slots() && end_ - first_ < wanted; ++next_slot_) {
    const auto slot = static_cast<graph::Slot>(next_slot_);
    if (!table.live(slot)) continue;
    const graph::Edge edge{table.tail(slot), table.head(slot), slot};
    if (admits(edge)) buffer_[end_++] = edge;
  }
}

bool AnchorEdges::admits(const graph::Edge& edge) const noexcept {
  const Admitted& tail = labels_[graph_->dictionary.label(edge.tail)];
  const Admitted& head = labels_[graph_->dictionary.label(edge.head)];
  const Plans plans = edge_labels_[graph_->label_of(edge)];
  return (plans & ((tail.as_tail & head.as_head) | (graph_->directed() ? 0 : tail.as_head & head.as_tail))) != 0;
}

// Adds the edges of the next vertices to the buffer.
void AnchorEdges::gather(std::size_t wanted) {
  const std::size_t begin = next_vertex_;
  const std::size_t count = std::min(step_, vertices() - begin);
  const auto bound = [&](std::size_t part) { return begin + count * part / parts_.size(); };
  workers_->for_each(parts_.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      parts_[part].clear();
      for (std::size_t v = bound(part); v < bound(part + 1); ++v) {
        for_each_list(static_cast<VertexId>(v), [&](const EdgeList& list) {
          for (std::size_t i = 0; i < list.heads.size(); ++i) parts_[part].push_back(list.edge(i));
        });
      }
    }
  });
  std::vector<std::size_t> at(parts_.size() + 1);
  for (std::size_t part = 0; part < parts_.size(); ++part) at[part + 1] = at[part] + parts_[part].size();
  const std::size_t found = at.back();
  make_room(found);
  workers_->for_each(parts_.size(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) std::ranges::copy(parts_[part], buffer_.get() + end_ + at[part]);
  });
  end_ += found;
  next_vertex_ += count;
  if (found < wanted / 2) step_ = std::min(2 * step_, most_vertices);
  if (found > 2 * wanted) step_ = std::max(step_ / 2, parts_.size());
}

// Makes room for `more` edges behind those that have not been given.
void AnchorEdges::make_room(std::size_t more) {
  const std::size_t left = end_ - first_;
  if (end_ + more <= capacity_) return;
  if (left + more > capacity_) {
    const std::size_t larger = left + more + (left + more) / 2;
    auto buffer = std::make_unique_for_overwrite<graph::Edge[]>(larger);
    std::copy_n(buffer_.get() + first_, left, buffer.get());
    buffer_ = std::move(buffer);
    capacity_ = larger;
  } else {
    std::copy_n(buffer_.get() + first_, left, buffer_.get());
  }
  first_ = 0;
  end_ = left;
}

}  // namespace deltamatch::engine
