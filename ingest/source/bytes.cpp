// Files are read with plain read(2). If a read may have to wait for a peer (a pipe, a terminal), it waits in poll(2). It polls
// the file and an event that cancel() raises, so a reading thread can always be stopped.
#include "ingest/source/bytes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

std::string error_text(int code) { return std::generic_category().message(code); }

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor, bool owned = true) noexcept : descriptor_(descriptor), owned_(owned) {}
  ~Descriptor() {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
  bool owned_;
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : name_(path == "-" ? "stdin" : path),
        file_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC), path != "-"),
        wake_(::eventfd(0, EFD_CLOEXEC)) {
    if (file_.get() < 0) throw Error(name_, "cannot be opened: " + error_text(errno), "check the path and its permissions");
    if (wake_.get() < 0)
      throw Error(name_, "no event descriptor can be created: " + error_text(errno), "raise the limit of open files");
    struct stat status{};
    if (::fstat(file_.get(), &status) != 0) throw Error(name_, "cannot be read: " + error_text(errno));
    if (S_ISDIR(status.st_mode)) throw Error(name_, "is a directory", "name a file");
    if (S_ISREG(status.st_mode)) {
      const off_t start = path == "-" ? std::max<off_t>(0, ::lseek(file_.get(), 0, SEEK_CUR)) : 0;
      total_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - start));
    }
  }

  std::size_t read(std::span<char> buffer) override {
    while (!cancelled_.load(std::memory_order_acquire)) {
      if (!total_ && !wait()) continue;
      const ssize_t got = ::read(file_.get(), buffer.data(), buffer.size());
      if (got >= 0) {
        read_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR && errno != EAGAIN) {
        throw Error(name_, "cannot be read at byte " + std::to_string(bytes_read()) + ": " + error_text(errno),
                    "check the disk and the file's permissions");
      }
    }
    return 0;
  }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return read_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return total_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }

  void cancel() noexcept override {
    cancelled_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    // The write fails only if the counter is at its limit. Then the event is raised already.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  }

 private:
  /// Waits for input. Returns false if cancel() or a signal interrupted it.
  bool wait() noexcept {
    std::array<pollfd, 2> polled{{{file_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    return ::poll(polled.data(), polled.size(), -1) > 0 && polled[1].revents == 0;
  }

  std::string name_;
  Descriptor file_;
  Descriptor wake_;
  std::optional<std::uint64_t> total_;
  std::atomic<std::uint64_t> read_ = 0;
  std::atomic<bool> cancelled_ = false;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    const std::size_t size = cancelled_.load(std::memory_order_acquire) ? 0 : std::min(buffer.size(), bytes_.size() - at);
    if (size != 0) std::memcpy(buffer.data(), bytes_.data() + at, size);
    read_.store(at + size, std::memory_order_relaxed);
    return size;
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return read_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return bytes_.size(); }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void cancel() noexcept override { cancelled_.store(true, std::memory_order_release); }

 private:
  std::string_view bytes_;
  std::string name_;
  std::atomic<std::size_t> read_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) { return std::make_unique<FileSource>(path); }

std::unique_ptr<ByteSource> memory_bytes(std::string_view bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

}  // namespace deltamatch::ingest
