// The service's own HTTP server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ingest/service/http/http_route.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

struct HttpLimits {
  std::size_t threads = 2;        ///< of HttpThreads::pages
  std::size_t waiting = 64;       ///< requests that wait for a thread; any more are answered 503
  std::size_t connections = 256;  ///< open ones; one more replaces the connection that has waited longest for its client
  std::size_t streams = 128;      ///< open ones, not counted as connections; any more are answered 503
  std::size_t request_bytes = std::size_t{16}
                              << 10;  ///< limit for a request's head, and for a body that its route does not take
  std::size_t answer_bytes = std::size_t{64} << 20;  ///< limit for all answers that clients have not taken yet
  std::chrono::milliseconds time{5'000};          ///< to send a request, and again to take the answer, or a piece of a stream
  std::chrono::milliseconds stream_pause{1'000};  ///< a stream that has nothing to send is asked again after this time
};

/// Serves routes. judge() decides what is refused, and then HttpToken. Every error has a body {"v":1,"error":"…"}. Ranges are
/// ignored. Each connection carries one request. Exceptions of handlers become answers (500) and are logged.
///
/// One thread serves all connections, so a slow client does not delay others. A client that takes longer than HttpLimits::time
/// is cut off. Thread-safe.
class HttpServer {
 public:
  /// Binds the address and starts to serve. The server's threads call the handlers, several at a time, until stop() has
  /// returned. `journal` must outlive it. Throws Error if the address is in use or unknown.
  HttpServer(const HttpOptions& options, std::vector<HttpRoute> routes, Journal& journal, const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Accepts no more connections, closes the open ones, and waits for running handlers. Idempotent.
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace deltamatch::ingest
