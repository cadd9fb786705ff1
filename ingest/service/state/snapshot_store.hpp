// Where shared snapshots lie: a folder, or an object store behind commands.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Objects with names. Several processes use a store at a time. Members throw Error if the store refuses, cannot be reached, or
/// takes too long, or if `stop` was requested. One thread may call them at a time.
class SnapshotStore {
 public:
  virtual ~SnapshotStore() = default;
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  /// Words that may be names, among others. Half-written objects are not among them, if the store can tell.
  [[nodiscard]] virtual std::vector<std::string> list(const std::stop_token& stop) = 0;
  /// Copies a local file into the store. Replaces an object of that name.
  virtual void put(const std::filesystem::path& file, const std::string& name, const std::stop_token& stop) = 0;
  /// Copies an object to a local file, which is made or replaced. After an error, a part of it may be there.
  virtual void get(const std::string& name, const std::filesystem::path& file, const std::stop_token& stop) = 0;
  /// Removes an object; one that is gone is no error. Returns false if this store removes nothing.
  virtual bool remove(const std::string& name, const std::stop_token& stop) = 0;

 protected:
  SnapshotStore() = default;
};

/// A folder whose files appear whole and durable: they are written under another name and renamed. The folder is made if its
/// parent is there.
[[nodiscard]] std::unique_ptr<SnapshotStore> make_folder_store(std::filesystem::path folder);

/// The commands of `options`.
[[nodiscard]] std::unique_ptr<SnapshotStore> make_command_store(const ShareOptions& options);

/// The one that the options name; null if they name none.
[[nodiscard]] std::unique_ptr<SnapshotStore> make_store(const ShareOptions& options);

}  // namespace deltamatch::ingest
