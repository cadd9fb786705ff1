// Binary snapshots of a data graph: what `Engine::save` writes and `Engine::restore` reads. docs/design.md has the layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// What a snapshot says beside the graph.
struct SnapshotHeader {
  bool directed = true;
  Timestamp window = 0;  ///< 0: no window, and edges bear no times
  std::uint64_t batch = 0;
  std::optional<Timestamp> watermark;
};

/// Writes aside, syncs and renames, so that the path holds either the old file or the whole new one. The graph is settled. Throws
/// Error that names the file.
void write_snapshot(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph);

/// The header of a sound snapshot. Throws Error where the file is torn, corrupt, of another version or no snapshot.
[[nodiscard]] SnapshotHeader read_snapshot_header(const std::filesystem::path& path);

/// Restores dense ids, labels, vertices and edges (with times, where there is a window) into an empty graph that was made as the
/// header says. Every checksum is verified before anything of a section is used. Throws Error; the graph is then of no use.
void read_snapshot(const std::filesystem::path& path, graph::DataGraph& graph, Workers& workers);

}  // namespace deltamatch::engine
