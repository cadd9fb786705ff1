// Binary snapshots of a data graph: Engine::save writes them, Engine::restore reads them.
// snapshot.cpp describes the sections, section_file.hpp the container.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "deltamatch/digest.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"
#include "graph/deletions.hpp"

namespace deltamatch::engine {

/// What a snapshot holds besides the graph.
struct SnapshotHeader {
  bool directed = true;
  Timestamp window = 0;  ///< 0: no window, and edges have no times
  std::uint64_t batch = 0;
  std::optional<Timestamp> watermark = std::nullopt;
  std::string annotation = {};  ///< for the caller's use, up to max_annotation bytes
  Schema schema = {};           ///< that of the graph
  Timestamp lateness = 0;       ///< EngineOptions::allowed_lateness
  EventOrder order = EventOrder::arrival;
  SelfLoops self_loops = SelfLoops::leave_out;
  std::optional<RunningDigest> digest = std::nullopt;  ///< nothing if the file's version has none
};

inline constexpr std::size_t max_annotation = std::size_t{1} << 20;

/// Writes a temporary file, syncs it and renames it. So the path holds either the old file or the whole new one. The graph must
/// be settled. The header's schema must be the graph's. `deletions` are stored if the order is by time. Throws Error that names
/// the file.
void write_snapshot(const std::filesystem::path& path, const SnapshotHeader& header, const graph::DataGraph& graph,
                    std::span<const graph::Deletions::Entry> deletions = {});

/// Reads the header. Throws Error if the file is torn, of another version, or no snapshot, or if its header is damaged. The
/// rest is only verified by read_snapshot. O(1).
[[nodiscard]] SnapshotHeader read_snapshot_header(const std::filesystem::path& path);

/// Restores dense ids, labels, vertices and edges into an empty graph that was made as the header says. Edges have times if
/// there is a window. If edges have slots, they get theirs back, and their ordinals. Bytes are used only after their checksum
/// was verified. Remembered deletions are added to `deletions`, unless it is null. Throws Error if the graph is of another
/// kind, or if anything is damaged; then the graph must not be used.
void read_snapshot(const std::filesystem::path& path, graph::DataGraph& graph, Workers& workers,
                   graph::Deletions* deletions = nullptr);

}  // namespace deltamatch::engine
