#include "gpu/mirror/pack.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace deltamatch::gpu {

bool RelationSet::has(const Member& member, LabelId owner) noexcept { return std::ranges::binary_search(member.owners, owner); }

void RelationSet::insert(graph::RelationId relation, std::span<const LabelId> owners) {
  if (relation >= members_.size()) members_.resize(std::size_t{relation} + 1);
  Member& member = members_[relation];
  if (owners.empty() || (member.some && member.owners.empty())) {
    member.owners.clear();
  } else {
    std::vector<LabelId> all;
    std::ranges::set_union(member.owners, owners, std::back_inserter(all));
    member.owners = std::move(all);
    by_owner_ = true;
  }
  member.some = true;
}

void RelationSet::insert(const RelationSet& other) {
  for (graph::RelationId relation = 0; relation < other.bound(); ++relation) {
    if (other.contains(relation)) insert(relation, other.members_[relation].owners);
  }
}

bool RelationSet::covers(const RelationSet& other, graph::RelationId relation) const noexcept {
  if (!other.contains(relation)) return true;
  if (!contains(relation)) return false;
  const Member& own = members_[relation];
  const Member& wanted = other.members_[relation];
  return own.owners.empty() || (!wanted.owners.empty() && std::ranges::includes(own.owners, wanted.owners));
}

Reads all_reads(std::span<const graph::Resolved> resolved) {
  Reads reads;
  for (const graph::Resolved& where : resolved) {
    if (where.store != nullptr) reads[static_cast<std::size_t>(where.kind())].insert(where.relation);
  }
  return reads;
}

Reads reads_of(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved) {
  Reads reads;
  bool lent = false;
  std::vector<bool> own(resolved.size());
  for (const match::QueryTask& task : tasks) {
    for (const plan::BoundEdge& edge : task.query->edges) {
      for (unsigned end = 0; end < 2; ++end) {
        const graph::Resolved& where = resolved[edge.query_relation[end]];
        own[edge.query_relation[end]] = true;
        lent = lent || where.lent;
        if (where.store == nullptr) continue;
        const plan::LabelIds& owners = task.query->labels[end == 0 ? edge.source : edge.target];
        reads[static_cast<std::size_t>(where.kind())].insert(where.relation, where.lent ? plan::LabelIds() : owners);
      }
    }
  }
  // Induced matches look at any matched vertex for edges to others.
  for (const match::QueryTask& task : tasks) {
    for (const graph::QueryRelationId query_relation : task.query->any_edge) {
      own[query_relation] = true;
      const graph::Resolved& where = resolved[query_relation];
      if (where.store != nullptr) reads[static_cast<std::size_t>(where.kind())].insert(where.relation);
    }
  }
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    if (!lent && !own[i] && resolved[i].store != nullptr) return all_reads(resolved);
  }
  return reads;
}

BlockShape packed_shape(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner) noexcept {
  BlockShape shape;
  shape.version = store.version(vertex);
  shape.tagged = store.column() == graph::Column::tag;
  const graph::Adjacency::Block block = store.block(vertex);
  std::uint32_t begin = 0;
  for (std::uint32_t s = 0; s < block.slices; ++s) {
    const std::uint32_t end = block.words[2 * s + 1];
    if (end != begin && relations.contains(block.words[2 * s], owner)) {
      ++shape.slices;
      shape.entries += end - begin;
    }
    begin = end;
  }
  return shape;
}

void pack_directory(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner,
                    std::uint32_t* words) noexcept {
  std::uint32_t total = 0;
  store.for_each_list(vertex, [&](graph::RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t*) {
    if (ids.empty() || !relations.contains(relation, owner)) return;
    total += static_cast<std::uint32_t>(ids.size());
    *words++ = relation;
    *words++ = total;
  });
}

void pack(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, LabelId owner, const BlockShape& shape,
          std::uint32_t* words) noexcept {
  if (shape.entries == 0) return;
  pack_directory(store, vertex, relations, owner, words);
  std::uint32_t* const ids_begin = words + (std::size_t{2} << shape.directory_log());
  std::uint32_t* const end = words + shape.words();
  std::fill(words + 2 * std::size_t{shape.slices}, ids_begin, 0);
  std::uint32_t* to = ids_begin;
  store.for_each_list(vertex, [&](graph::RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* tags) {
    if (ids.empty() || !relations.contains(relation, owner)) return;
    std::memcpy(to, ids.data(), ids.size_bytes());
    if (shape.tagged) std::memcpy(to + shape.entries, tags, ids.size_bytes());
    to += ids.size();
  });
  std::fill(shape.tagged ? to + shape.entries : to, end, 0);
}

}  // namespace deltamatch::gpu
