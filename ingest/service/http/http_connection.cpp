#include "ingest/service/http/http_connection.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <utility>

namespace deltamatch::ingest {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view no_room =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 1\r\n\r\n"
    "{\"v\":1,\"error\":\"too many connections are open; try again\"}\n";
/// The limits on what is read from a client after its answer. If the socket were closed at once, the client might lose the
/// answer.
constexpr std::size_t most_drained = std::size_t{1} << 20;
constexpr std::chrono::milliseconds longest_draining{1000};
constexpr int stream_buffer = 64 << 10;
constexpr std::chrono::milliseconds stream_patience{40'000};

}  // namespace

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, HttpHost& host)
    : socket_(std::move(socket)),
      host_(host),
      timer_(socket_.get_executor()),
      buffer_(host.limits().request_bytes + sizeof(rest_)) {
  parser_.header_limit(static_cast<std::uint32_t>(host.limits().request_bytes));
  parser_.body_limit(boost::none);  // the route decides
}

/// A handler that continues with `step`, unless the connection is closed by then.
auto HttpConnection::then(Step step) {
  return [self = shared_from_this(), step](const error_code& error, std::size_t bytes = 0) { self->take(step, error, bytes); };
}

/// Runs a step. A failure ends this connection only.
void HttpConnection::take(Step step, const error_code& error, std::size_t bytes) noexcept {
  if (closed_) return;
  try {
    (this->*step)(error, bytes);
  } catch (const std::exception& failure) {
    host_.failed(failure.what());
    close();
  } catch (...) {
    host_.failed("unknown failure");
    close();
  }
}

void HttpConnection::enter(Phase phase) {
  phase_ = phase;
  host_.renew(*this);
}

void HttpConnection::arm(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait(then(&HttpConnection::late));
}

void HttpConnection::late(const error_code& error, std::size_t) {
  if (error || timer_.expiry() > std::chrono::steady_clock::now()) return;
  switch (phase_) {
    case Phase::asking:  // the read ends and is then answered
      late_ = true;
      socket_.cancel();
      break;
    case Phase::waiting:
      if (is_made_) return answer_made();
      arm(host_.limits().time);
      break;
    case Phase::streaming:
      if (piece_.empty()) return stream_more();
      stream_->cut_off();  // the client has not taken the last piece
      return close();
    case Phase::answering:
    case Phase::leaving:
      close();
  }
}

void HttpConnection::start() {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  arm(host_.limits().time);
  http::async_read_header(socket_, buffer_, parser_, then(&HttpConnection::head_read));
}

HttpHead HttpConnection::head() const {
  const auto& request = parser_.get();
  const auto view = [](boost::beast::string_view text) { return std::string_view(text.data(), text.size()); };
  HttpHead head;
  head.method = view(request.method_string());
  head.target = view(request.target());
  head.host_is_optional = request.version() < 11;
  const auto [origin, origins_end] = request.equal_range(http::field::origin);
  for (auto field = origin; field != origins_end; ++field) head.origins.push_back(view(field->value()));
  const auto [host, hosts_end] = request.equal_range(http::field::host);
  for (auto field = host; field != hosts_end; ++field) head.hosts.push_back(view(field->value()));
  const auto [site, sites_end] = request.equal_range("Sec-Fetch-Site");
  for (auto field = site; field != sites_end; ++field) head.fetch_sites.push_back(view(field->value()));
  head.fetch_mode = view(request["Sec-Fetch-Mode"]);
  head.fetch_destination = view(request["Sec-Fetch-Dest"]);
  return head;
}

/// The client's address, or an empty text if it is gone.
std::string HttpConnection::address() const {
  error_code gone;
  const auto client = socket_.remote_endpoint(gone);
  return gone ? std::string() : client.address().to_string();
}

void HttpConnection::head_read(const error_code& error, std::size_t) {
  // The time may have passed when the read had just ended. Then nothing was cancelled, and no timer watches what follows.
  if (error || late_) return unreadable(error);
  HttpVerdict verdict = judge(head(), host_.hosts(), host_.routes());
  if (verdict.route == nullptr) {
    HttpReply reply = http_error(verdict.status, verdict.error);
    if (!verdict.allow.empty()) reply.headers.emplace_back("Allow", verdict.allow);
    return answer(std::move(reply));
  }
  const auto field = [&](std::string_view name) {
    const auto value = parser_.get()[boost::beast::string_view(name.data(), name.size())];
    return std::string_view(value.data(), value.size());
  };
  if (auto refusal = host_.token().refusal(verdict.route->access, field("authorization"), address()))
    return answer(std::move(*refusal));
  route_ = verdict.route;
  request_ = std::move(verdict.request);
  request_.client = address();
  for (const std::string_view name : HttpRequest::passed_on) {
    if (const std::string_view value = field(name); !value.empty()) request_.headers.emplace(name, value);
  }
  parser_.body_limit(body_limit());
  const auto length = parser_.content_length();
  if (length && *length > body_limit()) return unreadable(http::error::body_limit);
  const bool asks = !parser_.is_done() && boost::beast::iequals(parser_.get()[http::field::expect], "100-continue");
  if (!asks) return told_to_continue({}, 0);
  asio::async_write(socket_, asio::buffer(go_on.data(), go_on.size()), then(&HttpConnection::told_to_continue));
}

void HttpConnection::told_to_continue(const error_code& error, std::size_t) {
  if (error || late_) return unreadable(error);
  http::async_read(socket_, buffer_, parser_, then(&HttpConnection::body_read));
}

void HttpConnection::body_read(const error_code& error, std::size_t) {
  if (error) return unreadable(error);
  enter(Phase::waiting);
  arm(host_.limits().time);
  if (route_->body_bytes != 0) request_.body = std::move(parser_.get().body());
  host_.make(shared_from_this(), *route_, std::move(request_));
}

/// The limit for a body of the route. One that nobody wants is dropped up to the limit for a head.
std::size_t HttpConnection::body_limit() const noexcept {
  return route_->body_bytes != 0 ? route_->body_bytes : host_.limits().request_bytes;
}

/// Answers a request that is malformed or too late.
void HttpConnection::unreadable(const error_code& error) {
  const std::string limit = std::to_string(host_.limits().request_bytes);
  if (late_) {
    return answer(http_error(
        408, "the request did not come within " + std::to_string(host_.limits().time.count()) + " ms; send it at once"));
  }
  if (error == http::error::end_of_stream || error.category() != make_error_code(http::error::bad_method).category())
    return close();
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return answer(http_error(431, "the request's head is longer than " + limit + " bytes; send fewer headers"));
  if (error == http::error::body_limit)
    return answer(http_error(413, "the request's body is longer than " + std::to_string(body_limit()) + " bytes; send " +
                                      (route_->body_bytes != 0 ? "less" : "none")));
  answer(http_error(400, "this is not a request of HTTP/1.1: " + error.message()));
}

void HttpConnection::answer(HttpReply reply) {
  if (closed_) return;
  if (!host_.reserve(*this, reply.body.size())) {
    reply = http_error(500, "the answer is longer than " + std::to_string(host_.limits().answer_bytes) + " bytes");
    if (!host_.reserve(*this, reply.body.size())) return close();
  }
  reserved_ = reply.body.size();
  write(std::move(reply));
}

void HttpConnection::made(HttpReply reply) noexcept {
  made_ = std::move(reply);
  is_made_ = true;
}

void HttpConnection::answer_made() {
  if (phase_ == Phase::waiting) answer(std::move(made_));
}

void HttpConnection::set_head(const HttpReply& reply) {
  const auto view = [](std::string_view text) { return boost::beast::string_view(text.data(), text.size()); };
  response_.version(parser_.get().version() == 10 ? 10 : 11);
  response_.result(reply.status);
  response_.keep_alive(false);
  if (!reply.type.empty()) response_.set(http::field::content_type, view(reply.type));
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  if (reply.status == 503) response_.set(http::field::retry_after, "1");
  for (const auto& [name, value] : reply.headers) response_.set(view(name), view(value));
}

void HttpConnection::write(HttpReply reply) {
  const bool head_only = parser_.get().method() == http::verb::head;
  if (reply.stream && !head_only) {
    if (!host_.open_stream()) return write(http_error(503, "too many streams are open; close one, or try again"));
    streams_ = true;
  }
  enter(Phase::answering);
  set_head(reply);
  arm(host_.limits().time);
  if (streams_) {
    stream_ = std::move(reply.stream);
    header_.emplace(response_);
    http::async_write_header(socket_, *header_, then(&HttpConnection::begin_stream));
    return;
  }
  const bool has_length = !reply.stream && reply.status != 204 && reply.status != 304;
  if (has_length) response_.content_length(reply.body.size());
  if (has_length && !head_only) response_.body() = std::move(reply.body);
  http::async_write(socket_, response_, then(&HttpConnection::answered));
}

/// From here on, the end of the connection is the end of the body.
void HttpConnection::begin_stream(const error_code& error, std::size_t) {
  if (error) return close();
  // Little waits in the kernel, so a client that takes nothing is noticed, and so is one that has vanished without a word.
  error_code ignored;
  socket_.set_option(asio::socket_base::send_buffer_size(stream_buffer), ignored);
  const auto patience = static_cast<unsigned>(stream_patience.count());
  ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
  enter(Phase::streaming);
  stream_->start([this, self = weak_from_this()] {  // the stream is gone before the connection is
    if (woken_.exchange(true)) return;
    try {
      asio::post(socket_.get_executor(), [self] {
        if (const auto connection = self.lock()) connection->take(&HttpConnection::woke, {}, 0);
      });
    } catch (...) {
      woken_ = false;  // the connection's timer asks the stream
    }
  });
  drained({}, 0);  // finds out that the client has left
  stream_more();
}

void HttpConnection::woke(const error_code&, std::size_t) {
  woken_ = false;
  if (phase_ == Phase::streaming && piece_.empty()) stream_more();
}

/// Sends the next piece, or waits until there is one.
void HttpConnection::stream_more() {
  std::optional<std::string> next = stream_->next();
  if (!next) return end_answer();
  piece_ = std::move(*next);
  arm(piece_.empty() ? host_.limits().stream_pause : host_.limits().time);
  if (!piece_.empty()) asio::async_write(socket_, asio::buffer(piece_), then(&HttpConnection::streamed));
}

void HttpConnection::streamed(const error_code& error, std::size_t) {
  if (error) return close();
  piece_.clear();
  stream_more();
}

void HttpConnection::answered(const error_code& error, std::size_t) {
  host_.release(std::exchange(reserved_, 0));
  response_ = {};
  if (error) return close();
  end_answer();
}

/// Says that nothing more comes.
void HttpConnection::end_answer() {
  error_code cannot;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, cannot);
  if (cannot) return close();
  const bool listens = std::exchange(stream_, nullptr) != nullptr;
  enter(Phase::leaving);
  arm(std::min(host_.limits().time, longest_draining));
  if (!listens) drained({}, 0);
}

/// Reads on until the client closes its side, too.
void HttpConnection::drained(const error_code& error, std::size_t bytes) {
  drained_ += bytes;
  if (error || drained_ > most_drained) return close();
  socket_.async_read_some(asio::buffer(rest_), then(&HttpConnection::drained));
}

void HttpConnection::turn_away() noexcept {
  error_code ignored;
  if (phase_ == Phase::asking && !socket_.non_blocking(true, ignored))
    socket_.send(asio::buffer(no_room.data(), no_room.size()), 0, ignored);
  close();
}

void HttpConnection::close() noexcept {
  if (std::exchange(closed_, true)) return;
  const std::shared_ptr<HttpConnection> self = shared_from_this();  // closed() drops the server's reference
  host_.release(std::exchange(reserved_, 0));
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel(ignored);
  stream_.reset();
  if (std::exchange(streams_, false)) host_.close_stream();
  host_.closed(*this);
}

}  // namespace deltamatch::ingest
