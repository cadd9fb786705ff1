#include "engine/storage/section_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

using encoding::get_fixed;
using encoding::put_fixed;

constexpr int zstd_level = 3;

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Refuses a path that is not a regular file: renaming would replace even a device.
std::filesystem::path replaceable(const std::filesystem::path& path, const FileKind& kind) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(path.string(), "it is not a regular file, so a " + std::string(kind.noun) + " cannot replace it",
                "name another file");
  }
  return path;
}

/// Opens a new file beside `path`. A file that an earlier process left behind does no harm.
int create_beside(const std::filesystem::path& path, std::filesystem::path& temporary) {
  int descriptor = -1;
  for (int i = 0; i < 1000 && descriptor < 0; ++i) {
    temporary = path;
    temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

}  // namespace

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int Descriptor::release() noexcept {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  return descriptor;
}

SectionWriter::SectionWriter(const std::filesystem::path& path, const FileKind& kind)
    : kind_(kind), path_(replaceable(path, kind)), file_(create_beside(path, temporary_)) {
  if (file_.get() < 0) fail("cannot be created", errno);
}

SectionWriter::~SectionWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void SectionWriter::fail(const char* what, int code) const {
  throw Error(path_.string(), "the " + std::string(kind_.noun) + " " + what + ": " + std::generic_category().message(code),
              code == ENOSPC || code == EDQUOT ? "free some space" : "check the path and the permissions of its folder");
}

void SectionWriter::write(std::string_view bytes) {
  written_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void SectionWriter::begin(Section section, bool packed) {
  if (section_ != Section::end) flush_chunk();
  section_ = section;
  packed_ = packed;
}

void SectionWriter::flush_chunk() {
  std::string_view stored = chunk_;
  if (packed_) {
    packed_bytes_.resize(ZSTD_compressBound(chunk_.size()));
    const std::size_t size =
        ZSTD_compress(packed_bytes_.data(), packed_bytes_.size(), chunk_.data(), chunk_.size(), zstd_level);
    if (ZSTD_isError(size) != 0)
      throw Error(path_.string(), std::string("zstd cannot pack a section: ") + ZSTD_getErrorName(size), "free some memory");
    if (size < chunk_.size()) stored = std::string_view(packed_bytes_).substr(0, size);
  }
  if (written_ == 0) {
    std::string preamble(kind_.magic);
    put_fixed(preamble, kind_.version, 4);
    write(preamble);
  }
  std::string head;
  put_fixed(head, static_cast<std::uint32_t>(section_), 4);
  put_fixed(head, chunk_.size(), 4);
  put_fixed(head, stored.size(), 4);
  head.append(encoding::view(encoding::checksum(head, stored, written_)));
  write(head);
  write(stored);
  chunk_.clear();
}

void SectionWriter::raw(std::string_view bytes) {
  while (!bytes.empty()) {
    if (chunk_.size() == kind_.chunk) flush_chunk();
    const std::size_t count = std::min(bytes.size(), kind_.chunk - chunk_.size());
    chunk_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

void SectionWriter::commit() {
  begin(Section::end, false);
  put_fixed(chunk_, written_ + trailer_size, 8);
  flush_chunk();
  if (::fsync(file_.get()) != 0) fail("cannot be synced", errno);
  if (::close(file_.release()) != 0) fail("cannot be closed", errno);
  const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) fail("cannot be saved, because its folder cannot be opened", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to its name", errno);
  temporary_.clear();
  // File systems that cannot sync a folder return EINVAL. Then there is nothing more to do.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) fail("cannot be saved, because its folder cannot be synced", errno);
}

// Without O_NONBLOCK, opening a pipe would wait for its other end.
SectionReader::SectionReader(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status{};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) {
    throw Error(path_.string(), "the snapshot cannot be opened: " + std::generic_category().message(errno),
                "check the path and its permissions");
  }
  if (!S_ISREG(status.st_mode)) throw Error(path_.string(), "it is not a regular file", "name a snapshot");
  size_ = static_cast<std::uint64_t>(status.st_size);
  std::array<char, preamble_size> preamble{};
  const std::size_t there = std::min<std::uint64_t>(size_, preamble_size);
  read_at(0, preamble.data(), there);
  if (std::string_view(preamble.data(), std::min(there, snapshot_file.magic.size())) != snapshot_file.magic.substr(0, there)) {
    throw Error(path_.string(), "it is not a snapshot", "name a file that was saved as a snapshot");
  }
  if (size_ < preamble_size + trailer_size) refuse("the file is cut short");
  version_ = static_cast<std::uint32_t>(get_fixed(preamble.data() + snapshot_file.magic.size(), 4));
  if (version_ < snapshot_file.oldest_version || version_ > snapshot_file.version) {
    throw Error(path_.string(),
                "it is a snapshot of version " + std::to_string(version_) + ", while this program reads versions " +
                    std::to_string(snapshot_file.oldest_version) + " to " + std::to_string(snapshot_file.version),
                "read it with the release that wrote it, and build the graph again from its input or an export");
  }
  offset_ = size_ - trailer_size;
  std::string trailer;
  read_chunk(offset_, size_, Section::end, trailer);
  if (trailer.size() != 8 || get_fixed(trailer.data(), 8) != size_) refuse("the length of the file has changed");
  offset_ = preamble_size;
}

void SectionReader::refuse(std::string_view what) const {
  throw Error(path_.string(), "the snapshot is torn or damaged (byte " + std::to_string(offset_) + "): " + std::string(what),
              snapshot_file.remedy);
}

void SectionReader::refuse_later(std::string_view what) const {
  throw Error(path_.string(), "the snapshot cannot be read (byte " + std::to_string(offset_) + "): " + std::string(what),
              "read it with the release that wrote it, or a newer one");
}

void SectionReader::read_at(std::uint64_t offset, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::pread(file_.get(), bytes, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(path_.string(), "the snapshot cannot be read: " + std::generic_category().message(errno), "check the disk");
    }
    if (count == 0) refuse("the file became shorter while it was read");
    bytes += count;
    offset += static_cast<std::uint64_t>(count);
    size -= static_cast<std::size_t>(count);
  }
}

std::uint64_t SectionReader::read_chunk(std::uint64_t offset, std::uint64_t end, Section expected, std::string& bytes) {
  if (end - offset < chunk_head_size) refuse("a section is missing");
  std::array<char, chunk_head_size> head{};
  read_at(offset, head.data(), head.size());
  const std::uint64_t size = get_fixed(head.data() + 4, 4);
  const std::uint64_t stored_size = get_fixed(head.data() + 8, 4);
  if (size > snapshot_file.chunk || stored_size > size || stored_size > end - offset - chunk_head_size)
    refuse("a length is out of range");
  stored_.resize(stored_size);
  read_at(offset + chunk_head_size, stored_.data(), stored_size);
  const auto sum = encoding::checksum({head.data(), chunk_fields_size}, stored_, offset);
  if (!std::equal(sum.begin(), sum.end(), head.begin() + chunk_fields_size)) refuse("a checksum does not match");
  if (get_fixed(head.data(), 4) != static_cast<std::uint32_t>(expected)) refuse("a section is missing or out of place");
  if (stored_size == size) {
    bytes.swap(stored_);
  } else {
    bytes.resize(size);
    if (ZSTD_decompress(bytes.data(), size, stored_.data(), stored_size) != size) refuse("zstd cannot unpack a section");
  }
  return offset + chunk_head_size + stored_size;
}

void SectionReader::next_chunk() {
  used_ = 0;
  offset_ = read_chunk(offset_, size_ - trailer_size, section_, chunk_);
}

void SectionReader::begin(Section section) {
  if (used_ != chunk_.size()) refuse("a section is too long");
  section_ = section;
  next_chunk();
}

bool SectionReader::next_is(Section section) {
  std::array<char, 4> number{};
  if (used_ != chunk_.size() || size_ - trailer_size - offset_ < chunk_head_size) return false;
  read_at(offset_, number.data(), number.size());
  return get_fixed(number.data(), number.size()) == static_cast<std::uint32_t>(section);
}

void SectionReader::finish() {
  if (used_ != chunk_.size() || offset_ != size_ - trailer_size) refuse("the file has more sections than expected");
}

std::uint8_t SectionReader::byte() {
  if (used_ == chunk_.size()) {
    next_chunk();
    if (chunk_.empty()) refuse("a section ends early");
  }
  return static_cast<std::uint8_t>(chunk_[used_++]);
}

std::uint64_t SectionReader::number_across_chunks() {
  std::uint64_t value = 0;
  if (chunk_.size() - used_ >= encoding::longest_number) {
    const char* at = chunk_.data() + used_;
    if (encoding::take_number(at, at + encoding::longest_number, value) != encoding::NumberFault::none) {
      refuse("a number is out of range");
    }
    used_ = static_cast<std::size_t>(at - chunk_.data());
    return value;
  }
  char digits[encoding::longest_number];
  std::size_t count = 0;
  do {
    digits[count] = static_cast<char>(byte());
  } while (static_cast<unsigned char>(digits[count++]) >= 0x80 && count < encoding::longest_number);
  const char* at = digits;
  if (encoding::take_number(at, digits + count, value) != encoding::NumberFault::none) refuse("a number is out of range");
  return value;
}

std::uint64_t SectionReader::number(std::uint64_t most) {
  const std::uint64_t value = number();
  if (value > most) refuse("a number is out of range");
  return value;
}

std::uint64_t SectionReader::room() const noexcept {
  const std::uint64_t chunks = (size_ - trailer_size - std::min(offset_, size_ - trailer_size)) / chunk_head_size;
  return chunk_.size() - used_ + chunks * snapshot_file.chunk;
}

void SectionReader::text(std::string& bytes) {
  bytes.clear();
  const std::uint64_t size = number();
  if (size > room()) refuse("a text is longer than the file can hold");
  for (std::uint64_t left = size; left > 0;) {
    bytes.push_back(static_cast<char>(byte()));  // goes to the next chunk if necessary
    const std::size_t count = std::min<std::uint64_t>(--left, chunk_.size() - used_);
    bytes.append(chunk_, used_, count);
    used_ += count;
    left -= count;
  }
}

}  // namespace deltamatch::engine
