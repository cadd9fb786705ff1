// Writes JSON lines to a rotating file, exactly once by means of positions.
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

#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/file_series.hpp"

namespace deltamatch::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view new_name =
    "restore the file, or give the sink another name to begin anew. Rotate files with rotate_size only";
constexpr std::size_t spill_bytes = std::size_t{1} << 20;

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
  throw Error(path.string(), "the log's position '" + std::string(position) + "' is not one in a file",
              "give the sink a new name, since it was of another type");
}

std::uint64_t size_of(int descriptor, const fs::path& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) fail_file(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path.string(), "is not a regular file", "give the sink the path of a file");
  return static_cast<std::uint64_t>(status.st_size);
}

class FileSink final : public AlertSink {
 public:
  FileSink(std::string_view name, const fs::path& path, std::uint64_t rotate_bytes, std::size_t keep_files)
      : name_(name), series_(path), rotate_bytes_(rotate_bytes), keep_files_(keep_files) {}
  ~FileSink() override { FileSink::abort(); }

  std::string recover(std::string_view position) override;
  std::string keep(std::string_view position, const std::function<bool(std::string_view alert)>& stays) override;
  void begin(std::uint64_t batch) override;
  void write(std::string_view id, std::string_view alert) override;
  std::string commit() override;
  void abort() noexcept override;
  [[nodiscard]] bool joins_batches() const noexcept override { return true; }

 private:
  static bool read_lines(const fs::path& path, Place& place, const std::function<bool(std::string_view alert)>& stays);
  std::string keep_all(std::span<const std::uint64_t> numbers, const std::function<bool(std::string_view alert)>& stays);
  void find(std::string_view position, std::span<const std::uint64_t> numbers);
  void must_be_whole() const;
  [[nodiscard]] bool begins_line() const;
  void end_line();
  void cut() const;
  void rotate();
  void spill();
  [[nodiscard]] std::string position() const { return std::to_string(place_.number) + ':' + std::to_string(place_.length); }
  [[nodiscard]] fs::path path() const { return series_.file(place_.number); }

  std::string name_;
  FileSeries series_;
  std::uint64_t rotate_bytes_;
  std::size_t keep_files_;
  Descriptor file_;
  Place place_;                // after the last committed batch
  std::uint64_t written_ = 0;  // bytes written after place_
  std::string text_;           // text after that, not written yet
};

std::string FileSink::recover(std::string_view position) {
  file_ = {};
  const std::vector<std::uint64_t> numbers = series_.numbers();
  if (position.empty()) {
    place_ = {};
    if (!numbers.empty()) place_.number = numbers.back();
    file_ = series_.open(place_.number);
    place_.length = size_of(file_.get(), path());
    end_line();
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

/// Opens the file of a noted position. It must exist.
void FileSink::find(std::string_view position, std::span<const std::uint64_t> numbers) {
  place_ = parse_place(position, series_.file(0));
  const bool there = series_.has(place_.number);
  // Rotation may have removed this file before a position in a newer one was noted. The uncommitted part then begins in the
  // next file.
  const auto newer = std::ranges::upper_bound(numbers, place_.number);
  if (!there && place_.length != 0 && newer != numbers.end()) place_ = {*newer, 0};
  if (there || place_.length == 0) file_ = series_.open(place_.number);
  must_be_whole();
  if (begins_line()) return;
  throw Error(path().string(),
              "is not the file that sink '" + name_ + "' wrote, since no line ends at byte " + std::to_string(place_.length),
              new_name);
}

/// Keeps complete lines in all files, up to the first line of a batch that was not committed. Removes a line that a crash has
/// torn.
std::string FileSink::keep(std::string_view position, const std::function<bool(std::string_view alert)>& stays) {
  file_ = {};
  const std::vector<std::uint64_t> numbers = series_.numbers();
  if (position.empty()) return keep_all(numbers, stays);
  find(position, numbers);
  Place place = place_;
  bool committed = read_lines(path(), place, stays);
  for (const std::uint64_t number : numbers) {
    if (number <= place.number) continue;
    if (!committed) {  // then newer files are not committed either
      series_.remove(number);
      continue;
    }
    file_ = series_.open(number);
    place = {number, 0};
    committed = read_lines(series_.file(number), place, stays);
  }
  place_ = place;
  cut();
  series_.sync_folder();
  return this->position();
}

/// It is not known which lines are the sink's own, so all stay.
std::string FileSink::keep_all(std::span<const std::uint64_t> numbers,
                               const std::function<bool(std::string_view alert)>& stays) {
  for (std::size_t n = numbers.size(); n-- > 0;) {
    Place place{numbers[n], 0};
    bool any = false;
    read_lines(series_.file(numbers[n]), place, [&](std::string_view alert) {
      stays(alert);
      return any = true;
    });
    if (any) break;  // no batch is split between files
  }
  return recover({});
}

/// Calls `stays` with each complete line after the place. Moves the place behind the last line that stays. Returns false if a
/// line does not stay.
bool FileSink::read_lines(const fs::path& path, Place& place, const std::function<bool(std::string_view alert)>& stays) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place.length));
  for (std::string line; std::getline(file, line) && !file.eof(); place.length += line.size() + 1) {
    if (!stays(line)) return false;
  }
  if (file.bad()) fail_file(path, "cannot be read", errno);
  return true;
}

/// Throws if delivered alerts are missing: the file must still be there with at least the noted length.
void FileSink::must_be_whole() const {
  struct stat named{};
  struct stat opened{};
  const bool there = file_ && ::stat(path().c_str(), &named) == 0 && ::fstat(file_.get(), &opened) == 0 &&
                     named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
  const std::uint64_t size = there ? size_of(file_.get(), path()) : 0;
  if (there && size >= place_.length) return;
  throw Error(path().string(),
              (there ? "is " + std::to_string(size) + " bytes long, but " : "is gone, but ") + std::to_string(place_.length) +
                  " bytes were delivered to it by sink '" + name_ + "'",
              new_name);
}

/// Whether the next write begins a line.
bool FileSink::begins_line() const {
  if (place_.length == 0) return true;
  std::ifstream file(path(), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place_.length - 1));
  const int last = file.get();
  if (last == std::ifstream::traits_type::eof()) fail_file(path(), "cannot be read", errno);
  return last == '\n';
}

/// Ends an incomplete line. It is not removed, because it may be someone else's; our own lines begin on new lines.
void FileSink::end_line() {
  if (begins_line()) return;
  text_ = '\n';
  spill();
  if (::fdatasync(file_.get()) != 0) fail_file(path(), "cannot be synced", errno);
  place_.length += std::exchange(written_, 0);
}

void FileSink::cut() const {
  if (size_of(file_.get(), path()) == place_.length) return;
  if (::ftruncate(file_.get(), static_cast<off_t>(place_.length)) != 0) fail_file(path(), "cannot be truncated", errno);
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
  const std::uint64_t next = series_.begin_behind(place_.number, file_);
  place_ = {next, 0};
  if (keep_files_ == 0) return;
  std::vector<std::uint64_t> numbers = series_.numbers();
  if (numbers.size() <= keep_files_ + 1) return;
  numbers.resize(numbers.size() - keep_files_ - 1);
  // Files that cannot be removed now are tried again with the next rotation.
  for (const std::uint64_t number : numbers) ::unlink(series_.file(number).c_str());
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
    if (done < 0) fail_file(path(), "cannot be written", errno);
    written_ += static_cast<std::uint64_t>(done);
    left.remove_prefix(static_cast<std::size_t>(done));
  }
  text_.clear();
}

std::string FileSink::commit() {
  spill();
  if (::fdatasync(file_.get()) != 0) fail_file(path(), "cannot be synced", errno);
  place_.length += std::exchange(written_, 0);
  return position();
}

void FileSink::abort() noexcept {
  text_.clear();
  // If this fails, begin() or recover() cuts the file.
  if (file_ && std::exchange(written_, 0) != 0)
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(place_.length)) == 0);
}

}  // namespace

std::unique_ptr<AlertSink> make_file_sink(std::string_view name, const std::filesystem::path& path, std::uint64_t rotate_bytes,
                                          std::size_t keep_files) {
  return std::make_unique<FileSink>(name, path, rotate_bytes, keep_files);
}

}  // namespace deltamatch::ingest
