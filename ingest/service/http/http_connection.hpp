// One client of the HTTP server. Everything runs in the server's one thread, except HttpConnection::made.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/service/http/http_request.hpp"
#include "ingest/service/http/http_server.hpp"
#include "ingest/service/http/http_token.hpp"

namespace deltamatch::ingest {

class HttpConnection;

/// What connections need from their server.
class HttpHost {
 public:
  virtual ~HttpHost() = default;
  [[nodiscard]] virtual const HttpLimits& limits() const noexcept = 0;
  [[nodiscard]] virtual const HttpHosts& hosts() const noexcept = 0;
  [[nodiscard]] virtual const HttpRoutes& routes() const noexcept = 0;
  [[nodiscard]] virtual HttpToken& token() noexcept = 0;
  /// Runs the route's handler, and then calls answer() or made().
  virtual void make(const std::shared_ptr<HttpConnection>& connection, const HttpRoute& route, HttpRequest request) = 0;
  /// The connection starts to wait for its client again. It becomes the youngest of those that wait.
  virtual void renew(HttpConnection& connection) noexcept = 0;
  /// Reserves memory for an answer. If necessary, it closes the oldest connections whose clients have not taken their answer
  /// yet. Returns false if there is still too little.
  [[nodiscard]] virtual bool reserve(const HttpConnection& connection, std::size_t bytes) = 0;
  virtual void release(std::size_t bytes) noexcept = 0;
  /// Counts one more stream. Returns false if there are too many.
  [[nodiscard]] virtual bool open_stream() noexcept = 0;
  virtual void close_stream() noexcept = 0;
  virtual void closed(HttpConnection& connection) noexcept = 0;
  virtual void failed(std::string_view what) noexcept = 0;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::ip::tcp::socket socket, HttpHost& host);

  void start();
  void answer(HttpReply reply);
  /// Any thread may call it. It stores the reply that answer_made() sends. The server calls answer_made() at once; if that
  /// fails, a timer does.
  void made(HttpReply reply) noexcept;
  void answer_made();
  /// Ends the connection because there are too many. A client that is still sending its request gets a short answer if it takes
  /// that at once.
  void turn_away() noexcept;
  void close() noexcept;
  /// Whether the connection waits for its client, not for the server.
  [[nodiscard]] bool idle() const noexcept { return phase_ != Phase::waiting && phase_ != Phase::streaming; }
  [[nodiscard]] bool holds_answer() const noexcept { return reserved_ != 0; }

 private:
  enum class Phase : std::uint8_t { asking, waiting, answering, streaming, leaving };
  using Step = void (HttpConnection::*)(const boost::system::error_code&, std::size_t);

  auto then(Step step);
  void take(Step step, const boost::system::error_code& error, std::size_t bytes) noexcept;
  void enter(Phase phase);
  void arm(std::chrono::milliseconds time);
  void late(const boost::system::error_code& error, std::size_t);
  void head_read(const boost::system::error_code& error, std::size_t);
  void told_to_continue(const boost::system::error_code& error, std::size_t);
  void body_read(const boost::system::error_code& error, std::size_t);
  void unreadable(const boost::system::error_code& error);
  [[nodiscard]] HttpHead head() const;
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::size_t body_limit() const noexcept;
  void write(HttpReply reply);
  void set_head(const HttpReply& reply);
  void begin_stream(const boost::system::error_code& error, std::size_t);
  void woke(const boost::system::error_code& error, std::size_t);
  void stream_more();
  void streamed(const boost::system::error_code& error, std::size_t);
  void end_answer();
  void answered(const boost::system::error_code& error, std::size_t);
  void drained(const boost::system::error_code& error, std::size_t bytes);

  boost::asio::ip::tcp::socket socket_;
  HttpHost& host_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  Phase phase_ = Phase::asking;
  bool late_ = false;
  bool closed_ = false;
  std::size_t reserved_ = 0;
  std::size_t drained_ = 0;
  std::array<char, 2048> rest_;
  const HttpRoute* route_ = nullptr;
  HttpRequest request_;
  std::shared_ptr<HttpStream> stream_;
  bool streams_ = false;                                                                            // counted as a stream
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>> header_;  // of a stream
  std::string piece_;  // of the stream: what the client has not taken yet
  std::atomic<bool> woken_{false};
  HttpReply made_;
  std::atomic<bool> is_made_{false};
};

}  // namespace deltamatch::ingest
