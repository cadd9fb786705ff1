#include "engine/snapshot.hpp"

#include "deltamatch/error.hpp"

namespace deltamatch::engine {

void write_snapshot(const std::filesystem::path& path, const SnapshotHeader&, const graph::DataGraph&) {
  throw Error(path.string(), "snapshots are not there yet");
}
SnapshotHeader read_snapshot_header(const std::filesystem::path& path) {
  throw Error(path.string(), "snapshots are not there yet");
}
void read_snapshot(const std::filesystem::path& path, graph::DataGraph&, Workers&) {
  throw Error(path.string(), "snapshots are not there yet");
}

}  // namespace deltamatch::engine
