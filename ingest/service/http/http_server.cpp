#include "ingest/service/http/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/http/http_connection.hpp"
#include "ingest/service/http/http_request.hpp"
#include "ingest/service/http/http_token.hpp"
#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds pause_without_descriptors{100};

/// The threads of one kind, and the limit on requests that they serve or that wait for them.
struct RequestPool {
  RequestPool(std::size_t thread_count, std::size_t most_) : threads(thread_count), most(most_) {}
  asio::thread_pool threads;
  std::size_t most;
  std::atomic<std::size_t> asked{0};
};

/// Occupies one slot of a pool until it is destroyed.
class RequestSlot {
 public:
  explicit RequestSlot(RequestPool& pool) noexcept : pool_(pool) { ++pool.asked; }
  ~RequestSlot() { --pool_.asked; }
  RequestSlot(const RequestSlot&) = delete;
  RequestSlot& operator=(const RequestSlot&) = delete;

 private:
  RequestPool& pool_;
};

}  // namespace

class HttpServer::Server final : public HttpHost {
 public:
  Server(const HttpOptions& options, std::vector<HttpRoute> routes, Journal& journal, const HttpLimits& limits);
  ~Server() override { stop_serving(); }
  void stop_serving();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  [[nodiscard]] const HttpLimits& limits() const noexcept override { return limits_; }
  [[nodiscard]] const HttpHosts& hosts() const noexcept override { return *hosts_; }
  [[nodiscard]] const HttpRoutes& routes() const noexcept override { return routes_; }
  [[nodiscard]] HttpToken& token() noexcept override { return token_; }
  void make(const std::shared_ptr<HttpConnection>& connection, const HttpRoute& route, HttpRequest request) override;
  void renew(HttpConnection& connection) noexcept override;
  [[nodiscard]] bool reserve(const HttpConnection& connection, std::size_t bytes) override;
  void release(std::size_t bytes) noexcept override { answer_bytes_ -= bytes; }
  [[nodiscard]] bool open_stream() noexcept override;
  void close_stream() noexcept override { --streams_; }
  void closed(HttpConnection& connection) noexcept override;
  void failed(std::string_view what) noexcept override;

 private:
  using Connections = std::list<std::shared_ptr<HttpConnection>>;

  void bind(const HttpOptions& options);
  void serve() noexcept;
  void accept();
  void accepted(const error_code& error, tcp::socket socket);
  void make_room();
  [[nodiscard]] Connections::iterator find(const HttpConnection& connection) noexcept;
  [[nodiscard]] RequestPool& pool_of(HttpThreads threads) noexcept;
  [[nodiscard]] HttpReply reply_to(const HttpRoute& route, const HttpRequest& request) noexcept;

  const HttpRoutes routes_;
  Journal& journal_;
  HttpLimits limits_;
  HttpToken token_;
  std::optional<HttpHosts> hosts_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::mutex stopping_;

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  Connections connections_;  // those that wait for their clients have the oldest first
  std::size_t answer_bytes_ = 0;
  std::size_t streams_ = 0;  // of the connections

  std::optional<RequestPool> pages_;
  std::optional<RequestPool> health_;
  std::optional<RequestPool> reloads_;
  std::optional<RequestPool> changes_;
  std::thread thread_;
};

HttpServer::Server::Server(const HttpOptions& options, std::vector<HttpRoute> routes, Journal& journal,
                           const HttpLimits& limits)
    : routes_(std::move(routes)), journal_(journal), limits_(limits), token_(options.admin_token, journal) {
  bind(options);
  accept();
  const SignalsBlocked signals_are_for_other_threads;
  pages_.emplace(limits_.threads, limits_.waiting);
  health_.emplace(1, limits_.waiting);
  reloads_.emplace(1, 1);
  changes_.emplace(2, limits_.waiting);  // one may list existing matches while the other one says so
  thread_ = std::thread([this] { serve(); });
}

void HttpServer::Server::bind(const HttpOptions& options) {
  error_code error;
  tcp::resolver resolver(io_);
  const auto found = resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  for (const auto& entry : found) {
    const tcp::endpoint at = entry.endpoint();
    error_code ignored;
    acceptor_.close(ignored);
    if (acceptor_.open(at.protocol(), error) || acceptor_.set_option(tcp::acceptor::reuse_address(true), error) ||
        acceptor_.bind(at, error) || acceptor_.listen(asio::socket_base::max_listen_connections, error))
      continue;
    port_ = acceptor_.local_endpoint().port();
    hosts_.emplace(options, at.address().is_loopback());
    return;
  }
  throw Error("http", "cannot listen on " + options.host + ':' + std::to_string(options.port) + ": " + error.message(),
              "choose another host or port; port 0 takes any that is free");
}

/// Runs the event loop. No failure that a client causes ends the thread.
void HttpServer::Server::serve() noexcept {
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& error) {
      failed(error.what());
    } catch (...) {
      failed("unknown failure");
    }
  }
}

void HttpServer::Server::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    try {
      accepted(error, std::move(socket));
    } catch (const std::exception& failure) {
      failed(failure.what());
    }
    if (!error) return accept();
    pause_.expires_after(pause_without_descriptors);
    pause_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

void HttpServer::Server::accepted(const error_code& error, tcp::socket socket) {
  make_room();
  if (error) return failed("a connection could not be accepted: " + error.message());
  connections_.push_back(std::make_shared<HttpConnection>(std::move(socket), *this));
  const std::shared_ptr<HttpConnection> connection = connections_.back();
  try {
    connection->start();
  } catch (...) {
    connection->close();
    throw;
  }
}

void HttpServer::Server::make_room() {
  while (connections_.size() - streams_ >= limits_.connections) {
    const auto oldest = std::ranges::find_if(connections_, [](const auto& connection) { return connection->idle(); });
    if (oldest == connections_.end()) return;  // the server works on all of them, and the desks limit their number
    std::shared_ptr<HttpConnection>(*oldest)->turn_away();
  }
}

HttpServer::Server::Connections::iterator HttpServer::Server::find(const HttpConnection& connection) noexcept {
  return std::ranges::find(connections_, &connection, [](const auto& each) { return each.get(); });
}

void HttpServer::Server::renew(HttpConnection& connection) noexcept {
  const auto at = find(connection);
  if (at != connections_.end()) connections_.splice(connections_.end(), connections_, at);
}

void HttpServer::Server::closed(HttpConnection& connection) noexcept {
  const auto at = find(connection);
  if (at != connections_.end()) connections_.erase(at);
}

bool HttpServer::Server::reserve(const HttpConnection& connection, std::size_t bytes) {
  if (bytes > limits_.answer_bytes) return false;
  while (answer_bytes_ + bytes > limits_.answer_bytes) {
    const auto oldest =
        std::ranges::find_if(connections_, [&](const auto& each) { return each.get() != &connection && each->holds_answer(); });
    if (oldest == connections_.end()) return false;
    std::shared_ptr<HttpConnection>(*oldest)->close();
  }
  answer_bytes_ += bytes;
  return true;
}

void HttpServer::Server::failed(std::string_view what) noexcept {
  try {
    journal_.tell(Level::error, "http failed", {{"error", std::string(what)}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory to log it
  }
}

bool HttpServer::Server::open_stream() noexcept {
  if (streams_ >= limits_.streams) return false;
  ++streams_;
  return true;
}

RequestPool& HttpServer::Server::pool_of(HttpThreads threads) noexcept {
  switch (threads) {
    case HttpThreads::health:
      return *health_;
    case HttpThreads::reload:
      return *reloads_;
    case HttpThreads::changes:
      return *changes_;
    case HttpThreads::pages:
    case HttpThreads::none:
      break;
  }
  return *pages_;
}

void HttpServer::Server::make(const std::shared_ptr<HttpConnection>& connection, const HttpRoute& route, HttpRequest request) {
  if (route.threads == HttpThreads::none) return connection->answer(reply_to(route, request));
  RequestPool& pool = pool_of(route.threads);
  if (pool.asked >= pool.most) {
    return connection->answer(route.threads == HttpThreads::reload
                                  ? http_error(409, "another reload is running; try again")
                                  : http_error(503, "too many requests are waiting; try again"));
  }
  asio::post(pool.threads,
             [this, connection, &route, request = std::move(request), slot = std::make_unique<RequestSlot>(pool)]() mutable {
               connection->made(reply_to(route, request));
               slot.reset();  // before the client can ask again
               try {
                 asio::post(io_, [connection] { connection->answer_made(); });
               } catch (...) {  // NOLINT(bugprone-empty-catch): the connection's timer sends the answer
               }
             });
}

/// The reply of a route. An exception of its handler becomes an error reply.
HttpReply HttpServer::Server::reply_to(const HttpRoute& route, const HttpRequest& request) noexcept {
  constexpr std::string_view last_words = R"({"error":500})";  // needs no memory
  try {
    try {
      return stopped_ ? http_error(503, "the service is stopping") : route.handler(request);
    } catch (const std::exception& error) {
      failed(error.what());
      return http_error(500, error.what());
    } catch (...) {
      failed("unknown failure");
      return http_error(500, "unknown failure");
    }
  } catch (...) {
    return {500, std::string(last_words), {}, {}, {}};
  }
}

void HttpServer::Server::stop_serving() {
  const std::lock_guard lock(stopping_);
  if (stopped_.exchange(true)) return;
  asio::post(io_, [this] {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel(ignored);
    while (!connections_.empty()) std::shared_ptr<HttpConnection>(connections_.front())->close();
  });
  for (std::optional<RequestPool>* pool : {&pages_, &health_, &reloads_, &changes_}) {
    if (*pool) (*pool)->threads.join();
  }
  work_.reset();
  if (thread_.joinable()) thread_.join();
}

HttpServer::HttpServer(const HttpOptions& options, std::vector<HttpRoute> routes, Journal& journal, const HttpLimits& limits)
    : server_(std::make_unique<Server>(options, std::move(routes), journal, limits)) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const noexcept { return server_->port(); }

void HttpServer::stop() { server_->stop_serving(); }

}  // namespace deltamatch::ingest
