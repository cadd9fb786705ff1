// Sends the alerts of the feed to clients, as server-sent events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/service/alert/alert_feed.hpp"
#include "ingest/service/http/http_route.hpp"

namespace deltamatch::ingest {

/// What a client asks for.
struct AlertWish {
  FeedFilter filter;
  std::optional<FeedPlace> after;  ///< it has the alerts up to this one
  std::size_t last = 0;            ///< without `after`: how many earlier ones it wants
  std::string error;               ///< the fault and the remedy; the other fields then mean nothing
};

/// Reads query=a&query=b&sign=+&last=100&after=17.3, in pairs of decoded texts. `last_event_id` is that header, or empty; it
/// beats `after`. Other parameters are ignored.
[[nodiscard]] AlertWish alert_wish(const std::vector<std::pair<std::string, std::string>>& parameters,
                                   std::string_view last_event_id);

struct AlertStreamLimits {
  std::size_t streams = 64;
  std::size_t piece = std::size_t{64} << 10;    ///< bytes that are sent at a time, about
  std::chrono::milliseconds heartbeat{15'000};  ///< time without alerts after which a comment is sent
};

/// HttpLimits::stream_pause for alerts that come without a call of the feed's listeners.
inline constexpr std::chrono::milliseconds alert_stream_pause{250};

class AlertStream;
/// Those that are open, the oldest first.
using OpenStreams = std::list<AlertStream*>;

/// The alerts from the reader's place on, as long as the client stays. Counted in AlertFeed::watchers.
class AlertStream final : public HttpStream {
 public:
  /// The feed must outlive the stream. It is one of `open` until it ends.
  AlertStream(AlertFeed& feed, const AlertWish& wish, const AlertStreamLimits& limits, std::shared_ptr<OpenStreams> open,
              std::string client);
  ~AlertStream() override;
  AlertStream(const AlertStream&) = delete;
  AlertStream& operator=(const AlertStream&) = delete;

  [[nodiscard]] std::optional<std::string> next() override;
  void start(std::function<void()> wake) override;
  void cut_off() noexcept override { ++feed_.watchers().cut_off; }

  [[nodiscard]] const std::string& client() const noexcept { return client_; }
  /// It sends nothing more. The client may connect again.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  AlertFeed& feed_;
  const AlertStreamLimits limits_;
  FeedReader reader_;
  const std::shared_ptr<OpenStreams> open_;
  const std::string client_;
  std::function<void()> wake_;
  bool ended_ = false;
  std::uint64_t missed_ = 0;  // of the reader, already counted
  std::optional<std::uint64_t> listener_;
  Clock::time_point sent_ = Clock::now();
};

/// GET of /v1/alerts. The feed must outlive the server. If there is no room for one more stream, the oldest one of the address
/// with most streams ends. If that address would then have fewer than the client's, the new stream is refused (503) instead.
[[nodiscard]] HttpRoute alert_route(AlertFeed& feed, const AlertStreamLimits& limits = {});

}  // namespace deltamatch::ingest
