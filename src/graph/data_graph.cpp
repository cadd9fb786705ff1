#include "graph/data_graph.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deltamatch::graph {

namespace {

// Number of half-edges staged at once while a derived relation is built. It bounds the temporary memory.
constexpr std::size_t materialise_chunk = std::size_t{1} << 20;

}  // namespace

void NetBatch::clear() noexcept {
  inserted.clear();
  inserted_times.clear();
  removed.clear();
}

DataGraph::DataGraph(bool directed, bool timed, SlabAllocator& slabs, Schema schema)
    : edge_table(schema.model == EdgeModel::simple ? nullptr : std::make_unique<EdgeTable>(schema, symbols)),
      vertex_values(schema.vertices, symbols),
      directed_(directed),
      schema_(std::move(schema)),
      slabs_(&slabs),
      base_(edge_table ? Column::tag
            : timed    ? Column::time
                       : Column::none,
            slabs) {}

void DataGraph::give_back_vertex_label(LabelId label) noexcept {
  if (label != empty_label && vertex_labels.in_use(label) && dictionary.bearers(label) == 0) vertex_labels.free(label);
}

void DataGraph::give_back_edge_label(LabelId label) noexcept {
  if (label == empty_label || !edge_labels.in_use(label)) return;
  const auto figures = base_.figures();
  const auto holds_edges = [&](RelationId relation) { return relation < figures.size() && figures[relation].entries > 0; };
  if (std::ranges::none_of(relations_.of(label), holds_edges)) edge_labels.free(label);
}

void DataGraph::give_back_labels() noexcept {
  // Goes down from the largest number, so that the table can shrink.
  for (auto label = static_cast<LabelId>(vertex_labels.size()); label-- > 1;) give_back_vertex_label(label);
  for (auto label = static_cast<LabelId>(edge_labels.size()); label-- > 1;) give_back_edge_label(label);
}

bool DataGraph::contains(const Edge& edge) const noexcept {
  if (edge_table) return edge_table->settled(edge.which, edge.tail, edge.head);
  const Entry entry = entry_of(edge);
  return base_.payload(entry.vertex, entry.relation, entry.neighbour) != nullptr;
}

std::span<const std::uint32_t> DataGraph::parallel_edges(VertexId tail, VertexId head, LabelId label) const noexcept {
  if (std::max(tail, head) >= base_.vertices()) return {};
  const bool from_tail = shorter_end({tail, head, 0}) == tail;
  const VertexId neighbour = from_tail ? head : tail;
  const RelationId relation = relations_.find(direction_of({tail, head, 0}, from_tail), label, dictionary.label(neighbour));
  if (relation == no_relation) return {};
  const std::uint32_t* ids = nullptr;
  const std::uint32_t* tags = nullptr;
  std::uint32_t size = 0;
  base_.find(from_tail ? tail : head, relation, ids, tags, size);
  const std::uint32_t* const begin = std::lower_bound(ids, ids + size, neighbour);
  const std::uint32_t* end = begin;
  while (end != ids + size && *end == neighbour) ++end;
  return {tags + (begin - ids), tags + (end - ids)};
}

std::optional<Timestamp> DataGraph::time(const Edge& edge) const noexcept {
  if (edge_table) {
    if (!contains(edge)) return std::nullopt;
    return edge_table->time(edge.which).value_or(0);
  }
  const Entry entry = entry_of(edge);
  const std::uint32_t* const payload = base_.payload(entry.vertex, entry.relation, entry.neighbour);
  return payload == nullptr ? std::nullopt : std::optional(time_in(payload));
}

void DataGraph::set_time(const Edge& edge, Timestamp time) noexcept {
  const auto write = [&](VertexId vertex, Direction direction, VertexId neighbour) {
    const RelationId relation = relations_.find(direction, edge.which, dictionary.label(neighbour));
    std::memcpy(base_.payload(vertex, relation, neighbour), &time, sizeof time);
  };
  write(edge.tail, direction_of(edge, true), edge.head);
  if (edge.tail != edge.head) write(edge.head, direction_of(edge, false), edge.tail);
}

QueryRelationId DataGraph::add_query_relation(const QueryRelation& query_relation) {
  std::size_t free = query_relations_.size();
  for (std::size_t i = 0; i < query_relations_.size(); ++i) {
    if (query_relations_[i].users == 0) {
      free = i;
    } else if (!query_relations_[i].lent && query_relations_[i].query_relation == query_relation) {
      ++query_relations_[i].users;
      return static_cast<QueryRelationId>(i);
    }
  }
  if (free == query_relations_.size()) query_relations_.emplace_back();
  query_relations_[free] = {query_relation, 1, no_relation, {}};
  return static_cast<QueryRelationId>(free);
}

QueryRelationId DataGraph::lend_query_relation(QueryRelationId whole, const Adjacency& store, RelationId relation) {
  std::size_t free = query_relations_.size();
  for (std::size_t i = 0; i < query_relations_.size(); ++i) {
    if (query_relations_[i].users == 0) {
      free = i;
    } else if (query_relations_[i].lent && query_relations_[i].resolved.store == &store &&
               query_relations_[i].resolved.relation == relation) {
      ++query_relations_[i].users;
      return static_cast<QueryRelationId>(i);
    }
  }
  if (free == query_relations_.size()) query_relations_.emplace_back();
  RegisteredQueryRelation& part = query_relations_[free];
  part = query_relations_[whole];
  part.users = 1;
  part.derived = no_relation;
  part.lent = true;
  part.resolved.store = &store;
  part.resolved.relation = relation;
  part.resolved.lent = true;
  return static_cast<QueryRelationId>(free);
}

const Adjacency* DataGraph::lent() const noexcept {
  const auto lent = std::ranges::find_if(query_relations_, [](const RegisteredQueryRelation& query_relation) {
    return query_relation.users > 0 && query_relation.lent;
  });
  return lent == query_relations_.end() ? nullptr : lent->resolved.store;
}

void DataGraph::drop_query_relation(QueryRelationId id) noexcept {
  RegisteredQueryRelation& query_relation = query_relations_[id];
  if (--query_relation.users > 0) return;
  query_relation.resolved = Resolved{};
  if (query_relation.derived == no_relation) return;
  try {
    drop_derived(query_relation.derived);
    query_relation.derived = no_relation;
  } catch (...) {  // no memory to remove its entries; the other relations are built again when they are next resolved
    forget_derived();
  }
}

void DataGraph::forget_derived() noexcept {
  derived_.reset();
  for (RegisteredQueryRelation& query_relation : query_relations_) {
    if (query_relation.derived == no_relation) continue;
    query_relation.derived = no_relation;
    query_relation.resolved = Resolved{};
  }
}

void DataGraph::drop_derived(RelationId dropped) {
  const bool last = std::none_of(query_relations_.begin(), query_relations_.end(), [&](const RegisteredQueryRelation& other) {
    return other.users > 0 && other.derived != no_relation;
  });
  if (last) {
    forget_derived();
    return;
  }
  // The lists of other relations stay. This relation's entries are removed vertex by vertex.
  Workers workers(1);
  std::vector<HalfEdge> leaving;
  const auto flush = [&] {
    derived_->stage({}, leaving);
    derived_->settle(workers);
    leaving.clear();
  };
  for (VertexId vertex = 0; vertex < derived_->vertices(); ++vertex) {
    derived_->for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* tags) {
      if (relation != dropped) return;
      for (std::size_t i = 0; i < ids.size(); ++i) leaving.push_back({vertex, relation, ids[i], tags[i], tags[i]});
    });
    if (leaving.size() >= materialise_chunk) flush();
  }
  flush();
}

std::uint32_t DataGraph::arity(const RegisteredQueryRelation& query_relation, std::span<const std::uint8_t> arriving,
                               RelationId& only) const noexcept {
  const auto figures = base_.figures();
  std::uint32_t covered = 0;
  for (RelationId relation = 0; relation < relations_.size(); ++relation) {
    const bool live = relation < figures.size() && figures[relation].entries > 0;
    if (!live && !(relation < arriving.size() && arriving[relation] != 0)) continue;
    if (!query_relation.query_relation.covers(relations_[relation])) continue;
    only = relation;
    ++covered;
  }
  return covered;
}

void DataGraph::resolve_query_relations(std::span<const std::uint8_t> arriving) {
  for (RegisteredQueryRelation& query_relation : query_relations_) {
    if (query_relation.users == 0 || query_relation.lent) continue;
    if (query_relation.derived == no_relation) {
      RelationId only = no_relation;
      const std::uint32_t covered = arity(query_relation, arriving, only);
      if (covered <= 1) {
        query_relation.resolved = Resolved{};
        if (covered == 1) {
          const BaseRelation& base = relations_[only];
          const bool tagged = edge_table != nullptr;
          query_relation.resolved = {
              &base_, only, base.edge_label, base.direction == Direction::in, false, base_.parallel(only), false, tagged};
        }
        continue;
      }
      materialise(query_relation);
    }
    query_relation.resolved = {derived_.get(), query_relation.derived,
                               empty_label,    false,
                               true,           derived_->parallel(query_relation.derived),
                               false,          true};
  }
}

std::vector<Resolved> DataGraph::resolved() const {
  std::vector<Resolved> all;
  all.reserve(query_relations_.size());
  for (const RegisteredQueryRelation& query_relation : query_relations_) all.push_back(query_relation.resolved);
  return all;
}

void DataGraph::resolve_all() { resolve_query_relations({}); }

void DataGraph::materialise(RegisteredQueryRelation& query_relation) {
  RelationId number = 0;
  while (std::any_of(query_relations_.begin(), query_relations_.end(),
                     [&](const RegisteredQueryRelation& other) { return other.users > 0 && other.derived == number; })) {
    ++number;
  }
  if (!derived_) {
    derived_ = std::make_unique<Adjacency>(Column::tag, *slabs_);
    if (tracked_) derived_->track_changes();
  }
  derived_->reserve_vertices(base_.vertices());
  Workers workers(1);
  HalfEdges arriving;
  const auto flush = [&] {
    sort_.run(arriving, base_.vertices(), workers);
    derived_->stage(arriving, {});
    derived_->settle(workers);
    arriving.clear();
  };
  // If memory runs out half-way, the lists built so far must not count as those of another relation.
  query_relation.derived = number;
  try {
    for (VertexId vertex = 0; vertex < base_.vertices(); ++vertex) {
      base_.for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* tags) {
        const BaseRelation& base = relations_[relation];
        if (!query_relation.query_relation.covers(base)) return;
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const std::uint32_t tag = edge_table ? tags[i] : entry_tag(base.edge_label, base.direction == Direction::in);
          arriving.push_back({vertex, number, ids[i], tag, tag});
        }
      });
      if (arriving.size() >= materialise_chunk) flush();
    }
    flush();
  } catch (...) {
    forget_derived();
    throw;
  }
}

RelationFigures DataGraph::figures(QueryRelationId id) const {
  const RegisteredQueryRelation& query_relation = query_relations_[id];
  if (query_relation.derived != no_relation && query_relation.derived < derived_->figures().size()) {
    return derived_->figures()[query_relation.derived];
  }
  if (query_relation.lent) {
    const auto lent = query_relation.resolved.store->figures();
    return query_relation.resolved.relation < lent.size() ? lent[query_relation.resolved.relation] : RelationFigures{};
  }
  RelationFigures sum;
  const auto figures = base_.figures();
  for (RelationId relation = 0; relation < figures.size(); ++relation) {
    if (!query_relation.query_relation.covers(relations_[relation])) continue;
    sum.entries += figures[relation].entries;
    sum.lists += figures[relation].lists;
    sum.squares += figures[relation].squares;
    sum.longest += figures[relation].longest;
  }
  return sum;
}

void DataGraph::track_changes() noexcept {
  tracked_ = true;
  base_.track_changes();
  if (derived_) derived_->track_changes();
}

std::vector<EdgeLabelFigures> DataGraph::edge_label_figures() const {
  std::vector<EdgeLabelFigures> labels(edge_labels.size());
  const std::span<const RelationFigures> figures = base_.figures();
  for (RelationId relation = 0; relation < figures.size(); ++relation) {
    if (figures[relation].entries == 0) continue;  // its label may have been freed, and have a number beyond the table
    EdgeLabelFigures& label = labels[relations_[relation].edge_label];
    label.edges += figures[relation].entries * (relations_[relation].direction == Direction::loop ? 2 : 1);
    label.bytes += base_.list_bytes(figures[relation]);
  }
  for (EdgeLabelFigures& label : labels) label.edges /= 2;  // there is an entry at each end, and one of a self-loop
  return labels;
}

std::size_t DataGraph::adjacency_bytes() const noexcept {
  const std::size_t halves = added_.capacity() + removed_.capacity() + derived_added_.capacity() + derived_removed_.capacity();
  return base_.bytes() + (derived_ ? derived_->bytes() : 0) + (edge_table ? edge_table->bytes() : 0) +
         halves * sizeof(HalfEdge) + sort_.bytes();
}

}  // namespace deltamatch::graph
