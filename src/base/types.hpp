// Dense numbers of vertices and labels. Plain integers, since they fill SIMD registers and GPU arrays.
#pragma once

#include <cstdint>

namespace deltamatch {

/// A vertex by its dense number, below 2^31: the highest bit is free for marks.
using VertexId = std::uint32_t;

/// A vertex or edge label by its dense number; 0 is the empty label.
using LabelId = std::uint32_t;

/// Marks a neighbour as deleted, in place.
inline constexpr VertexId deleted_bit = VertexId{1} << 31;

/// No vertex.
inline constexpr VertexId invalid_vertex = 0xffffffff;

/// How many dense vertex numbers there are: 0 to max_vertices - 1.
inline constexpr VertexId max_vertices = deleted_bit - 1;

inline constexpr LabelId empty_label = 0;

}  // namespace deltamatch
