#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/log_segment.hpp"

namespace deltamatch::ingest {

struct LogReader::Impl {
  std::filesystem::path folder;
  std::string fingerprint;
  Wanted wanted;
  std::uint64_t from = 0;                // earlier batches are skipped
  std::optional<SegmentReader> segment;  // empty until there is one
  End end;

  [[nodiscard]] std::optional<SegmentFile> later_segment() const;
  void enter(SegmentFile file);
  bool begin();
  Entry read_entry();
  bool move_on(const SegmentFile& later);
};

std::optional<SegmentFile> LogReader::Impl::later_segment() const {
  for (SegmentFile& file : segments_in(folder)) {
    if (!segment || file.first > segment->file().first) return std::move(file);
  }
  return {};
}

void LogReader::Impl::enter(SegmentFile file) { segment.emplace(std::move(file), fingerprint, wanted); }

// Enters the segment that holds `from`. Returns false if there is none.
bool LogReader::Impl::begin() {
  std::vector<SegmentFile> segments = segments_in(folder);
  const auto later = std::find_if(segments.begin(), segments.end(), [&](const SegmentFile& file) { return file.first > from; });
  if (later != segments.begin()) {
    enter(*std::prev(later));
    return true;
  }
  end.next_batch = from;
  end.gap = later != segments.end();
  if (end.gap) end.damage = fmt::format("the log begins only with {}", later->path.string());
  return false;
}

// The next wanted entry of the segment that is sound.
LogReader::Entry LogReader::Impl::read_entry() {
  while (true) {
    const Entry entry = segment->next();
    if (entry != Entry::batch || segment->batch().mark.batch >= from) return entry;
  }
}

// Moves from the end of a segment to the next one. Returns false if something is missing in between.
bool LogReader::Impl::move_on(const SegmentFile& later) {
  end.next_batch = segment->due();
  const std::uint64_t left = segment->size() - segment->offset();
  if (left > 0) {
    end.damage = fmt::format("{} is damaged at byte {}", segment->file().path.string(), segment->offset());
  } else if (later.first != segment->due()) {
    end.damage = fmt::format("batch {} is missing before {}", segment->due(), later.path.string());
    end.gap = true;
  } else {
    enter(later);
  }
  return end.damage.empty();
}

LogReader::LogReader(std::filesystem::path folder, std::string fingerprint, Wanted wanted) : impl_(std::make_unique<Impl>()) {
  impl_->folder = std::move(folder);
  impl_->fingerprint = std::move(fingerprint);
  impl_->wanted = wanted;
  impl_->from = std::max<std::uint64_t>(std::min(wanted.updates_from, wanted.alerts_from), 1);
}

LogReader::~LogReader() = default;

LogReader::Entry LogReader::next() {
  impl_->end = {};
  if (!impl_->segment && !impl_->begin()) return Entry::end;
  while (true) {
    Entry entry = impl_->read_entry();
    if (entry != Entry::end) return entry;
    const std::optional<SegmentFile> later = impl_->later_segment();
    if (!later) break;
    // Nothing is appended to this segment once a later one exists. But something may have been appended since the last read.
    entry = impl_->read_entry();
    if (entry != Entry::end) return entry;
    if (!impl_->move_on(*later)) return Entry::end;
  }
  impl_->end.next_batch = impl_->segment->due();
  impl_->end.torn_bytes = impl_->segment->size() - impl_->segment->offset();
  return Entry::end;
}

const LoggedBatch& LogReader::batch() const noexcept { return impl_->segment->batch(); }
const Delivered& LogReader::delivered() const noexcept { return impl_->segment->delivered(); }
const LoggedPiece& LogReader::piece() const noexcept { return impl_->segment->piece(); }
const LogReader::End& LogReader::end() const noexcept { return impl_->end; }

bool LogReader::skip_damage() {
  if (impl_->end.damage.empty()) return false;
  std::optional<SegmentFile> later = impl_->later_segment();
  if (!later) return false;
  impl_->enter(std::move(*later));
  impl_->end = {};
  return true;
}

void for_each_streamed(const std::filesystem::path& folder, const std::string& fingerprint, std::uint64_t batch,
                       std::string_view sink, const std::function<bool(std::string_view alert)>& take) {
  LogReader log(folder, fingerprint, {.updates_from = LogReader::none, .alerts_from = batch, .pieces = true});
  for (;;) {
    const LogReader::Entry entry = log.next();
    if (entry == LogReader::Entry::end) {
      throw Error(folder.string(), fmt::format("the log no longer holds the alerts of batch {}", batch),
                  "restore the state directory from a backup");
    }
    if (entry == LogReader::Entry::batch && log.batch().mark.batch >= batch) return;
    if (entry != LogReader::Entry::piece || log.piece().batch != batch || log.piece().sink != sink) continue;
    for (const std::string_view alert : log.piece().alerts) {
      if (!take(alert)) return;
    }
  }
}

}  // namespace deltamatch::ingest
