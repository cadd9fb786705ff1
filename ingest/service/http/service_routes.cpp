#include "ingest/service/http/service_routes.hpp"

#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/http/openapi.hpp"

namespace deltamatch::ingest {
namespace {

constexpr const char* json_type = "application/json";
constexpr const char* text_type = "text/plain; charset=utf-8";

HttpRoute get(std::string path, HttpThreads threads, std::function<HttpReply()> page) {
  return {
      "GET", std::move(path), threads, HttpAccess::everyone, 0, [page = std::move(page)](const HttpRequest&) { return page(); },
      false};
}

HttpReply reloaded(const std::function<std::string()>& reload) {
  try {
    return {200, reload() + "\n", json_type, {}, {}};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::configuration) return http_error(409, error.what());
    throw;
  }
}

}  // namespace

std::vector<HttpRoute> service_routes(HttpHandlers handlers) {
  const auto ok = [] { return HttpReply{200, "ok\n", text_type, {}, {}}; };
  std::vector<HttpRoute> routes;
  routes.push_back(get("/metrics", HttpThreads::pages, [metrics = std::move(handlers.metrics)] {
    return HttpReply{200, metrics(), std::string(Metrics::content_type), {}, {}};
  }));
  routes.push_back(get("/livez", HttpThreads::none, ok));
  if (!handlers.not_ready_to_take_over) handlers.not_ready_to_take_over = handlers.not_ready;
  routes.push_back({"GET", "/readyz", HttpThreads::health, HttpAccess::everyone, 0,
                    [ok, not_ready = std::move(handlers.not_ready),
                     to_take_over = std::move(handlers.not_ready_to_take_over)](const HttpRequest& request) {
                      const auto what = request.query.find("for");
                      if (what != request.query.end() && what->second != "takeover")
                        return http_error(400, "'for' has only the value takeover; write /readyz?for=takeover, or /readyz");
                      const std::string reason = what == request.query.end() ? not_ready() : to_take_over();
                      return reason.empty() ? ok() : http_error(503, "not ready: " + reason);
                    },
                    false});
  routes.push_back(get("/status", HttpThreads::pages,
                       [status = std::move(handlers.status)] { return HttpReply{200, status() + "\n", json_type, {}, {}}; }));
  routes.push_back(get("/v1/openapi.json", HttpThreads::none,
                       [] { return HttpReply{200, std::string(openapi_text()), json_type, {}, {}}; }));
  routes.push_back({"POST", "/reload", HttpThreads::reload, HttpAccess::admin_if_any, 0,
                    [reload = std::move(handlers.reload)](const HttpRequest&) { return reloaded(reload); }, false});
  return routes;
}

}  // namespace deltamatch::ingest
