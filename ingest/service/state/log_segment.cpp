#include "ingest/service/state/log_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {

std::vector<SegmentFile> segments_in(const std::filesystem::path& folder) {
  std::vector<SegmentFile> segments;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto first = log_format::segment_number(entry->path().filename().string())) {
      segments.push_back({*first, entry->path()});
    }
  }
  if (error) fail_on(folder, "the folder cannot be read", error.value());
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return segments;
}

SegmentReader::SegmentReader(SegmentFile file, std::string fingerprint, LogReader::Wanted wanted)
    : file_(std::move(file)),
      fingerprint_(std::move(fingerprint)),
      wanted_(wanted),
      descriptor_(::open(file_.path.c_str(), O_RDONLY | O_CLOEXEC)),
      due_(file_.first) {
  if (!descriptor_.open()) fail_on(file_.path, "the log cannot be opened", errno);
}

std::uint64_t SegmentReader::size() const {
  struct stat status{};
  if (::fstat(descriptor_.get(), &status) != 0) fail_on(file_.path, "the log cannot be read", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

// Returns false if the file ends earlier. Allocates memory only for bytes that the file has.
bool SegmentReader::read(std::uint64_t offset, std::uint64_t count, std::string& bytes) const {
  const std::uint64_t there = size();
  if (there < offset || there - offset < count) return false;
  const std::size_t begin = bytes.size();
  bytes.resize(begin + count);
  for (std::uint64_t done = 0; done < count;) {
    const ssize_t got =
        ::pread(descriptor_.get(), bytes.data() + begin + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_on(file_.path, "the log cannot be read", errno);
    if (got == 0) return false;
    done += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool SegmentReader::read_head() {
  std::string bytes;
  if (!read(0, log_format::head_size, bytes)) return false;
  const auto head = log_format::read_head(bytes);
  if (!head || head->first != file_.first) return false;
  if (head->version < log_format::oldest_version || head->version > log_format::version) {
    throw Error(file_.path.string(),
                fmt::format("the log has version {}, but this program reads versions {} to {}", head->version,
                            log_format::oldest_version, log_format::version),
                "use the release that wrote it, or name an empty state directory");
  }
  if (head->fingerprint != fingerprint_) {
    throw Error(file_.path.string(), "the log belongs to a service with another configuration",
                "give each service its own state directory");
  }
  version_ = head->version;
  offset_ = log_format::head_size;
  return true;
}

// The payload of the entry at offset_, or nothing if the entry is incomplete or not sound.
std::optional<std::string_view> SegmentReader::read_payload() {
  if (offset_ == 0 && !read_head()) return {};
  entry_.clear();
  if (!read(offset_, log_format::frame_size, entry_)) return {};
  const log_format::Frame frame = log_format::read_frame(entry_);
  if (!read(offset_ + log_format::frame_size, frame.stored_size, entry_)) return {};
  return unpacker_.unpack(entry_, offset_);
}

LogReader::Entry SegmentReader::next() {
  using Entry = LogReader::Entry;
  using log_format::Kind;
  for (;;) {
    const auto payload = read_payload();
    const auto kind = payload ? log_format::kind_of(*payload) : std::nullopt;
    if (!kind) return Entry::end;
    if (kind == Kind::delivered) {
      if (!log_format::read_delivered(*payload, delivered_)) return Entry::end;
      offset_ += entry_.size();
      return Entry::delivered;
    }
    if (kind == Kind::piece) {
      if (wanted_.pieces && (!log_format::read_piece(*payload, piece_) || piece_.batch != due_)) return Entry::end;
      offset_ += entry_.size();
      if (wanted_.pieces) return Entry::piece;
      continue;
    }
    if (!log_format::read_batch(*payload, {file_.path.string(), version_}, wanted_, batch_) || batch_.mark.batch != due_)
      return Entry::end;
    ++due_;
    offset_ += entry_.size();
    return Entry::batch;
  }
}

}  // namespace deltamatch::ingest
