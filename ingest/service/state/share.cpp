#include "ingest/service/state/share.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {
namespace {

/// A file that goes when this does.
class Temporary {
 public:
  explicit Temporary(std::filesystem::path path) : path_(std::move(path)) { ::unlink(path_.c_str()); }
  ~Temporary() { ::unlink(path_.c_str()); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr std::chrono::minutes again_after{5};  // a broken snapshot is tried again

std::filesystem::path beside(const std::filesystem::path& file, std::string_view what) {
  std::filesystem::path path = file;
  path += std::string(temporary_infix) + std::string(what);
  return path;
}

}  // namespace

std::string checksum_of(const std::filesystem::path& file, const std::stop_token& stop) {
  const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.open()) fail_on(file, "the file cannot be read", errno);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::string bytes(std::size_t{1} << 20, '\0');
  for (;;) {
    if (stop.stop_requested()) throw Error(file.string(), "reading was ended, because the service stops");
    const ssize_t count = ::read(in.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on(file, "the file cannot be read", errno);
    if (count == 0) break;
    XXH3_128bits_update(state.get(), bytes.data(), static_cast<std::size_t>(count));
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

SnapshotShare::SnapshotShare(std::unique_ptr<SnapshotStore> store, const StateDirectory& directory, std::string application,
                             std::size_t keep, Journal& journal, std::function<Clock::time_point()> now)
    : store_(std::move(store)),
      directory_(&directory),
      application_(std::move(application)),
      keep_(keep),
      journal_(&journal),
      now_(std::move(now)) {}

std::vector<SharedSnapshot> SnapshotShare::list(const std::stop_token& stop) {
  const std::scoped_lock one_at_a_time(calls_);
  return list_unlocked(stop);
}

std::vector<SharedSnapshot> SnapshotShare::list_unlocked(const std::stop_token& stop) {
  std::vector<SharedSnapshot> snapshots;
  const std::string identity = directory_->fingerprint().substr(0, 16);
  for (const std::string& name : store_->list(stop)) {
    std::optional<SharedSnapshot> snapshot = parse_shared_name(name);
    if (!snapshot || snapshot->application != application_) continue;
    if (snapshot->identity == identity) {
      snapshots.push_back(std::move(*snapshot));
    } else {
      refuse(name, "it belongs to another direction, window, list of topics or schema of this application", false);
    }
  }
  std::ranges::sort(snapshots, [](const auto& a, const auto& b) { return a.name() > b.name(); });
  return snapshots;
}

std::string SnapshotShare::publish(const SnapshotFile& snapshot, const std::stop_token& stop, std::uint64_t undelivered_from) {
  const std::scoped_lock one_at_a_time(calls_);
  // A name of its own keeps the file until it is published, whatever becomes of the snapshot's name.
  const Temporary link(beside(snapshot.path, "share"));
  const bool linked = ::link(snapshot.path.c_str(), link.path().c_str()) == 0;
  const std::filesystem::path& file = linked ? link.path() : snapshot.path;
  const CommitPoint mark = StateDirectory::snapshot_mark({snapshot.batch, file});
  SharedSnapshot shared{application_, directory_->fingerprint().substr(0, 16), mark.batch, mark_fingerprint(mark), {}};
  std::vector<SharedSnapshot> there = list_unlocked(stop);
  const auto same = std::ranges::find_if(there, [&](const SharedSnapshot& other) {
    return other.batch == shared.batch && other.mark == shared.mark && !is_broken(other.name());
  });
  if (same != there.end()) {
    shared = *same;
  } else {
    shared.bytes = checksum_of(file, stop);
    store_->put(file, shared.name(), stop);
    there.push_back(shared);
  }
  retain(shared, std::move(there), undelivered_from, stop);
  return shared.name();
}

// A snapshot of a later batch is of a later owner, or of another history. Neither is this owner's to count or to remove.
void SnapshotShare::retain(const SharedSnapshot& published, std::vector<SharedSnapshot> there, std::uint64_t undelivered_from,
                           const std::stop_token& stop) {
  std::erase_if(there, [&](const SharedSnapshot& other) { return other.batch >= published.batch; });
  std::ranges::sort(there, [](const auto& a, const auto& b) { return a.name() > b.name(); });
  const auto needed = published.batch < undelivered_from
                          ? there.end()
                          : std::ranges::find_if(there, [&](const auto& other) { return other.batch < undelivered_from; });
  for (std::size_t i = keep_ - 1; i < there.size(); ++i) {
    if (needed != there.end() && i == static_cast<std::size_t>(needed - there.begin())) continue;
    try {
      if (!store_->remove(there[i].name(), stop)) return;
    } catch (const Error& error) {
      journal_->tell(Level::warn, "shared_snapshot_stays", {{"name", there[i].name()}, {"why", error.what()}});
    }
  }
}

std::optional<SharedSnapshot> SnapshotShare::newest(std::optional<std::uint64_t> after, std::uint64_t up_to,
                                                    const std::function<bool(const SharedSnapshot&)>& is_committed,
                                                    const std::stop_token& stop) {
  for (SharedSnapshot& snapshot : list(stop)) {
    if (after && snapshot.batch <= *after) break;
    if (is_broken(snapshot.name())) continue;
    if (!is_committed(snapshot)) {
      refuse(snapshot.name(), "no commit record of its batch has its mark", false);
    } else if (snapshot.batch <= up_to) {
      return std::move(snapshot);
    }
  }
  return std::nullopt;
}

bool SnapshotShare::fetch(const SharedSnapshot& shared, const std::stop_token& stop) {
  const std::scoped_lock one_at_a_time(calls_);
  const std::filesystem::path path = directory_->snapshot_path(shared.batch);
  const Temporary fetched(beside(path, "fetch"));
  store_->get(shared.name(), fetched.path(), stop);
  try {
    if (checksum_of(fetched.path(), stop) != shared.bytes) throw Error(shared.name(), "its bytes are not those of its name");
    const CommitPoint mark = StateDirectory::snapshot_mark({shared.batch, fetched.path()});
    if (mark_fingerprint(mark) != shared.mark) throw Error(shared.name(), "its mark is not that of its name");
  } catch (const Error& error) {
    if (stop.stop_requested()) throw;
    refuse(shared.name(), error.what(), true);
    return false;
  }
  const FileDescriptor file(::open(fetched.path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open() || ::fsync(file.get()) != 0) fail_on(fetched.path(), "the file cannot be synced", errno);
  if (::rename(fetched.path().c_str(), path.c_str()) != 0) fail_on(path, "the snapshot cannot be put in place", errno);
  sync_folder(directory_->path());
  journal_->tell(Level::info, "snapshot_fetched", {{"name", shared.name()}, {"batch", std::to_string(shared.batch)}});
  return true;
}

void SnapshotShare::refuse(const std::string& name, const std::string& why, bool is_broken) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_broken) broken_[name] = now_() + again_after;
    if (!reported_.insert(name).second) return;
    if (refused_.size() < 20) refused_.push_back(name + ": " + why);
  }
  journal_->tell(Level::warn, "shared_snapshot_refused", {{"name", name}, {"why", why}, {"effect", "it is passed over"}});
}

/// Whether the snapshot was broken a short time ago.
bool SnapshotShare::is_broken(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto broken = broken_.find(name);
  return broken != broken_.end() && now_() < broken->second;
}

std::vector<std::string> SnapshotShare::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

}  // namespace deltamatch::ingest
