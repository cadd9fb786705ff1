// Turns the matches of a batch into alerts, and hands each to those sinks of its query that want it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/match.hpp"
#include "ingest/service/alert/alert_feed.hpp"
#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/alert/alert_spool.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

/// Alerts that a sink did not get because of its rate limit.
struct Suppressed {
  std::string query;
  std::string sink;
  std::uint64_t count = 0;
};

/// How many bytes of alerts are held in memory. More go to an unnamed file in `folder`; if it is empty, in the folder for
/// temporary files.
struct AlertMemory {
  std::size_t bytes = std::size_t{8} << 20;
  std::filesystem::path folder;
};

/// A sink of matches that knows which sinks of the service each query has.
class RoutedSink : public MatchSink {
 public:
  /// Sets the standing queries and their sinks for the next batch. Throws Error(configuration) if a sink is unknown; then
  /// nothing changes.
  virtual void set_queries(std::span<const ServiceQuery> queries) = 0;
};

/// Takes matches from the engine. Keeps the batch's alerts per sink until take() moves them out. Every alert is encoded once
/// for all sinks that write times alike.
/// Memory is bounded, however many alerts there are. Not thread-safe: the engine's thread calls it.
///
/// Rate limits hold per query and sink. An interval begins with the first alert after the end of the previous interval. Alerts
/// beyond the limit are suppressed. The first batch that begins after the interval's end starts with one report of their number
/// (append_suppressed). If no batch comes, due() becomes true, and the caller makes an empty one. The clock is read once per
/// batch.
class AlertRouter final : public RoutedSink {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Sinks are numbered in the given order. Their names must differ. `schema` is that of the engine.
  explicit AlertRouter(std::span<const SinkOptions> sinks, Clock now = std::chrono::steady_clock::now, AlertMemory memory = {},
                       const Schema& schema = {});

  /// From now on, take_seen() has what the sinks get. `tail` is the number of last alerts that readers of a streamed list want.
  /// Call it before the first batch.
  void show(std::uint64_t tail);

  /// A query that stays (by name) keeps its current interval.
  void set_queries(std::span<const ServiceQuery> queries) override;

  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  /// If the listing is incomplete, each sink of the query gets a report (append_partial), whatever its limits.
  void end(const ListingEnd& end) override;
  /// Adds the alerts since begin() to the result of take().
  void commit() override;
  /// Drops the alerts since begin(), and their effect on the rate limits.
  void abort() noexcept override;

  /// The size of the alerts since the last take().
  [[nodiscard]] std::uint64_t bytes() const noexcept { return spool_ ? spool_->end() : text_->size(); }

  /// Whether the next batch begins with a report of suppressed alerts.
  [[nodiscard]] bool due() const;
  /// From now on, suppressed alerts are reported before their intervals end. Returns whether there are any.
  bool close_intervals();

  /// The alerts since the last call by sink, in the order written. The lists share their memory, or all stream from one file.
  [[nodiscard]] std::vector<AlertList> take();
  /// The alerts that the last take() returned, and reports of incomplete listings, each once. Empty without show().
  [[nodiscard]] SeenAlerts take_seen() { return std::exchange(seen_, {}); }
  /// What the committed batches since the last call suppressed. Contains only counts above 0.
  [[nodiscard]] std::vector<Suppressed> take_suppressed();

 private:
  struct LimiterState {
    std::chrono::steady_clock::time_point since;  ///< the start of the interval
    bool open = false;                            ///< whether there is an interval
    std::uint64_t sent = 0;                       ///< alerts sent in it
    std::uint64_t suppressed = 0;                 ///< total number suppressed
    std::uint64_t told = 0;                       ///< how many of these were reported
  };
  /// The rate limiter of one query and one sink.
  struct Limiter {
    LimiterState state;
    std::uint64_t noted = 0;  ///< the latest turn whose initial state is in before_
  };
  using Key = std::pair<std::string, std::size_t>;  // query and sink
  using Limiters = std::map<Key, Limiter>;
  struct Before {
    Limiters::value_type* limiter;
    LimiterState state;
  };
  using Routes = std::map<std::string, std::vector<Limiters::value_type*>, std::less<>>;

  [[nodiscard]] std::size_t sink_index(const ServiceQuery& query, std::string_view sink) const;
  void note(Limiters::value_type& limiter);
  void report_suppressed(std::uint64_t batch);
  void put(std::size_t from);
  bool put_alert(const Match& match, const MatchForm& form, bool show);
  void spill();
  void note_place(std::uint64_t place);
  bool allows(Limiters::value_type& limiter);

  [[nodiscard]] bool is_due(const Limiters::value_type& limiter, std::chrono::steady_clock::time_point now) const;

  std::vector<SinkOptions> sinks_;
  Clock now_;
  std::array<MatchForm, 2> forms_;  // by TimeForm
  bool closed_ = false;
  Limiters limiters_;
  Routes routes_;
  const Routes::value_type* route_ = nullptr;  // route of the latest match; matches arrive grouped by query
  AlertMemory memory_;
  std::shared_ptr<std::string> text_;
  std::vector<AlertList> lists_;
  std::shared_ptr<AlertSpool> spool_;        // holds all alerts, once they are too many
  std::vector<std::uint64_t> spooled_;       // number of alerts in it, by sink
  std::vector<std::uint32_t> receivers_;     // sinks of the alert that is being written
  std::vector<std::uint32_t> wanting_;       // sinks of the match that is being written, whatever their form
  std::map<Key, std::uint64_t> suppressed_;  // for take_suppressed

  // Those who look on are one more sink behind the others, without options or limits of its own.
  bool shows_ = false;
  std::uint64_t tail_ = 0;
  std::array<AlertCursor, 2> places_;  // in the spool, of the last two alerts whose number is a multiple of tail_
  std::array<AlertCursor, 2> places_before_;
  SeenAlerts seen_;

  // State between begin() and commit() or abort().
  std::uint64_t turn_ = 0;
  std::chrono::steady_clock::time_point time_;
  std::vector<Before> before_;
  std::size_t text_before_ = 0;
  std::vector<std::size_t> sizes_before_;
  std::uint64_t spool_before_ = 0;  // used with spool_, instead of the two above
  std::vector<std::uint64_t> spooled_before_;
};

}  // namespace deltamatch::ingest
