// The state directory of a service. It holds state.json (its identity), lock, snapshot-<batch>.dms and log-<first batch>.dmlog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/id.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {

/// Settings that must not change while a state directory is in use.
struct StateIdentity {
  std::string application;
  bool directed = true;
  Timestamp window = 0;
  std::vector<std::string> topics;  ///< of the input, as configured, in any order
  std::string schema{};             ///< edges and attributes (schema_text); empty: `simple` without attributes
  Timestamp lateness = 0;           ///< EngineOptions::allowed_lateness
};

/// Makes the folder in which each shard has its state directory, if it is missing (its parent must exist). Throws
/// Error(configuration) if it is the state directory of an application without shards, or another Error if it cannot be made.
void make_folder_of_shards(const std::filesystem::path& folder);
/// The reverse, for an application without shards. Throws Error(configuration) if shards have their state directories there.
void must_not_be_folder_of_shards(const std::filesystem::path& folder);

/// A snapshot in the directory. It may be damaged.
struct SnapshotFile {
  std::uint64_t batch = 0;
  std::filesystem::path path;
};

/// Only one process at a time holds it. All members except the constructor are thread-safe.
class StateDirectory {
 public:
  /// Creates the directory if it is missing (its parent must exist), and locks it until destruction. Checks that it belongs to
  /// `identity`, and removes what an interrupted process left half-written. Throws Error in these cases:
  /// - Another process holds it; the message has its id.
  /// - A key of the identity was different; the message names it.
  /// - The state has another version.
  /// - The file system refuses.
  StateDirectory(std::filesystem::path path, const StateIdentity& identity, Journal& journal);
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// 32 hexadecimal digits that identify the application and its settings.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }

  [[nodiscard]] std::filesystem::path snapshot_path(std::uint64_t batch) const;
  /// The snapshots, newest batch first.
  [[nodiscard]] std::vector<SnapshotFile> snapshots() const;
  /// The mark stored in a snapshot. Throws Error if the snapshot's beginning is torn or corrupt, or if its mark belongs to
  /// another batch than its name says.
  [[nodiscard]] static CommitPoint snapshot_mark(const SnapshotFile& snapshot);
  /// Renames an unusable snapshot to *.corrupt and logs that.
  void set_aside(const SnapshotFile& snapshot, const std::string& why) const;
  /// Keeps the `keep` newest snapshots whose beginning is sound, at least one, and removes older ones. Returns the batch of the
  /// oldest that stays; the log is needed from the batch after it. Returns nothing if there is no snapshot. The newest one of a
  /// batch up to `needed` stays, too.
  [[nodiscard]] std::optional<std::uint64_t> retain_snapshots(
      std::size_t keep, std::uint64_t needed = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  void lock();
  void check_manifest(const StateIdentity& identity);
  void remove_leftovers() const;

  std::filesystem::path path_;
  std::string fingerprint_;
  Journal* journal_;
  FileDescriptor lock_;
};

}  // namespace deltamatch::ingest
