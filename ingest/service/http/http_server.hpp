// The service's own HTTP server: metrics, health, status and reload.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Answers of the service. Called from the server's threads, several at once; each may be called until stop() has returned.
/// What they throw is the client's answer (500) and is told. It never ends the process.
struct HttpHandlers {
  std::function<std::string()> metrics;    ///< Metrics::text
  std::function<std::string()> not_ready;  ///< why it is not ready; empty: it is
  std::function<std::string()> status;     ///< one JSON object
  /// Loads the queries anew and says what changed, one JSON object. Throws Error(configuration) where the configuration or the
  /// service's state does not allow it (409), anything else where it failed (500).
  std::function<std::string()> reload;
};

struct HttpLimits {
  std::size_t threads = 2;        ///< for /metrics and /status; /readyz and /reload have one each, /livez needs none
  std::size_t waiting = 64;       ///< requests for which no thread is free; beyond it they are answered 503
  std::size_t connections = 256;  ///< open; beyond it the one goes whose client has been awaited the longest
  std::size_t request_bytes = std::size_t{16} << 10;  ///< of a request's head, and again of its body
  std::size_t answer_bytes = std::size_t{64} << 20;   ///< of all answers that clients have not taken yet
  std::chrono::milliseconds time{5'000};              ///< to send a request, and again to take the answer
};

/// GET and HEAD of /metrics, /livez (200 while the server lives), /readyz (503 with the reason), /status; POST /reload. What
/// judge() refuses is refused. Every error has a body {"v":1,"error":"…"}. Ranges are ignored, bodies are read and dropped, and
/// there is one request per connection.
///
/// One thread serves all connections, so that a client that is slow holds up no other; one that takes longer than
/// HttpLimits::time is cut off. Thread-safe.
class HttpServer {
 public:
  /// Binds and serves from then on. `journal` outlives it. Throws Error where the address is taken or unknown.
  HttpServer(const HttpOptions& options, HttpHandlers handlers, Journal& journal, const HttpLimits& limits = {});
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Takes no more connections and closes those that are open; waits for handlers that run. Idempotent.
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace deltamatch::ingest
