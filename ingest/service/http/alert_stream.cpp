#include "ingest/service/http/alert_stream.hpp"

#include <charconv>

#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view heartbeat = ":\n\n";
constexpr std::size_t most_queries = 64;

/// Sets a parameter. Returns the fault, or nothing.
std::string set(AlertWish& wish, const std::string& name, const std::string& value) {
  if (name == "query") {
    if (wish.filter.queries.size() == most_queries) return "more than 64 queries are named; name fewer, or none for all";
    append_json_string(wish.filter.queries.emplace_back(), value);
  } else if (name == "sign") {
    // A plus that is not escaped has become a blank.
    if (value == "+" || value == " ") {
      wish.filter.signs = Signs::added;
    } else if (value == "-") {
      wish.filter.signs = Signs::removed;
    } else {
      return "sign is + or -; leave it out for both";
    }
  } else if (name == "after") {
    wish.after = feed_place(value);
    if (!wish.after) return "after is the id of an event, such as 17.3";
  } else if (name == "last") {
    const char* const end = value.data() + value.size();
    const auto [read, error] = std::from_chars(value.data(), end, wish.last);
    if (error != std::errc{} || read != end) return "last is a number of alerts, such as 100";
  }
  return {};
}

}  // namespace

AlertWish alert_wish(const std::vector<std::pair<std::string, std::string>>& parameters, std::string_view last_event_id) {
  AlertWish wish;
  for (const auto& [name, value] : parameters) {
    wish.error = set(wish, name, value);
    if (!wish.error.empty()) return wish;
  }
  if (!last_event_id.empty()) {
    wish.after = feed_place(last_event_id);
    if (!wish.after) wish.error = "Last-Event-ID is the id of an event, such as 17.3";
  }
  return wish;
}

AlertStream::AlertStream(AlertFeed& feed, const AlertWish& wish, const AlertStreamLimits& limits)
    : feed_(feed), limits_(limits), reader_(feed, wish.filter, wish.after, wish.last) {
  ++feed_.watchers().open;
}

AlertStream::~AlertStream() {
  if (listener_) feed_.unlisten(*listener_);
  --feed_.watchers().open;
}

void AlertStream::start(std::function<void()> wake) { listener_ = feed_.listen(std::move(wake)); }

std::optional<std::string> AlertStream::next() {
  FeedReader::Portion portion = reader_.next(limits_.piece);
  feed_.watchers().missed += reader_.missed() - missed_;
  missed_ = reader_.missed();
  const auto now = Clock::now();
  std::string text = std::move(portion.head);
  text.reserve(portion.bytes);
  for (const std::string_view piece : portion.pieces) text += piece;
  if (text.empty() && now - sent_ >= limits_.heartbeat) text = heartbeat;
  if (!text.empty()) sent_ = now;
  return text;
}

HttpRoute alert_route(AlertFeed& feed, const AlertStreamLimits& limits) {
  HttpRoute route{"GET", "/v1/alerts", HttpThreads::none};
  route.handler = [&feed, limits](const HttpRequest& request) {
    const AlertWish wish = alert_wish(request.parameters, request.header("last-event-id"));
    if (!wish.error.empty()) return http_error(400, wish.error);
    if (feed.watchers().open >= limits.streams) {
      ++feed.watchers().refused;
      return http_error(503,
                        std::to_string(limits.streams) + " streams of alerts are open, and there may be no more; close one");
    }
    HttpReply reply{200, {}, "text/event-stream", {}, {}};
    reply.headers.emplace_back("X-Accel-Buffering", "no");  // proxies must not hold events back
    reply.stream = std::make_shared<AlertStream>(feed, wish, limits);
    return reply;
  };
  return route;
}

}  // namespace deltamatch::ingest
