// The sections of a snapshot that hold edges, for snapshot.cpp.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "engine/storage/section_file.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// Writes the edges by rank. If they have slots, it first writes which slots are in use, and the edges by slot. `vertices` is
/// one more than the largest dense number in use.
void write_edges(SectionWriter& out, const graph::DataGraph& graph, std::uint64_t vertices);

/// Reads `count` edges, whose labels are below `labels`, into a graph that has labels, symbols and vertices.
void read_edges(SectionReader& in, std::uint64_t count, std::uint64_t labels, graph::DataGraph& graph, Workers& workers);

}  // namespace deltamatch::engine
