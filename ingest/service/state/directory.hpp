// The state directory of a service: state.json (what it belongs to), lock, snapshot-<batch>.dms, log-<first batch>.dmlog.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/id.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/files.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// What must stay as it is while a state directory is in use.
struct StateIdentity {
  std::string application;
  bool directed = true;
  Timestamp window = 0;
  std::vector<std::string> topics;  ///< of the input, as configured, in any order
};

/// A snapshot in the directory, which may be sound or not.
struct SnapshotFile {
  std::uint64_t batch = 0;
  std::filesystem::path path;
};

/// Held by one process at a time. Members but the constructor are thread-safe.
class StateDirectory {
 public:
  /// Creates the directory if it is missing (its parent must exist), locks it until destruction, checks that it belongs to
  /// `identity` and removes what an interrupted process left half-written. Throws Error: another process holds it (told by its
  /// id), a key of the identity was another (named), the state is of another version, or the file system refuses.
  StateDirectory(std::filesystem::path path, const StateIdentity& identity, Journal& journal);
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// 32 hexadecimal digits that name the identity.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }

  [[nodiscard]] std::filesystem::path snapshot_path(std::uint64_t batch) const;
  /// By batch, newest first.
  [[nodiscard]] std::vector<SnapshotFile> snapshots() const;
  /// What a snapshot is annotated with. Throws Error where its beginning is torn or corrupt, or its mark is not that of the
  /// batch in its name.
  [[nodiscard]] static Mark snapshot_mark(const SnapshotFile& snapshot);
  /// Renames a snapshot that cannot be used to *.corrupt and tells so.
  void set_aside(const SnapshotFile& snapshot, const std::string& why) const;
  /// Keeps the `keep` newest snapshots whose beginning is sound, at least one, and removes the older ones. Gives the batch of
  /// the oldest that stays: the log is needed from the batch behind it. Empty where there is no snapshot.
  [[nodiscard]] std::optional<std::uint64_t> retain_snapshots(std::size_t keep) const;

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
