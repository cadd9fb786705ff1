// Dense numbers of vertices and labels. They are plain integers because they fill SIMD registers and the arrays of devices.
#pragma once

#include <cstdint>

namespace deltamatch {

/// The dense number of a vertex, below 2^31. The highest bit is free for marks.
using VertexId = std::uint32_t;

/// The dense number of a vertex or edge label; 0 is the empty label.
using LabelId = std::uint32_t;

/// Marks a neighbour in a list as deleted.
inline constexpr VertexId deleted_bit = VertexId{1} << 31;

/// No vertex.
inline constexpr VertexId invalid_vertex = 0xffffffff;

/// The number of possible vertex numbers: 0 to max_vertices - 1.
inline constexpr VertexId max_vertices = deleted_bit - 1;

inline constexpr LabelId empty_label = 0;

}  // namespace deltamatch
