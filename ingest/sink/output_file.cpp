#include "ingest/sink/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {

OutputFile::OutputFile(const std::string& path) : name_(path == "-" ? "stdout" : path), owned_(path != "-") {
  file_ = owned_ ? ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
  if (file_ < 0) fail("cannot be created", errno);
  struct stat status{};
  // Standard output may be a file that others write to as well, so it is never truncated.
  can_cut_ = owned_ && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
}

OutputFile::~OutputFile() {
  abort();
  if (spool_ >= 0) ::close(spool_);
  if (owned_ && file_ >= 0) ::close(file_);
}

void OutputFile::fail(const char* what, int code) const {
  throw Error(name_, std::string(what) + ": " + std::generic_category().message(code),
              code == ENOSPC || code == EDQUOT ? "free some space" : "check the path, its permissions and what reads it");
}

void OutputFile::write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::spill() {
  if (can_cut_) {
    write_all(file_, text_);
  } else {
    if (spool_ < 0) {
      const std::string folder = std::filesystem::temp_directory_path().string();
      spool_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      if (spool_ < 0) fail("cannot create a temporary file for a large batch", errno);
    }
    write_all(spool_, text_);
  }
  spooled_ += text_.size();
  text_.clear();
}

void OutputFile::copy_spool() {
  if (::lseek(spool_, 0, SEEK_SET) < 0) fail("cannot read its temporary file", errno);
  std::vector<char> buffer(spill_size);
  for (std::uint64_t left = spooled_; left != 0;) {
    const ssize_t got = ::read(spool_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("cannot read its temporary file", got < 0 ? errno : EIO);
    write_all(file_, {buffer.data(), static_cast<std::size_t>(got)});
    left -= static_cast<std::uint64_t>(got);
  }
  if (::ftruncate(spool_, 0) != 0 || ::lseek(spool_, 0, SEEK_SET) < 0) fail("cannot empty its temporary file", errno);
}

void OutputFile::commit() {
  if (!can_cut_ && spooled_ != 0) copy_spool();
  write_all(file_, text_);
  committed_ += spooled_ + text_.size();
  spooled_ = 0;
  text_.clear();
}

void OutputFile::abort() noexcept {
  text_.clear();
  // A commit that failed half-way has written too, so the file is truncated whatever was counted. If truncation fails, nothing
  // more can be done.
  if (can_cut_ && ::ftruncate(file_, static_cast<off_t>(committed_)) == 0)
    ::lseek(file_, static_cast<off_t>(committed_), SEEK_SET);
  if (spool_ >= 0 && ::ftruncate(spool_, 0) == 0) ::lseek(spool_, 0, SEEK_SET);
  spooled_ = 0;
}

}  // namespace deltamatch::ingest
