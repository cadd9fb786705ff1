#include "ingest/service/alert/file_series.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t number_digits = 6;  // minimum

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::none) fail_file(path, "cannot be examined", error.value());
  return fs::exists(status);
}

}  // namespace

void fail_file(const fs::path& path, const char* what, int code) {
  throw Error(
      path.string(), std::string(what) + ": " + std::generic_category().message(code),
      code == ENOSPC || code == EDQUOT || code == EFBIG ? "free some space" : "check the path, its folder and its permissions");
}

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

fs::path FileSeries::folder() const { return path_.has_parent_path() ? path_.parent_path() : fs::path("."); }

fs::path FileSeries::file(std::uint64_t number) const {
  if (number == 0) return path_;
  std::string digits = std::to_string(number);
  if (digits.size() < number_digits) digits.insert(0, number_digits - digits.size(), '0');
  fs::path name = path_.stem();
  name += '-' + digits;
  name += path_.extension();
  return folder() / name;
}

fs::path FileSeries::list() const {
  fs::path list = path_;
  list += ".series";
  return list;
}

bool FileSeries::may_name(const fs::path& other) const {
  std::error_code error;
  const fs::path theirs = fs::weakly_canonical(fs::absolute(other, error), error);
  const fs::path ours = fs::weakly_canonical(fs::absolute(path_, error), error);
  if (theirs.parent_path() != ours.parent_path()) return false;
  const std::string name = theirs.filename();
  const std::string prefix = ours.stem().string() + '-';
  const std::string suffix = ours.extension();
  if (name == ours.filename() || name == list().filename()) return true;
  if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  const auto number = parse_number(std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  return number && *number != 0 && file(*number).filename() == name;
}

std::vector<std::uint64_t> FileSeries::listed() const {
  std::vector<std::uint64_t> numbers{0};
  if (!is_there(list())) return numbers;
  std::ifstream file(list());
  for (std::string line; std::getline(file, line);) {
    const auto number = parse_number(line);
    if (!number) throw Error(list().string(), "is not a list of the sink's files", "restore it, or remove it");
    numbers.push_back(*number);
  }
  if (!file.eof()) fail_file(list(), "cannot be read", errno);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void FileSeries::write_list(const std::vector<std::uint64_t>& numbers) const {
  std::string text;
  for (const std::uint64_t number : numbers) text += std::to_string(number) + '\n';
  fs::path fresh = list();
  fresh += ".new";
  const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) fail_file(fresh, "cannot be opened for writing", errno);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) fail_file(fresh, "cannot be written", written < 0 ? errno : ENOSPC);
  if (::fsync(file.get()) != 0) fail_file(fresh, "cannot be synced", errno);
  if (::rename(fresh.c_str(), list().c_str()) != 0) fail_file(list(), "cannot be written", errno);
  sync_folder();
}

bool FileSeries::has(std::uint64_t number) const { return is_there(file(number)); }

std::vector<std::uint64_t> FileSeries::numbers() const {
  std::vector<std::uint64_t> numbers = listed();
  std::erase_if(numbers, [&](std::uint64_t number) { return !has(number); });
  return numbers;
}

std::uint64_t FileSeries::begin_behind(std::uint64_t number, Descriptor& file) const {
  const std::vector<std::uint64_t> own = listed();
  const auto is_own = [&](std::uint64_t other) { return std::ranges::binary_search(own, other); };
  std::uint64_t next = number + 1;
  while (!is_own(next) && has(next)) ++next;
  std::vector<std::uint64_t> now = numbers();
  // `number` may be older than the list.
  for (const std::uint64_t more : {number, next}) {
    if (std::ranges::find(now, more) == now.end()) now.push_back(more);
  }
  std::ranges::sort(now);
  write_list(now);
  Descriptor fresh = open(next);
  if (::ftruncate(fresh.get(), 0) != 0) fail_file(this->file(next), "cannot be emptied", errno);
  sync_folder();
  file = std::move(fresh);
  return next;
}

Descriptor FileSeries::open(std::uint64_t number) const {
  Descriptor descriptor(::open(file(number).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor) fail_file(file(number), "cannot be opened for writing", errno);
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(file(number).string(), "another process writes it", "stop the other instance, or give each its own file");
  return descriptor;
}

void FileSeries::remove(std::uint64_t number) const {
  const Descriptor locked = open(number);
  if (::unlink(file(number).c_str()) != 0) fail_file(file(number), "cannot be removed", errno);
}

void FileSeries::sync_folder() const {
  const Descriptor descriptor(::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor || ::fsync(descriptor.get()) != 0) fail_file(folder(), "the folder cannot be synced", errno);
}

}  // namespace deltamatch::ingest
