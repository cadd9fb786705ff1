#include "engine/listing/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

constexpr std::string_view remedy = "make room there, have TMPDIR name another folder, or hold more in memory";

std::string reason(int error) { return std::generic_category().message(error); }

// Opens a file without a name. If the file system cannot do that, the name is removed at once.
int open_unnamed(const std::filesystem::path& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string name = folder / "deltamatch-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

TemporaryFile::TemporaryFile(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) {
    std::error_code failed;
    folder_ = std::filesystem::temp_directory_path(failed);
    if (failed) throw Error("TMPDIR", "no temporary file can be made: " + failed.message(), remedy);
  }
  file_ = open_unnamed(folder_);
  if (file_ < 0) throw Error(folder_.string(), "no temporary file can be made: " + reason(errno), remedy);
}

TemporaryFile::~TemporaryFile() { ::close(file_); }

void TemporaryFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string why = written < 0 ? reason(errno) : "nothing more is taken";
      throw Error(folder_.string(), "a temporary file cannot be written: " + why, remedy);
    }
    size_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void TemporaryFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(folder_.string(), "a temporary file cannot be read: " + (got < 0 ? reason(errno) : "it has become shorter"));
    }
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace deltamatch::engine
