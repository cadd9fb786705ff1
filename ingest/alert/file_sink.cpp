// JSON lines in a file that is rotated: exactly once, through positions.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "ingest/alert/alert_sinks.hpp"

namespace deltamatch::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t spill_bytes = std::size_t{1} << 20;
constexpr std::size_t number_digits = 6;  // at least

[[noreturn]] void fail(const fs::path& path, const char* what, int code) {
  throw Error(
      path.string(), std::string(what) + ": " + std::generic_category().message(code),
      code == ENOSPC || code == EDQUOT || code == EFBIG ? "free some space" : "check the path, its folder and its permissions");
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

struct Place {
  std::uint64_t number = 0;
  std::uint64_t length = 0;
};

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Place parse_place(std::string_view position, const fs::path& path) {
  const std::size_t colon = position.find(':');
  if (colon != std::string_view::npos) {
    const auto number = parse_number(position.substr(0, colon));
    const auto length = parse_number(position.substr(colon + 1));
    if (number && length) return {*number, *length};
  }
  throw Error(path.string(), "the noted position '" + std::string(position) + "' is none of a file",
              "a sink that was of another kind needs a new name");
}

/// The files of a sink: `path` itself and the numbered ones beside it.
class Series {
 public:
  explicit Series(fs::path path) : path_(std::move(path)) {}

  [[nodiscard]] fs::path folder() const { return path_.has_parent_path() ? path_.parent_path() : fs::path("."); }

  [[nodiscard]] fs::path file(std::uint64_t number) const {
    if (number == 0) return path_;
    std::string digits = std::to_string(number);
    if (digits.size() < number_digits) digits.insert(0, number_digits - digits.size(), '0');
    fs::path name = path_.stem();
    name += '-' + digits;
    name += path_.extension();
    return folder() / name;
  }

  /// The numbers of the files that are there. Throws Error where the folder cannot be read.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::error_code error;
    std::vector<std::uint64_t> found;
    const std::string prefix = path_.stem().string() + '-';
    const std::string suffix = path_.extension().string();
    for (fs::directory_iterator entry(folder(), error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name == path_.filename()) {
        found.push_back(0);
      } else if (name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix)) {
        const auto number =
            parse_number(std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
        if (number && file(*number).filename() == name) found.push_back(*number);
      }
    }
    if (error) fail(folder(), "the folder cannot be read", error.value());
    return found;
  }

  void sync_folder() const {
    const Descriptor descriptor(::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!descriptor || ::fsync(descriptor.get()) != 0) fail(folder(), "the folder cannot be synced", errno);
  }

  /// Opens and locks a file; where it is not there it is made.
  [[nodiscard]] Descriptor open(std::uint64_t number) const {
    Descriptor descriptor(::open(file(number).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor) fail(file(number), "cannot be opened for writing", errno);
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0)
      throw Error(file(number).string(), "another process writes it", "stop the other instance, or give each its own file");
    return descriptor;
  }

  void remove(std::uint64_t number) const {
    const Descriptor locked = open(number);
    if (::unlink(file(number).c_str()) != 0) fail(file(number), "cannot be removed", errno);
  }

 private:
  fs::path path_;
};

std::uint64_t size_of(int descriptor, const fs::path& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) fail(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path.string(), "is no regular file", "give the sink the path of a file");
  return static_cast<std::uint64_t>(status.st_size);
}

class FileSink final : public AlertSink {
 public:
  FileSink(std::string_view name, const fs::path& path, std::uint64_t rotate_bytes, std::size_t keep_files)
      : name_(name), series_(path), rotate_bytes_(rotate_bytes), keep_files_(keep_files) {}
  ~FileSink() override { FileSink::abort(); }

  std::string recover(std::string_view position) override;
  std::string keep(std::string_view position, const std::function<void(std::string_view alert)>& held) override;
  void begin(std::uint64_t batch) override;
  void write(std::string_view id, std::string_view alert) override;
  std::string commit() override;
  void abort() noexcept override;
  [[nodiscard]] bool joins_batches() const noexcept override { return true; }

 private:
  static void read_lines(const fs::path& path, Place& place, const std::function<void(std::string_view alert)>& held);
  void find(std::string_view position, std::span<const std::uint64_t> numbers);
  void must_be_whole() const;
  void cut() const;
  void rotate();
  void spill();
  [[nodiscard]] std::string position() const { return std::to_string(place_.number) + ':' + std::to_string(place_.length); }
  [[nodiscard]] fs::path path() const { return series_.file(place_.number); }

  std::string name_;
  Series series_;
  std::uint64_t rotate_bytes_;
  std::size_t keep_files_;
  Descriptor file_;
  Place place_;                // behind the last committed batch
  std::uint64_t written_ = 0;  // beyond it
  std::string text_;           // beyond that, not written yet
};

std::string FileSink::recover(std::string_view position) {
  file_ = {};
  const std::vector<std::uint64_t> numbers = series_.numbers();
  if (position.empty()) {
    place_ = {};
    for (const std::uint64_t number : numbers) place_.number = std::max(place_.number, number);
    file_ = series_.open(place_.number);
    place_.length = size_of(file_.get(), path());
  } else {
    find(position, numbers);
    cut();
    for (const std::uint64_t number : numbers) {
      if (number > place_.number) series_.remove(number);
    }
  }
  series_.sync_folder();
  return this->position();
}

/// Opens the file of a noted position, which has to be there.
void FileSink::find(std::string_view position, std::span<const std::uint64_t> numbers) {
  place_ = parse_place(position, series_.file(0));
  const bool there = std::ranges::find(numbers, place_.number) != numbers.end();
  // The file may have made room for newer ones before the position in one of them was noted: what is beyond begins there.
  const bool newer = std::ranges::any_of(numbers, [&](std::uint64_t number) { return number > place_.number; });
  if (!there && place_.length != 0 && newer) place_ = {place_.number + 1, 0};
  if (there || place_.length == 0) file_ = series_.open(place_.number);
  must_be_whole();
}

/// Whole lines stay, in whatever files they are; of a line that a crash tore nothing does.
std::string FileSink::keep(std::string_view position, const std::function<void(std::string_view alert)>& held) {
  if (position.empty()) return recover(position);
  file_ = {};
  std::vector<std::uint64_t> numbers = series_.numbers();
  std::ranges::sort(numbers);
  find(position, numbers);
  Place place = place_;
  read_lines(path(), place, held);
  for (const std::uint64_t number : numbers) {
    if (number <= place.number) continue;
    file_ = series_.open(number);
    place = {number, 0};
    read_lines(series_.file(number), place, held);
  }
  place_ = place;
  cut();
  series_.sync_folder();
  return this->position();
}

/// Calls `held` with each whole line behind the place, and moves it behind the last of them.
void FileSink::read_lines(const fs::path& path, Place& place, const std::function<void(std::string_view alert)>& held) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place.length));
  for (std::string line; std::getline(file, line) && !file.eof(); place.length += line.size() + 1) held(line);
  if (file.bad()) fail(path, "cannot be read", errno);
}

/// Alerts that were delivered have to be there still, where they were.
void FileSink::must_be_whole() const {
  struct stat named{};
  struct stat opened{};
  const bool there = file_ && ::stat(path().c_str(), &named) == 0 && ::fstat(file_.get(), &opened) == 0 &&
                     named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
  const std::uint64_t size = there ? size_of(file_.get(), path()) : 0;
  if (there && size >= place_.length) return;
  throw Error(path().string(),
              (there ? "is " + std::to_string(size) + " bytes long, and " : "is gone, and ") + std::to_string(place_.length) +
                  " were delivered to it by sink '" + name_ + "'",
              "put it back; or give the sink another name, under which it begins anew. Rotate files with rotate_bytes only");
}

void FileSink::cut() const {
  if (size_of(file_.get(), path()) == place_.length) return;
  if (::ftruncate(file_.get(), static_cast<off_t>(place_.length)) != 0) fail(path(), "cannot be cut", errno);
}

void FileSink::begin(std::uint64_t) {
  if (!file_) throw Error(path().string(), "the sink was not recovered");
  text_.clear();
  written_ = 0;
  must_be_whole();
  cut();
  if (rotate_bytes_ != 0 && place_.length >= rotate_bytes_) rotate();
}

void FileSink::rotate() {
  const std::uint64_t next = place_.number + 1;
  Descriptor file = series_.open(next);
  if (::ftruncate(file.get(), 0) != 0) fail(series_.file(next), "cannot be emptied", errno);
  series_.sync_folder();
  file_ = std::move(file);
  place_ = {next, 0};
  if (keep_files_ == 0) return;
  for (const std::uint64_t number : series_.numbers()) {
    // What cannot be removed now is tried again with the next file.
    if (number + keep_files_ < next) ::unlink(series_.file(number).c_str());
  }
}

void FileSink::write(std::string_view, std::string_view alert) {
  text_ += alert;
  text_ += '\n';
  if (text_.size() >= spill_bytes) spill();
}

void FileSink::spill() {
  std::string_view left = text_;
  while (!left.empty()) {
    const ssize_t done = ::pwrite(file_.get(), left.data(), left.size(), static_cast<off_t>(place_.length + written_));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path(), "cannot be written", errno);
    written_ += static_cast<std::uint64_t>(done);
    left.remove_prefix(static_cast<std::size_t>(done));
  }
  text_.clear();
}

std::string FileSink::commit() {
  spill();
  if (::fdatasync(file_.get()) != 0) fail(path(), "cannot be synced", errno);
  place_.length += std::exchange(written_, 0);
  return position();
}

void FileSink::abort() noexcept {
  text_.clear();
  // Where this fails, begin() or recover() cuts.
  if (file_ && std::exchange(written_, 0) != 0)
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(place_.length)) == 0);
}

}  // namespace

std::unique_ptr<AlertSink> make_file_sink(std::string_view name, const std::filesystem::path& path, std::uint64_t rotate_bytes,
                                          std::size_t keep_files) {
  return std::make_unique<FileSink>(name, path, rotate_bytes, keep_files);
}

}  // namespace deltamatch::ingest
