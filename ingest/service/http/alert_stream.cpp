#include "ingest/service/http/alert_stream.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

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

/// Makes room for a stream of this client. Returns false if it may have none.
bool make_room(OpenStreams& open, const std::string& client, std::size_t most) {
  if (open.size() < most) return true;
  std::map<std::string_view, std::size_t> counts;
  for (const AlertStream* stream : open) ++counts[stream->client()];
  const auto busiest = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  const auto own = counts.find(client);
  if (busiest == counts.end() || busiest->second <= (own == counts.end() ? 0 : own->second) + 1) return false;
  (*std::ranges::find_if(open, [&](const AlertStream* stream) { return stream->client() == busiest->first; }))->end();
  return true;
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

AlertStream::AlertStream(AlertFeed& feed, const AlertWish& wish, const AlertStreamLimits& limits,
                         std::shared_ptr<OpenStreams> open, std::string client)
    : feed_(feed),
      limits_(limits),
      reader_(feed, wish.filter, wish.after, wish.last),
      open_(std::move(open)),
      client_(std::move(client)) {
  open_->push_back(this);
  ++feed_.watchers().open;
}

void AlertStream::end() {
  ++feed_.watchers().ended;
  ended_ = true;
  open_->remove(this);
  if (wake_) wake_();
}

AlertStream::~AlertStream() {
  if (listener_) feed_.unlisten(*listener_);
  open_->remove(this);
  --feed_.watchers().open;
}

void AlertStream::start(std::function<void()> wake) {
  wake_ = wake;
  listener_ = feed_.listen(std::move(wake));
}

std::optional<std::string> AlertStream::next() {
  if (ended_) return std::nullopt;
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
  route.handler = [&feed, limits, open = std::make_shared<OpenStreams>()](const HttpRequest& request) {
    const AlertWish wish = alert_wish(request.parameters, request.header("last-event-id"));
    if (!wish.error.empty()) return http_error(400, wish.error);
    if (!make_room(*open, request.client, limits.streams)) {
      ++feed.watchers().refused;
      return http_error(
          503, std::to_string(limits.streams) + " streams of alerts are open, and there may be no more; close one of yours");
    }
    HttpReply reply{200, {}, "text/event-stream", {}, {}};
    reply.headers.emplace_back("X-Accel-Buffering", "no");  // proxies must not hold events back
    reply.stream = std::make_shared<AlertStream>(feed, wish, limits, open, request.client);
    return reply;
  };
  return route;
}

}  // namespace deltamatch::ingest
