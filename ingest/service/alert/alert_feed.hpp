// The last alerts of committed batches, for those who look on: a ring that one thread fills and many read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// The alerts of one batch that at least one sink gets, in the order written. Each is there once.
struct SeenAlerts {
  AlertList list;
  AlertCursor tail;  ///< of a streamed list: the last AlertFeed::Limits::per_query alerts, or some more, begin here
};

/// Where an alert is: the batch, and its place among the batch's alerts, from 0. As text "17.3".
struct FeedPlace {
  std::uint64_t batch = 0;
  std::uint64_t alert = 0;
  friend auto operator<=>(const FeedPlace&, const FeedPlace&) = default;
};

/// Reads "17.3". Returns nothing for any other text.
[[nodiscard]] std::optional<FeedPlace> feed_place(std::string_view text);

/// A stretch of the ring. It never changes, so readers share it. An entry is the text of a server-sent event, either an alert
/// or a note that alerts were left out:
///
///     id: 17.3
///     data: {"v":1,"id":"…","query":"ring",…}
///
///     event: left-out
///     data: {"v":1,"query":"ring","batch":17,"alerts":9000}
struct FeedBlock {
  struct Entry {
    std::uint32_t end = 0;                ///< in the text
    std::uint32_t query = 0;              ///< where in the text its query's name stands, as a JSON string
    std::uint32_t query_bytes = 0;        ///< 0 of a note about several queries
    std::optional<bool> added = {};       ///< nothing if the entry concerns both signs
    std::optional<FeedPlace> place = {};  ///< of an alert
    std::uint64_t last = 0;               ///< number of alerts up to and with this entry, since the feed began
  };
  std::uint64_t before = 0;  ///< number of alerts before the first entry
  std::string text;
  std::vector<Entry> entries;
};

/// Keeps the last alerts within limits of count and bytes. A batch with very many puts in the last ones of each query, and a
/// note says how many were left out. Thread-safe. Readers hold nothing up: they share the blocks, and those who fall behind
/// miss alerts and learn how many.
class AlertFeed {
 public:
  struct Limits {
    std::size_t alerts = 10'000;                ///< in the ring
    std::size_t bytes = std::size_t{16} << 20;  ///< of their text
    std::size_t per_query = 500;                ///< most alerts of one query in one batch
    std::size_t block = std::size_t{64} << 10;  ///< a block of this many bytes is full
    std::chrono::milliseconds pace{100};        ///< between two calls of a listener
  };
  explicit AlertFeed(const Limits& limits);
  AlertFeed() : AlertFeed(Limits{}) {}

  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }

  /// Batches after `batch` follow. Alerts that are there stay.
  void begin_after(std::uint64_t batch);
  /// Adds the alerts of a committed batch. Batches come in order, from one thread. Copies the alerts that it keeps. Throws
  /// Error if a streamed list cannot be read; then the batch is left out.
  void publish(std::uint64_t batch, const SeenAlerts& alerts);
  /// From now on, `tell` is called when alerts were added, in the thread that publishes, at most once in Limits::pace. So the
  /// last ones of a burst may come without a call. It must not call the feed. Returns a number for unlisten().
  [[nodiscard]] std::uint64_t listen(std::function<void()> tell);
  /// Once this has returned, the function is not called any more.
  void unlisten(std::uint64_t number) noexcept;

  struct Statistics {
    std::uint64_t alerts = 0;    ///< published so far, those left out included
    std::uint64_t left_out = 0;  ///< of these
    std::size_t held = 0;        ///< entries in the ring
    std::size_t bytes = 0;       ///< of their text
    std::uint64_t batch = 0;     ///< the last batch
  };
  [[nodiscard]] Statistics statistics() const;

  /// Those who send the feed to clients count here, so that it can be read without them.
  struct Watchers {
    std::atomic<std::size_t> open{0};
    std::atomic<std::uint64_t> refused{0};  ///< because too many were open
    std::atomic<std::uint64_t> ended{0};    ///< to make room for another address
    std::atomic<std::uint64_t> cut_off{0};  ///< clients that took nothing for too long
    std::atomic<std::uint64_t> missed{0};   ///< alerts that clients fell behind
  };
  [[nodiscard]] Watchers& watchers() noexcept { return watchers_; }
  [[nodiscard]] const Watchers& watchers() const noexcept { return watchers_; }

 private:
  friend class FeedReader;
  class Writer;

  void trim();

  const Limits limits_;
  Watchers watchers_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const FeedBlock>> blocks_;  // guarded by mutex_, like all below
  std::optional<FeedPlace> dropped_;                     // the last alert that the ring has no more
  std::uint64_t began_after_ = 0;
  Statistics statistics_;
  std::mutex telling_;
  std::map<std::uint64_t, std::function<void()>> listeners_;  // guarded by telling_, like all below
  std::uint64_t listened_ = 0;
  std::chrono::steady_clock::time_point told_{};
};

/// Which alerts a reader wants.
struct FeedFilter {
  std::vector<std::string> queries;  ///< names as JSON strings (append_json_string); without any, all
  Signs signs = Signs::both;
};

/// One reader's place in the feed. Not thread-safe.
class FeedReader {
 public:
  /// Begins behind the alert at `after`, or, if it is empty, with the last `last` alerts. The feed must outlive the reader.
  FeedReader(const AlertFeed& feed, FeedFilter filter, const std::optional<FeedPlace>& after, std::size_t last = 0);

  /// Events to send next: first `head`, then the pieces. `blocks` keep the pieces' memory.
  struct Portion {
    std::string head;
    std::vector<std::string_view> pieces;
    std::vector<std::shared_ptr<const FeedBlock>> blocks;
    std::size_t bytes = 0;  ///< of all
    [[nodiscard]] bool empty() const noexcept { return bytes == 0; }
  };
  /// The next events, about `most` bytes and at most `most_pieces` pieces. Empty if there are none now. If alerts have left the
  /// ring before they were read, `head` is the event `missed` with their number, of whatever query. The first portion begins
  /// with the event `start`. O(entries passed).
  [[nodiscard]] Portion next(std::size_t most, std::size_t most_pieces = 32);

  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  void take_blocks(Portion& portion, std::size_t most);
  [[nodiscard]] bool fill(Portion& portion, std::size_t most, std::size_t most_pieces);
  [[nodiscard]] bool wants(const FeedBlock& block, const FeedBlock::Entry& entry) const;

  const AlertFeed& feed_;
  FeedFilter filter_;
  std::uint64_t at_ = 0;  // number of alerts passed
  std::uint64_t missed_ = 0;
  std::string start_;  // the event, until it is sent
};

}  // namespace deltamatch::ingest
