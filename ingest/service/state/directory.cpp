#include "ingest/service/state/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "ingest/service/state/files.hpp"
#include "ingest/service/state/log_segment.hpp"

namespace deltamatch::ingest {
namespace {

constexpr int version = 1;
constexpr std::string_view manifest_name = "state.json";
constexpr std::string_view lock_name = "lock";
constexpr std::string_view prefix = "snapshot-";
constexpr std::string_view suffix = ".dms";
constexpr std::string_view corrupt_suffix = ".corrupt";

nlohmann::json to_object(const StateIdentity& identity) {
  std::vector<std::string> topics = identity.topics;
  std::sort(topics.begin(), topics.end());
  nlohmann::json object = {{"application", identity.application},
                           {"directed", identity.directed},
                           {"window", identity.window},
                           {"topics", std::move(topics)}};
  if (!identity.schema.empty()) object["schema"] = identity.schema;
  if (identity.lateness != 0) object["allowed_lateness"] = identity.lateness;
  return object;
}

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) fail_on(path, "the file cannot be read", errno);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
void for_each_name(const std::filesystem::path& folder, F take) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    take(entry->path(), entry->path().filename().string());
  }
  if (error) fail_on(folder, "the state directory cannot be read", error.value());
}

}  // namespace

void make_folder_of_shards(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    sync_folder(folder_of(folder));
  } else if (errno != EEXIST) {
    fail_on(folder, "the folder of the shards' state cannot be created", errno);
  }
  if (::access((folder / manifest_name).c_str(), F_OK) != 0) return;
  throw Error(ErrorKind::configuration, folder.string(), "this is the state directory of an application without shards",
              "name another state.directory; each shard makes its own in it");
}

void must_not_be_folder_of_shards(const std::filesystem::path& folder) {
  std::error_code none;  // what is missing or cannot be read is told where it is used
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, none)) {
    if (!entry.path().filename().string().starts_with("shard-")) continue;
    if (::access((entry.path() / manifest_name).c_str(), F_OK) != 0) continue;
    throw Error(ErrorKind::configuration, folder.string(), "shards have their state directories in this folder",
                "set shards.count and start with --shard, or name another state.directory");
  }
}

StateDirectory::StateDirectory(std::filesystem::path path, const StateIdentity& identity, Journal& journal)
    : path_(std::move(path)), journal_(&journal) {
  if (::mkdir(path_.c_str(), 0777) == 0) {
    sync_folder(folder_of(path_));
  } else if (errno != EEXIST) {
    fail_on(path_, "the state directory cannot be created", errno);
  }
  lock();
  check_manifest(identity);
  remove_leftovers();
}

StateDirectory::~StateDirectory() = default;

void StateDirectory::lock() {
  const std::filesystem::path path = path_ / lock_name;
  lock_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_.open()) fail_on(path, "the state directory cannot be locked", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail_on(path, "the state directory cannot be locked", errno);
    std::string holder = read_file(path);
    holder = holder.substr(0, holder.find('\n'));
    throw Error(path_.string(), fmt::format("the state directory is in use by process {}", holder.empty() ? "?" : holder),
                "stop that process, or give this service a state directory of its own");
  }
  const std::string holder = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_.get(), 0) != 0) fail_on(path, "the state directory cannot be locked", errno);
  if (const int code = write_at(lock_.get(), holder, 0); code != 0) fail_on(path, "the state directory cannot be locked", code);
}

void StateDirectory::check_manifest(const StateIdentity& identity) {
  const std::filesystem::path path = path_ / manifest_name;
  nlohmann::json object = to_object(identity);
  try {
    fingerprint_ = hash_of(object.dump());
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
      if (!snapshots().empty() || !segments_in(path_).empty()) {
        throw Error(path.string(), "the file is missing, although the directory holds snapshots or a log",
                    "restore the file; or name an empty state directory, and the service rebuilds the state from Kafka");
      }
      object["v"] = version;
      replace_file(path, object.dump() + "\n");
      return;
    }
    const nlohmann::json known = nlohmann::json::parse(read_file(path));
    if (known.at("v").get<int>() != version) {
      throw Error(path.string(),
                  fmt::format("the file has version {}, but this program reads version {}", known.at("v").dump(), version),
                  "use the release that wrote it, or name an empty state directory");
    }
    std::string changes;
    const auto change = [&changes](std::string_view key, const nlohmann::json& was, const nlohmann::json& is) {
      if (was != is) changes += fmt::format("{}{} was {} and is {}", changes.empty() ? "" : ", ", key, was.dump(), is.dump());
    };
    for (const auto& [key, value] : object.items()) {
      if (key != "schema" && key != "allowed_lateness") change(key, known.at(key), value);
    }
    const std::string without = to_text(Schema{});  // earlier versions, and graphs without a schema, say nothing
    change("schema", known.value("schema", without), object.value("schema", without));
    change("allowed_lateness", known.value("allowed_lateness", 0), object.value("allowed_lateness", 0));
    if (!changes.empty()) {
      throw Error(
          ErrorKind::configuration, path_.string(), "the state belongs to another configuration: " + changes,
          "restore these settings; or choose an empty state directory and another application name to start from nothing");
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(path.string(), fmt::format("the file is damaged: {}", error.what()),
                "restore the file, or name an empty state directory");
  }
}

void StateDirectory::remove_leftovers() const {
  for_each_name(path_, [&](const std::filesystem::path& path, const std::string& name) {
    const bool ours = name.starts_with(prefix) || name.starts_with(manifest_name);
    if (!ours || name.find(temporary_infix) == std::string::npos) return;
    if (::unlink(path.c_str()) != 0) fail_on(path, "a leftover of an interrupted process cannot be removed", errno);
    journal_->tell(Level::info, "leftover_removed", {{"file", path.string()}});
  });
}

std::filesystem::path StateDirectory::snapshot_path(std::uint64_t batch) const {
  return path_ / numbered_name(prefix, batch, suffix);
}

std::vector<SnapshotFile> StateDirectory::snapshots() const {
  std::vector<SnapshotFile> snapshots;
  for_each_name(path_, [&](const std::filesystem::path& path, const std::string& name) {
    if (const auto batch = number_in(name, prefix, suffix)) snapshots.push_back({*batch, path});
  });
  std::sort(snapshots.begin(), snapshots.end(), [](const auto& a, const auto& b) { return a.batch > b.batch; });
  return snapshots;
}

CommitPoint StateDirectory::snapshot_mark(const SnapshotFile& snapshot) {
  const std::string where = snapshot.path.string();
  CommitPoint mark = parse_mark(Engine::annotation(snapshot.path), where);
  if (mark.batch != snapshot.batch)
    throw Error(where, fmt::format("the snapshot is of batch {}, but its name says another", mark.batch));
  return mark;
}

void StateDirectory::set_aside(const SnapshotFile& snapshot, const std::string& why) const {
  std::filesystem::path aside = snapshot.path;
  aside += corrupt_suffix;
  journal_->tell(Level::error, "snapshot_set_aside",
                 {{"file", snapshot.path.string()}, {"as", aside.filename().string()}, {"why", why}});
  if (::rename(snapshot.path.c_str(), aside.c_str()) != 0) fail_on(snapshot.path, "the snapshot cannot be set aside", errno);
}

std::optional<std::uint64_t> StateDirectory::retain_snapshots(std::size_t keep, std::uint64_t needed) const {
  std::optional<std::uint64_t> oldest;
  std::size_t sound = 0;
  bool reaches = false;  // whether one of a batch up to `needed` stays
  for (const SnapshotFile& snapshot : snapshots()) {
    if (sound >= std::max<std::size_t>(keep, 1) && (reaches || snapshot.batch > needed)) {
      if (::unlink(snapshot.path.c_str()) != 0) fail_on(snapshot.path, "the snapshot cannot be removed", errno);
      continue;
    }
    try {
      oldest = snapshot_mark(snapshot).batch;
      ++sound;
      reaches = reaches || snapshot.batch <= needed;
    } catch (const Error& error) {
      set_aside(snapshot, error.what());
    }
  }
  return oldest;
}

}  // namespace deltamatch::ingest
