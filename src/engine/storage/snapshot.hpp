// Binary snapshots of a data graph: what `Engine::save` writes and `Engine::restore` reads. snapshot.cpp has the sections,
// section_file.hpp the container.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// What a snapshot says beside the graph.
struct SnapshotHeader {
  bool directed = true;
  Timestamp window = 0;  ///< 0: no window, and edges bear no times
  std::uint64_t batch = 0;
  std::optional<Timestamp> watermark = std::nullopt;
  std::string annotation = {};  ///< the caller's own, up to max_annotation bytes
};

inline constexpr std::size_t max_annotation = std::size_t{1} << 20;

/// Writes aside, syncs and renames, so that the path holds either the old file or the whole new one. The graph is settled.
/// Throws Error that names the file.
void write_snapshot(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph);

/// The header. Throws Error where the file is torn, of another version or no snapshot, or where its header is damaged; what
/// comes behind the header is for read_snapshot to verify. O(1).
[[nodiscard]] SnapshotHeader read_snapshot_header(const std::filesystem::path& path);

/// Restores dense ids, labels, vertices and edges (with times, where there is a window) into an empty graph that was made as
/// the header says. Bytes are used only after their checksum was verified. Throws Error where anything is damaged; the graph is
/// then of no use.
void read_snapshot(const std::filesystem::path& path, graph::DataGraph& graph, Workers& workers);

}  // namespace deltamatch::engine
