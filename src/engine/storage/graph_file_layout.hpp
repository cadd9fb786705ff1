// The layout of graph files, for their writer and their reader.
// The container is engine/storage/section_file.hpp. Arrays are stored as they lie in memory, little-endian.
//
//   header              the counts below
//   vertex label ends   u64 per label: where its text ends. Labels ascend bytewise and are numbered in this order
//   label parts         LabelEnds per vertex label
//   edge label ends     u64 per label, as for vertices
//   blocks              BlockEntry per block, ascending by (label of the tails, label of the heads, edge label)
//   vertex keys         u64 per vertex: an integer id, or where in `id texts` its text begins. Vertices ascend by (label, id)
//   edge ends           EdgeEnds per edge, block by block, ascending within a block. Undirected: the lower vertex is the tail
//   edge times          i64 per edge, parallel to the ends; empty if edges have no times
//   vertex label texts, edge label texts
//   vertex flags        a byte per vertex
//   id texts            the ids that are texts, in order of vertices: length (u32), bytes
#pragma once

#include <cstdint>

namespace deltamatch::engine::graph_file_layout {

struct Header {
  std::uint32_t flags;
  std::uint32_t unused;  ///< always 0
  std::uint64_t vertex_labels;
  std::uint64_t edge_labels;
  std::uint64_t vertices;
  std::uint64_t blocks;
  std::uint64_t edges;
  std::uint64_t vertex_label_bytes;  ///< of the label texts, as is the next
  std::uint64_t edge_label_bytes;
  std::uint64_t id_bytes;
  std::int64_t watermark;  ///< 0 without its flag
};
static_assert(sizeof(Header) == 80);

inline constexpr std::uint32_t directed_flag = 1;
inline constexpr std::uint32_t timed_flag = 2;
inline constexpr std::uint32_t watermark_flag = 4;
inline constexpr std::uint32_t label_sets_flag = 8;  ///< texts of vertex labels may be several labels

/// Where the vertices with a label end, and the blocks whose tails have it. They begin where those of the previous label end.
struct LabelEnds {
  std::uint64_t vertices;
  std::uint64_t blocks;
};

struct BlockEntry {
  std::uint32_t head_label;
  std::uint32_t edge_label;
  std::uint64_t edges_end;  ///< the block's edges begin where those of the previous block end
};
static_assert(sizeof(BlockEntry) == 16);

inline constexpr std::uint8_t text_flag = 1;
inline constexpr std::uint8_t declared_flag = 2;

}  // namespace deltamatch::engine::graph_file_layout
