// The snapshots that the instances of an application share, so that one without the owner's state directory can take over.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/share_name.hpp"
#include "ingest/service/state/snapshot_store.hpp"

namespace deltamatch::ingest {

/// The snapshots of one application and identity in a store. What is shared is never changed, and each name has the checksum of
/// its bytes. So whoever reads one gets all of it, or notices. Several instances may publish at a time.
///
/// A snapshot counts only if the commit record of its batch has the mark that its name tells. So a late snapshot of an earlier
/// owner is as good as any, and one of another history is never used. Any thread may call the members.
class SnapshotShare {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t nothing_waits = std::numeric_limits<std::uint64_t>::max();

  /// The directory and the journal must outlive it. `keep`: as ShareOptions::keep.
  SnapshotShare(std::unique_ptr<SnapshotStore> store, const StateDirectory& directory, std::string application,
                std::size_t keep, Journal& journal, std::function<Clock::time_point()> now = Clock::now);

  /// What is shared, newest batch first. Snapshots of this application with another identity (another direction, window, list
  /// of topics or schema) are left out, and each is reported once. Throws as SnapshotStore does.
  [[nodiscard]] std::vector<SharedSnapshot> list(const std::stop_token& stop);

  /// Publishes a snapshot of a committed batch, unless its batch and mark are already there. Then it removes older snapshots
  /// beyond the `keep` newest up to this batch. The newest before the batch `undelivered_from` stays too: alerts that sinks
  /// wait for can only be made again from there. Returns its name. Throws Error, also as SnapshotStore does. A snapshot that
  /// cannot be removed is only reported.
  std::string publish(const SnapshotFile& snapshot, const std::stop_token& stop,
                      std::uint64_t undelivered_from = nothing_waits);

  /// The newest shared snapshot that `is_committed` accepts, of a batch after `after` (nothing: any) and up to
  /// `up_to`. Those that are not
  /// accepted are reported once. Throws as list() does.
  [[nodiscard]] std::optional<SharedSnapshot> newest(std::optional<std::uint64_t> after, std::uint64_t up_to,
                                                     const std::function<bool(const SharedSnapshot&)>& is_committed,
                                                     const std::stop_token& stop);

  /// Makes the snapshot one of the state directory. Returns false, and reports it, if it is broken: other bytes than its name
  /// tells, or another batch. newest() then leaves it out for a while: a copy
  /// that others see may still be growing. Throws as SnapshotStore does, and if the directory takes nothing.
  [[nodiscard]] bool fetch(const SharedSnapshot& shared, const std::stop_token& stop);

  /// The names that list(), newest() and fetch() left out so far, with the reasons.
  [[nodiscard]] std::vector<std::string> refused() const;

 private:
  [[nodiscard]] std::vector<SharedSnapshot> list_unlocked(const std::stop_token& stop);
  void refuse(const std::string& name, const std::string& why, bool is_broken);
  [[nodiscard]] bool is_broken(const std::string& name);
  void retain(const SharedSnapshot& published, std::vector<SharedSnapshot> there, std::uint64_t undelivered_from,
              const std::stop_token& stop);

  std::unique_ptr<SnapshotStore> store_;
  const StateDirectory* directory_;
  std::string application_;
  std::size_t keep_;
  Journal* journal_;
  std::function<Clock::time_point()> now_;
  std::mutex calls_;  // one call of the store at a time
  mutable std::mutex mutex_;
  std::map<std::string, Clock::time_point> broken_;  // guarded by mutex_: names, and when each may be tried again
  std::vector<std::string> refused_;                 // likewise: "name: why"
  std::set<std::string, std::less<>> reported_;      // likewise: names
};

/// The checksum of a file, 32 hexadecimal digits (XXH3, 128 bits). Throws Error.
[[nodiscard]] std::string checksum_of(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace deltamatch::ingest
