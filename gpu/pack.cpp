#include "gpu/pack.hpp"

#include <algorithm>
#include <cstring>

namespace deltamatch::gpu {

BlockShape packed_shape(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations) noexcept {
  BlockShape shape;
  shape.version = store.version(vertex);
  shape.tagged = store.column() == graph::Column::tag;
  const graph::Adjacency::Block block = store.block(vertex);
  std::uint32_t begin = 0;
  for (std::uint32_t s = 0; s < block.slices; ++s) {
    const std::uint32_t end = block.words[2 * s + 1];
    if (end != begin && relations.contains(block.words[2 * s])) {
      ++shape.slices;
      shape.entries += end - begin;
    }
    begin = end;
  }
  return shape;
}

void pack_directory(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations,
                    std::uint32_t* words) noexcept {
  std::uint32_t total = 0;
  store.for_each_list(vertex, [&](graph::RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t*) {
    if (ids.empty() || !relations.contains(relation)) return;
    total += static_cast<std::uint32_t>(ids.size());
    *words++ = relation;
    *words++ = total;
  });
}

void pack(const graph::Adjacency& store, VertexId vertex, const RelationSet& relations, const BlockShape& shape,
          std::uint32_t* words) noexcept {
  if (shape.entries == 0) return;
  pack_directory(store, vertex, relations, words);
  std::uint32_t* const ids_begin = words + (std::size_t{2} << shape.directory_log());
  std::uint32_t* const end = words + shape.words();
  std::fill(words + 2 * std::size_t{shape.slices}, ids_begin, 0);
  std::uint32_t* to = ids_begin;
  store.for_each_list(vertex, [&](graph::RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* tags) {
    if (ids.empty() || !relations.contains(relation)) return;
    std::memcpy(to, ids.data(), ids.size_bytes());
    if (shape.tagged) std::memcpy(to + shape.entries, tags, ids.size_bytes());
    to += ids.size();
  });
  std::fill(shape.tagged ? to + shape.entries : to, end, 0);
}

}  // namespace deltamatch::gpu
