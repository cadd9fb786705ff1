// Makes alerts of a batch's matches and hands each to the sinks of its query that want it.
#pragma once

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
#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/alert/alert_spool.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// What sinks did not get because of their rate limit.
struct Suppressed {
  std::string query;
  std::string sink;
  std::uint64_t count = 0;
};

/// How many bytes of alerts are held in memory; more go to a file without a name in `folder` (empty: the one for temporary
/// files).
struct AlertMemory {
  std::size_t bytes = std::size_t{8} << 20;
  std::filesystem::path folder;
};

/// Takes matches from the engine and keeps the alerts of the batch per sink until take() moves them out. Every alert is encoded
/// once. Its memory is bounded however many alerts there are. Not thread-safe: the engine's thread calls it.
///
/// Rate limits hold per query and sink: an interval begins with the first alert after the last one's end; what exceeds the
/// limit within it is suppressed. The first batch that begins after the interval's end carries one record of how many that were
/// (append_suppressed), before its alerts; where none comes the caller makes one, empty, once due() tells so. The clock is read
/// once per batch.
class AlertRouter final : public MatchSink {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Sinks are numbered in the order given. Their names are distinct.
  explicit AlertRouter(std::span<const SinkOptions> sinks, Clock now = std::chrono::steady_clock::now, AlertMemory memory = {});

  /// The standing queries and their sinks from the next batch on. A query that stays, by its name, stays where it is in its
  /// interval. Throws Error(configuration) where a sink is unknown; then all is as before.
  void set_queries(std::span<const ServiceQuery> queries);

  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  /// Where something is lacking, a record tells each sink of the query (append_partial), whatever its limits.
  void end(const ListingEnd& end) override;
  /// Adds the alerts since begin to what take() gives.
  void commit() override;
  /// Drops them, and what they counted for the rate limits.
  void abort() noexcept override;

  /// A sink for the matches of Engine::match that are told when a query is added: what it writes comes out as alerts of batch
  /// `batch` at `time`, without a cause. Holds as long as the router.
  [[nodiscard]] std::unique_ptr<MatchSink> existing(std::uint64_t batch, std::optional<Timestamp> time);

  /// Whether the next batch begins with a record of what was suppressed.
  [[nodiscard]] bool due() const;
  /// From now on all that was suppressed is due, also where its interval has not ended. True where there is any.
  bool close_intervals();

  /// The alerts since the last call by sink, in the order written. Lists share their memory, or are all streamed from one file.
  [[nodiscard]] std::vector<AlertList> take();
  /// What the committed batches since the last call suppressed; only counts above 0.
  [[nodiscard]] std::vector<Suppressed> take_suppressed();

 private:
  struct LimiterState {
    std::chrono::steady_clock::time_point since;  ///< when the interval began
    bool open = false;                            ///< there is one
    std::uint64_t sent = 0;                       ///< in it
    std::uint64_t suppressed = 0;                 ///< ever
    std::uint64_t told = 0;                       ///< of those, by records
  };
  /// Of one query and one sink.
  struct Limiter {
    LimiterState state;
    std::uint64_t noted = 0;  ///< the latest turn whose beginning state is in before_
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
  void spill();
  bool allows(Limiters::value_type& limiter);

  [[nodiscard]] bool is_due(const Limiters::value_type& limiter, std::chrono::steady_clock::time_point now) const;

  std::vector<SinkOptions> sinks_;
  Clock now_;
  bool closed_ = false;
  Limiters limiters_;
  Routes routes_;
  const Routes::value_type* route_ = nullptr;  // of the latest match: they come by query
  AlertMemory memory_;
  std::shared_ptr<std::string> text_;
  std::vector<AlertList> lists_;
  std::shared_ptr<AlertSpool> spool_;        // where all alerts are, once they are too many
  std::vector<std::uint64_t> spooled_;       // in it, by sink
  std::vector<std::uint32_t> receivers_;     // of the alert that is being written
  std::map<Key, std::uint64_t> suppressed_;  // for take_suppressed

  // From begin to commit or abort.
  std::uint64_t turn_ = 0;
  std::chrono::steady_clock::time_point time_;
  std::vector<Before> before_;
  std::size_t text_before_ = 0;
  std::vector<std::size_t> sizes_before_;
  std::uint64_t spool_before_ = 0;  // with spool_, in place of the last two
  std::vector<std::uint64_t> spooled_before_;
};

}  // namespace deltamatch::ingest
