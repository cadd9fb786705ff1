// The paths of the service.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ingest/service/http/http_route.hpp"

namespace deltamatch::ingest {

/// The answers of the service. Several threads call these functions at a time.
struct HttpHandlers {
  std::function<std::string()> metrics;    ///< Metrics::text
  std::function<std::string()> not_ready;  ///< why the service is not ready; empty if it is
  std::function<std::string()> status;     ///< one JSON object
  /// Reloads the queries and returns what changed, as one JSON object. Throws Error(configuration) if the configuration or the
  /// state of the service does not allow it (409). Any other exception means failure (500).
  std::function<std::string()> reload;
  /// Why this instance could not take over now, if it stands by; else as not_ready. Null: as not_ready.
  std::function<std::string()> not_ready_to_take_over = nullptr;
};

/// GET of /metrics, /livez (200 while the server lives), /readyz (503 with the reason), /status and /v1/openapi.json; POST of
/// /reload. /readyz?for=takeover is also 200 for a standby that could take over.
[[nodiscard]] std::vector<HttpRoute> service_routes(HttpHandlers handlers);

}  // namespace deltamatch::ingest
