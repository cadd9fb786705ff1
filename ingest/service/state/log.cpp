#include "ingest/service/state/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/files.hpp"
#include "ingest/service/state/log_format.hpp"
#include "ingest/service/state/log_segment.hpp"

namespace deltamatch::ingest {
namespace {

/// The segment that is appended to. A thread that syncs it shares it, so it stays open meanwhile.
struct Segment {
  SegmentFile file;
  FileDescriptor descriptor;
  std::uint64_t size = 0;
};

/// The position of a sink, and the latest batch with an alert for it.
struct Standing {
  Delivered delivered;
  std::uint64_t last_alert = 0;
  [[nodiscard]] bool waits() const noexcept { return last_alert > delivered.batch; }
};

/// The state of all sinks, from a scan of the log.
using Sinks = std::map<std::string, Standing>;

void note_alert(Sinks& sinks, const std::string& sink, std::uint64_t batch) {
  Standing& standing = sinks[sink];
  if (!standing.waits()) standing.delivered.batch = batch - 1;
  standing.delivered.sink = sink;
  standing.last_alert = batch;
}

/// The part of a segment that is kept.
struct Kept {
  std::uint64_t last = 0;    ///< batch; 0 if none
  std::uint64_t offset = 0;  ///< after the last entry
  std::uint64_t rest = 0;    ///< bytes after that
  std::uint32_t version = 0;
};

/// Updates the sinks from the entries of batches up to `last`. Later entries count only if they note deliveries up to `last`.
Kept scan(SegmentReader& segment, std::uint64_t last, Sinks& sinks, Sinks& kept_sinks) {
  Kept kept;
  bool beyond = false;
  for (LogReader::Entry entry{}; (entry = segment.next()) != LogReader::Entry::end;) {
    if (entry == LogReader::Entry::batch) {
      const LoggedBatch& batch = segment.batch();
      beyond = beyond || batch.mark.batch > last;
      if (beyond) continue;
      for (const SinkAlerts& sink : batch.alerts) note_alert(sinks, sink.sink, batch.mark.batch);
      for (const StreamedAlerts& sink : batch.streamed) {
        if (!sink.in_transaction) note_alert(sinks, sink.sink, batch.mark.batch);
      }
      kept.last = batch.mark.batch;
    } else if (const Delivered& delivered = segment.delivered(); delivered.batch <= last) {
      Standing& standing = sinks[delivered.sink];
      standing.delivered = delivered;
      // At the start of a segment. A sink whose position is earlier waits for alerts in an earlier segment.
      if (segment.due() == segment.file().first) standing.last_alert = std::min(segment.file().first - 1, last);
    }
    if (beyond) continue;
    kept.offset = segment.offset();
    kept_sinks = sinks;
  }
  if (kept.offset == 0) kept.offset = std::min<std::uint64_t>(segment.offset(), log_format::head_size);
  kept.rest = segment.size() - kept.offset;
  kept.version = segment.version();
  return kept;
}

}  // namespace

struct Log::Impl {
  /// Held during an append, even one in pieces, so nothing comes in between. Taken before `mutex`, which is held only briefly.
  std::mutex appending;
  mutable std::mutex mutex;
  std::filesystem::path folder;
  std::string fingerprint;
  LogOptions options;
  std::shared_ptr<Segment> segment;
  std::uint64_t batches_in_segment = 0;
  Sinks sinks;
  std::uint64_t last = 0;
  LogBreak lost;  // after a break, the state of a sink is unknown until it is noted again
  std::uint64_t appended = 0;
  std::uint64_t dropped = 0;
  std::string failure;  // why nothing more can be appended
  log_format::Packer packer;
  std::string payload;
  std::string entry;

  void restore();
  void look_back(std::span<const SegmentFile> segments);
  void go_on(const SegmentFile& file, const Kept& kept);
  void start_segment();
  void append(std::string_view bytes);
  void append_payload();
  void append_pieces(std::uint64_t batch, const StreamedAlerts& alerts);
  void take_back(std::uint64_t size) noexcept;
  void must_stand() const;
  void sync(const Segment& file);
  void fail_sync(int code);
  [[nodiscard]] Delivered position(const Standing& standing) const;
  [[nodiscard]] std::uint64_t undelivered_from() const;
};

/// The position of a sink. Batches without alerts for it count as delivered, if the log shows that they had none.
Delivered Log::Impl::position(const Standing& standing) const {
  Delivered delivered = standing.delivered;
  if (standing.waits()) return delivered;
  const std::uint64_t known = delivered.batch < lost.up_to ? lost.from - 1 : last;
  delivered.batch = std::max(delivered.batch, known);
  return delivered;
}

void Log::Impl::must_stand() const {
  if (!failure.empty())
    throw Error(segment->file.path.string(), failure, "repair the file system, then start the service again");
}

// Appends all bytes or none.
void Log::Impl::append(std::string_view bytes) {
  const int code = write_at(segment->descriptor.get(), bytes, segment->size);
  if (code == 0) {
    segment->size += bytes.size();
    appended += bytes.size();
    return;
  }
  take_back(segment->size);
  fail_on(segment->file.path, "the log cannot be written", code);
}

// Truncates the segment to an earlier size.
void Log::Impl::take_back(std::uint64_t size) noexcept {
  segment->size = size;
  if (::ftruncate(segment->descriptor.get(), static_cast<off_t>(size)) != 0) {
    failure = "an entry is written in part and cannot be removed: " + std::generic_category().message(errno);
  }
}

// Appends in steps, so other calls do not wait for all of it. The caller holds `appending`, but not `mutex`.
void Log::Impl::append_pieces(std::uint64_t batch, const StreamedAlerts& alerts) {
  log_format::PieceWriter pieces(batch, alerts.sink, [&](std::string_view piece) {
    const std::scoped_lock lock(mutex);
    must_stand();
    payload = piece;
    append_payload();
  });
  alerts.for_each([&](std::string_view alert) { pieces.add(alert); });
  pieces.flush();
}

void Log::Impl::append_payload() {
  entry.clear();
  packer.pack(payload, segment->size, segment->file.path.string(), entry);
  append(entry);
}

void Log::Impl::sync(const Segment& file) {
  if (options.sync(file.descriptor.get()) != 0) fail_sync(errno);
}

// Records a failed sync and throws. A sync is never retried, because the system may then treat unwritten pages as clean.
void Log::Impl::fail_sync(int code) {
  failure = "the log cannot be synced: " + std::generic_category().message(code);
  must_stand();
}

// A segment begins with the positions of the sinks, so earlier segments can be removed.
void Log::Impl::start_segment() {
  auto fresh = std::make_shared<Segment>();
  fresh->file = {last + 1, folder / log_format::segment_name(last + 1)};
  std::string bytes = log_format::to_bytes({log_format::version, last + 1, fingerprint});
  for (const auto& [name, standing] : sinks) {
    payload.clear();
    log_format::put_delivered(payload, position(standing));
    packer.pack(payload, bytes.size(), fresh->file.path.string(), bytes);
  }
  fresh->descriptor = FileDescriptor(::open(fresh->file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fresh->descriptor.open()) fail_on(fresh->file.path, "the log cannot be created", errno);
  try {
    if (const int code = write_at(fresh->descriptor.get(), bytes, 0); code != 0) {
      fail_on(fresh->file.path, "the log cannot be written", code);
    }
    if (segment) sync(*segment);
    sync_folder(folder);
  } catch (...) {
    ::unlink(fresh->file.path.c_str());
    throw;
  }
  fresh->size = bytes.size();
  appended += bytes.size();
  segment = std::move(fresh);
  batches_in_segment = 0;
}

// Continues in a segment whose last batch is the last one that is kept.
void Log::Impl::go_on(const SegmentFile& file, const Kept& kept) {
  segment = std::make_shared<Segment>();
  segment->file = file;
  segment->descriptor = FileDescriptor(::open(file.path.c_str(), O_WRONLY | O_CLOEXEC));
  segment->size = kept.offset;
  if (!segment->descriptor.open()) fail_on(file.path, "the log cannot be opened", errno);
  dropped += kept.rest;
  if (::ftruncate(segment->descriptor.get(), static_cast<off_t>(kept.offset)) != 0)
    fail_on(file.path, "the log cannot be truncated", errno);
  batches_in_segment = kept.last - file.first + 1;
}

// If the newest segment does not know everything, reads the older ones in order.
void Log::Impl::look_back(std::span<const SegmentFile> segments) {
  sinks.clear();
  lost = {segments.empty() ? 1 : segments.front().first, last};
  for (const SegmentFile& file : segments) {
    SegmentReader reader(file, fingerprint, {.updates_from = LogReader::none, .alerts_from = 0});
    Sinks ignored;
    const Kept kept = scan(reader, last, sinks, ignored);
    if (file.first == lost.from) lost.from = std::max(kept.last, lost.from - 1) + 1;
  }
}

void Log::Impl::restore() {
  std::vector<SegmentFile> segments = segments_in(folder);
  const auto behind =
      std::find_if(segments.begin(), segments.end(), [&](const SegmentFile& file) { return file.first > last; });
  const bool any = behind != segments.begin();
  Kept kept;
  Sinks kept_sinks;
  const LogReader::Wanted wanted{.updates_from = LogReader::none, .alerts_from = 0};
  if (any) {
    SegmentReader reader(*std::prev(behind), fingerprint, wanted);
    kept = scan(reader, last, sinks, kept_sinks);
  }
  if (kept.last < last) look_back({segments.begin(), behind});
  for (auto file = behind; file != segments.end(); ++file) {
    SegmentReader reader(*file, fingerprint, wanted);
    Sinks ignored;
    dropped += scan(reader, last, sinks, ignored).rest;
  }
  for (auto file = segments.end(); file != behind;) {  // newest first, so that a crash leaves a valid log
    --file;
    if (::unlink(file->path.c_str()) != 0) fail_on(file->path, "the log cannot be truncated", errno);
  }
  const bool whole = any && kept.last == last;
  if (whole) go_on(*std::prev(behind), kept);  // in any version, because a torn end must not stay before a later segment
  if (!whole || kept.version != log_format::version) {
    start_segment();
  } else {
    for (const auto& [name, standing] : sinks) {
      const auto before = kept_sinks.find(name);
      if (before != kept_sinks.end() && before->second.delivered == standing.delivered) continue;
      payload.clear();
      log_format::put_delivered(payload, standing.delivered);
      append_payload();
    }
  }
  sync(*segment);
  sync_folder(folder);
}

std::uint64_t Log::Impl::undelivered_from() const {
  std::uint64_t from = last + 1;
  for (const auto& [name, standing] : sinks) {
    from = std::min(from, position(standing).batch + 1);
  }
  return from;
}

Log::Log(std::filesystem::path folder, std::string fingerprint, std::uint64_t last, const LogOptions& options)
    : impl_(std::make_unique<Impl>()) {
  impl_->folder = std::move(folder);
  impl_->fingerprint = std::move(fingerprint);
  impl_->options = options;
  impl_->last = last;
  impl_->restore();
}

Log::~Log() = default;

void Log::append(const CommitPoint& mark, std::span<const Update> updates, std::optional<Timestamp> watermark,
                 std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed,
                 std::optional<std::span<const WatermarkStep>> steps) {
  Impl& log = *impl_;
  const std::scoped_lock one_at_a_time(log.appending);
  std::unique_lock lock(log.mutex);
  log.must_stand();
  if (mark.batch != log.last + 1) {
    throw Error(log.segment->file.path.string(),
                fmt::format("batch {} is to be appended, but batch {} is due", mark.batch, log.last + 1));
  }
  if (log.batches_in_segment > 0 && log.segment->size >= log.options.segment_bytes) log.start_segment();
  const std::uint64_t before = log.segment->size;
  try {
    lock.unlock();
    for (const StreamedAlerts& sink : streamed) log.append_pieces(mark.batch, sink);
    lock.lock();
    Sinks sinks = log.sinks;
    for (const SinkAlerts& sink : alerts) {
      if (!sink.alerts.empty()) note_alert(sinks, sink.sink, mark.batch);
    }
    for (const StreamedAlerts& sink : streamed) {
      if (!sink.in_transaction) note_alert(sinks, sink.sink, mark.batch);
    }
    log.payload.clear();
    log_format::put_batch(log.payload, mark, updates, watermark, alerts, streamed, steps);
    log.append_payload();
    log.sinks.swap(sinks);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (log.segment->size != before) log.take_back(before);
    throw;
  }
  log.last = mark.batch;
  ++log.batches_in_segment;
}

void Log::delivered(const Delivered& delivered) {
  const std::scoped_lock lock(impl_->appending, impl_->mutex);
  impl_->must_stand();
  Standing& standing = impl_->sinks[delivered.sink];  // allocated before anything is written
  standing.delivered.sink = delivered.sink;
  impl_->payload.clear();
  log_format::put_delivered(impl_->payload, delivered);
  Delivered copy = delivered;
  impl_->append_payload();
  standing.delivered = std::move(copy);
}

void Log::sync() {
  std::shared_ptr<Segment> segment;
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->must_stand();
    segment = impl_->segment;
  }
  if (impl_->options.sync(segment->descriptor.get()) == 0) return;
  const int code = errno;
  const std::scoped_lock lock(impl_->mutex);
  impl_->fail_sync(code);
}

void Log::drop_before(std::uint64_t batch) {
  const std::uint64_t limit = std::min(batch, undelivered_from());
  const std::vector<SegmentFile> segments = segments_in(impl_->folder);
  const auto goes = [&](std::size_t i) { return i + 1 < segments.size() && segments[i + 1].first <= limit; };
  if (goes(0)) sync();  // a note that allows the removal must be on disk before the segment goes
  for (std::size_t i = 0; goes(i); ++i) {
    if (::unlink(segments[i].path.c_str()) != 0) fail_on(segments[i].path, "the log cannot be removed", errno);
  }
}

std::uint64_t Log::last_batch() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->last;
}

std::uint64_t Log::undelivered_from() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->undelivered_from();
}

std::vector<Delivered> Log::positions() const {
  const std::scoped_lock lock(impl_->mutex);
  std::vector<Delivered> positions;
  for (const auto& [name, standing] : impl_->sinks) positions.push_back(impl_->position(standing));
  return positions;
}

LogBreak Log::lost() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->lost;
}

std::uint64_t Log::bytes() const { return bytes_behind(0); }

std::uint64_t Log::bytes_behind(std::uint64_t batch) const {
  const std::vector<SegmentFile> segments = segments_in(impl_->folder);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i + 1 < segments.size() && segments[i + 1].first <= batch + 1) continue;
    std::error_code gone;
    const std::uint64_t size = std::filesystem::file_size(segments[i].path, gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

std::uint64_t Log::appended_bytes() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->appended;
}

std::uint64_t Log::dropped_bytes() const noexcept { return impl_->dropped; }

}  // namespace deltamatch::ingest
