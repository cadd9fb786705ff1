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

/// The answers of the service. The server's threads call these functions, several at a time, until stop() has returned. An
/// exception becomes the client's answer (500) and is logged; it never ends the process.
struct HttpHandlers {
  std::function<std::string()> metrics;    ///< Metrics::text
  std::function<std::string()> not_ready;  ///< why the service is not ready; empty if it is
  std::function<std::string()> status;     ///< one JSON object
  /// Reloads the queries and returns what changed, as one JSON object. Throws Error(configuration) if the configuration or the
  /// state of the service does not allow it (409). Any other exception means failure (500).
  std::function<std::string()> reload;
};

struct HttpLimits {
  std::size_t threads = 2;        ///< for /metrics and /status; /readyz and /reload have one each, /livez needs none
  std::size_t waiting = 64;       ///< requests that wait for a thread; any more are answered 503
  std::size_t connections = 256;  ///< open ones; one more replaces the connection that has waited longest for its client
  std::size_t request_bytes = std::size_t{16} << 10;  ///< limit for a request's head, and again for its body
  std::size_t answer_bytes = std::size_t{64} << 20;   ///< limit for all answers that clients have not taken yet
  std::chrono::milliseconds time{5'000};              ///< to send a request, and again to take the answer
};

/// Serves GET and HEAD of /metrics, /livez (200 while the server lives), /readyz (503 with the reason) and /status. It also
/// serves POST of /reload. judge() decides what is refused. Every error has a body {"v":1,"error":"…"}. Ranges are ignored, and
/// request bodies are read and dropped. Each connection carries one request.
///
/// One thread serves all connections, so a slow client does not delay others. A client that takes longer than HttpLimits::time
/// is cut off. Thread-safe.
class HttpServer {
 public:
  /// Binds the address and starts to serve. `journal` must outlive it. Throws Error if the address is in use or unknown.
  HttpServer(const HttpOptions& options, HttpHandlers handlers, Journal& journal, const HttpLimits& limits = {});
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
