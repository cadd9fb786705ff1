#include "ingest/service/alert/alert_spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "encoding/numbers.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

// A record: the length of the rest (4 bytes), the number of sinks, the sinks, and the alert.
constexpr std::size_t length_bytes = 4;

int open_unnamed(const std::filesystem::path& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string name = folder / "deltamatch-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

class SpooledAlerts final : public AlertSource {
 public:
  SpooledAlerts(std::shared_ptr<const AlertSpool> spool, std::uint32_t sink) : spool_(std::move(spool)), sink_(sink) {}
  void read(AlertCursor& cursor, const TakeAlert& take) const override {
    spool_->read(sink_, cursor.place, [&](std::string_view alert) {
      if (!take(alert)) return false;
      ++cursor.alerts;
      return true;
    });
  }

 private:
  std::shared_ptr<const AlertSpool> spool_;
  std::uint32_t sink_;
};

}  // namespace

AlertSpool::AlertSpool(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) folder_ = std::filesystem::temp_directory_path();
  file_ = FileDescriptor(open_unnamed(folder_));
  if (!file_.open()) fail_on(folder_, "the temporary file for a large batch's alerts cannot be created", errno);
}

void AlertSpool::add(std::span<const std::uint32_t> sinks, std::string_view alert) {
  const std::size_t begin = buffer_.size();
  buffer_.resize(begin + length_bytes);
  encoding::put_number(buffer_, sinks.size());
  for (const std::uint32_t sink : sinks) encoding::put_number(buffer_, sink);
  buffer_ += alert;
  encoding::put_fixed(buffer_.data() + begin, buffer_.size() - begin - length_bytes, length_bytes);
  if (buffer_.size() >= buffer_bytes) flush();
}

void AlertSpool::flush() {
  if (const int code = write_at(file_.get(), buffer_, written_); code != 0) {
    fail_on(folder_, "a large batch's alerts cannot be written", code);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void AlertSpool::finish() {
  flush();
  buffer_.shrink_to_fit();
}

void AlertSpool::cut(std::uint64_t end) {
  buffer_.resize(end > written_ ? end - written_ : 0);
  if (end >= written_) return;
  written_ = end;
  static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(end)));  // else later writes replace it
}

/// Makes sure that `bytes` holds `wanted` bytes of the file's `place` at `at`.
void AlertSpool::refill(std::string& bytes, std::size_t& at, std::uint64_t place, std::size_t wanted) const {
  if (bytes.size() - at >= wanted) return;
  bytes.erase(0, at);
  at = 0;
  const std::size_t there = bytes.size();
  const std::uint64_t left = written_ - place - there;
  bytes.resize(there + std::min<std::uint64_t>(left, std::max(buffer_bytes, wanted - there)));
  for (std::size_t done = there; done < bytes.size();) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(place + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_on(folder_, "a large batch's alerts cannot be read", got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
}

void AlertSpool::read(std::uint32_t sink, std::uint64_t& place, const TakeAlert& take) const {
  std::string bytes;
  std::size_t at = 0;
  while (place < written_) {
    refill(bytes, at, place, length_bytes);
    const std::size_t length = encoding::get_fixed(bytes.data() + at, length_bytes);
    refill(bytes, at, place, length_bytes + length);
    const std::string_view record = std::string_view(bytes).substr(at + length_bytes, length);
    encoding::ByteReader in(record);
    bool ours = false;
    for (std::uint64_t left = in.number(); left > 0; --left) ours = in.number() == sink || ours;
    if (ours && !take(record.substr(record.size() - in.left()))) return;
    at += length_bytes + length;
    place += length_bytes + length;
  }
}

std::shared_ptr<const AlertSource> spooled_alerts(std::shared_ptr<const AlertSpool> spool, std::uint32_t sink) {
  return std::make_shared<SpooledAlerts>(std::move(spool), sink);
}

}  // namespace deltamatch::ingest
