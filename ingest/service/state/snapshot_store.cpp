#include "ingest/service/state/snapshot_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/command.hpp"
#include "ingest/service/state/files.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t portion = std::size_t{1} << 20;  // bytes between two looks at a stop

/// Copies a file, durably, to a path that is written over.
void copy_file(const std::filesystem::path& from, const std::filesystem::path& to, const std::stop_token& stop) {
  const FileDescriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.open()) fail_on(from, "the file cannot be read", errno);
  const FileDescriptor out(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out.open()) fail_on(to, "the file cannot be created", errno);
  std::string bytes(portion, '\0');
  for (std::uint64_t offset = 0;;) {
    if (stop.stop_requested()) throw Error(to.string(), "the copy was ended, because the service stops");
    const ssize_t count = ::read(in.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on(from, "the file cannot be read", errno);
    if (count == 0) break;
    const std::string_view part(bytes.data(), static_cast<std::size_t>(count));
    if (const int code = write_at(out.get(), part, offset); code != 0) fail_on(to, "the file cannot be written", code);
    offset += part.size();
  }
  if (::fsync(out.get()) != 0) fail_on(to, "the file cannot be synced", errno);
}

class FolderStore final : public SnapshotStore {
 public:
  explicit FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::vector<std::string> list(const std::stop_token&) override {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
      names.push_back(entry->path().filename().string());
    }
    if (error == std::errc::no_such_file_or_directory && std::filesystem::is_directory(folder_of(folder_))) {
      return {};  // nobody has shared anything yet
    }
    if (error) fail_on(folder_, "the shared folder cannot be read", error.value());
    return names;
  }

  void put(const std::filesystem::path& file, const std::string& name, const std::stop_token& stop) override {
    remove_leftovers();
    if (::mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) fail_on(folder_, "the shared folder cannot be made", errno);
    const std::filesystem::path path = folder_ / name;
    const std::filesystem::path temporary = folder_ / ("." + name.substr(0, 200) + std::string(temporary_infix) + unique_);
    try {
      copy_file(file, temporary, stop);
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      const int code = errno;
      ::unlink(temporary.c_str());
      fail_on(path, "the file cannot be put in place", code);
    }
    sync_folder(folder_);
  }

  void get(const std::string& name, const std::filesystem::path& file, const std::stop_token& stop) override {
    copy_file(folder_ / name, file, stop);
  }

  bool remove(const std::string& name, const std::stop_token&) override {
    const std::filesystem::path path = folder_ / name;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_on(path, "the shared snapshot cannot be removed", errno);
    return true;
  }

 private:
  /// Removes what was half-written for longer than any copy takes.
  void remove_leftovers() const {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with('.') || name.find(temporary_infix) == std::string::npos) continue;
      std::error_code gone;
      const auto written = entry->last_write_time(gone);
      if (gone || std::filesystem::file_time_type::clock::now() - written < std::chrono::hours(24)) continue;
      ::unlink(entry->path().c_str());
    }
  }

  std::filesystem::path folder_;
  // Machines may share the folder, and their processes have the same ids.
  std::string unique_ = [] {
    char host[65] = "";
    ::gethostname(host, sizeof host - 1);
    return std::string(host).substr(0, 30) + "-" + std::to_string(::getpid());
  }();
};

class CommandStore final : public SnapshotStore {
 public:
  explicit CommandStore(ShareOptions options) : options_(std::move(options)) {}

  std::vector<std::string> list(const std::stop_token& stop) override {
    const std::string output = run_command(options_.list, options_.timeout, "state.share.list", stop);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < output.size();) {
      const std::size_t begin = output.find_first_not_of(" \t\r\n", at);
      if (begin == std::string::npos) break;
      const std::size_t end = std::min(output.find_first_of(" \t\r\n", begin), output.size());
      const std::string word = output.substr(begin, end - begin);
      words.push_back(word.substr(word.rfind('/') + 1));  // npos + 1 is 0
      at = end;
    }
    return words;
  }

  void put(const std::filesystem::path& file, const std::string& name, const std::stop_token& stop) override {
    static_cast<void>(run_command(filled(options_.put, file, name), options_.timeout, "state.share.put", stop));
  }

  void get(const std::string& name, const std::filesystem::path& file, const std::stop_token& stop) override {
    static_cast<void>(run_command(filled(options_.get, file, name), options_.timeout, "state.share.get", stop));
    if (::access(file.c_str(), R_OK) != 0) {
      throw Error("state.share.get", "the command exited with 0, but there is no file " + file.string(),
                  "let it write to {file}");
    }
  }

  bool remove(const std::string& name, const std::stop_token& stop) override {
    if (options_.remove.empty()) return false;
    static_cast<void>(run_command(filled(options_.remove, {}, name), options_.timeout, "state.share.remove", stop));
    return true;
  }

 private:
  /// The command with the placeholders filled in. What is filled in is not looked at again.
  static std::vector<std::string> filled(const std::vector<std::string>& command, const std::filesystem::path& file,
                                         const std::string& name) {
    std::vector<std::string> full;
    for (const std::string& argument : command) {
      std::string& text = full.emplace_back();
      for (std::size_t at = 0; at < argument.size();) {
        const std::string_view rest = std::string_view(argument).substr(at);
        const bool is_file = rest.starts_with("{file}");
        if (is_file || rest.starts_with("{name}")) {
          text += is_file ? file.string() : name;
          at += 6;
        } else {
          text += argument[at++];
        }
      }
    }
    return full;
  }

  ShareOptions options_;
};

}  // namespace

std::unique_ptr<SnapshotStore> make_folder_store(std::filesystem::path folder) {
  return std::make_unique<FolderStore>(std::move(folder));
}

std::unique_ptr<SnapshotStore> make_command_store(const ShareOptions& options) {
  return std::make_unique<CommandStore>(options);
}

std::unique_ptr<SnapshotStore> make_store(const ShareOptions& options) {
  if (!options.path.empty()) return make_folder_store(options.path);
  return options.put.empty() ? nullptr : make_command_store(options);
}

}  // namespace deltamatch::ingest
