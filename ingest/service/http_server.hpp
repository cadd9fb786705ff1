// The service's own HTTP server: metrics, health, status and reload.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/service/options.hpp"

namespace deltamatch::ingest {

/// Answers of the service. Called from the server's threads, several at once; each may be called until stop() has returned.
struct HttpHandlers {
  std::function<std::string()> metrics;    ///< Metrics::text
  std::function<std::string()> not_ready;  ///< why it is not ready; empty: it is
  std::function<std::string()> status;     ///< one JSON object
  /// Loads the queries anew and says what changed, one JSON object. Throws Error(configuration) where the configuration or the
  /// service's state does not allow it (409), anything else where it failed (500).
  std::function<std::string()> reload;
};

struct HttpLimits {
  std::size_t threads = 4;   ///< requests answered side by side
  std::size_t waiting = 64;  ///< connections taken and not yet served; beyond it they queue in the kernel
  std::size_t request_bytes = std::size_t{16} << 10;
  std::chrono::milliseconds time{5'000};  ///< to send a request, and again to take the answer
};

/// GET /metrics, /livez (200 while the server lives), /readyz (503 with the reason), /status; POST /reload, which refuses
/// requests of web pages (those with an Origin). One request per connection. A client that is slow, or sends too much, is cut
/// off after HttpLimits::time: it cannot hold a thread for longer.
class HttpServer {
 public:
  /// Binds and serves from then on. Throws Error where the address is taken or unknown.
  HttpServer(const HttpOptions& options, HttpHandlers handlers, const HttpLimits& limits = {});
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Takes no more connections and cuts those off that send or receive; waits for handlers that run. Idempotent.
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace deltamatch::ingest
