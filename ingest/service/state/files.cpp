#include "ingest/service/state/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t digits = 20;  // as many as the largest number has

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void fail_on(const std::filesystem::path& path, std::string_view what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  throw Error(path.string(), std::string(what) + ": " + std::generic_category().message(code),
              full ? "free some space" : "check the file system, the path and its permissions");
}

int write_at(int descriptor, std::string_view bytes, std::uint64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = (path.has_filename() ? path : path.parent_path()).parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.open()) fail_on(folder, "the folder cannot be opened", errno);
  // File systems that cannot sync a folder report EINVAL. Then nothing more can be done.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) fail_on(folder, "the folder cannot be synced", errno);
}

void replace_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::path temporary = path;
  temporary += std::string(temporary_infix) + std::to_string(::getpid());
  const auto fail = [&](const char* what, int code) {
    ::unlink(temporary.c_str());
    fail_on(path, what, code);
  };
  {
    const FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.open()) fail("the file cannot be created", errno);
    if (const int code = write_at(file.get(), bytes, 0); code != 0) fail("the file cannot be written", code);
    if (::fsync(file.get()) != 0) fail("the file cannot be synced", errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("the file cannot be put in place", errno);
  sync_folder(folder_of(path));
}

std::string numbered_name(std::string_view prefix, std::uint64_t number, std::string_view suffix) {
  return fmt::format("{}{:0{}}{}", prefix, number, digits, suffix);
}

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (name.size() != prefix.size() + digits + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  const char* const begin = name.data() + prefix.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(begin, begin + digits, number);
  if (error != std::errc() || end != begin + digits) return {};
  return number;
}

}  // namespace deltamatch::ingest
