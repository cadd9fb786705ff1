// Heads of requests, one part a line: method, target, Host, and the rest as headers of browsers. Every request
// gets a page, or an error that says in printable characters what is wrong. No Host is accepted that a web page could choose.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ingest/service/http/http_request.hpp"

namespace {

using namespace deltamatch::ingest;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Names of the Internet have letters and a dot between them, and do not end in localhost.
bool may_be_foreign(std::string_view host) {
  if (host.starts_with('[')) return false;
  std::string_view name = host.substr(0, host.find(':'));
  if (name.ends_with('.')) name.remove_suffix(1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view top = name.substr(dot + 1);
  if (top.size() == 9 && (top[0] == 'l' || top[0] == 'L')) return false;
  return top.find_first_not_of("0123456789") != std::string_view::npos;
}

/// Every kind of pattern and of access.
const HttpRoutes& routes() {
  static const HttpRoutes made({{.method = "GET", .pattern = "/metrics"},
                                {.method = "POST", .pattern = "/reload", .access = HttpAccess::admin_if_any},
                                {.method = "PUT", .pattern = "/v1/queries/{name}", .access = HttpAccess::admin},
                                {.method = "GET", .pattern = "/page/{file*}"}});
  return made;
}

bool changes(const HttpRoute& route) { return route.access != HttpAccess::everyone; }

/// The target may have replaced the Host; then any origin is left to the unit tests.
bool ends_in_host(std::string_view origin, std::string_view host, std::string_view target) {
  const auto lower = [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); };
  if (target.find("://") != std::string_view::npos) return true;
  return origin.size() > host.size() &&
         std::equal(host.rbegin(), host.rend(), origin.rbegin(), [&](char a, char b) { return lower(a) == lower(b); });
}

/// Whether a file's path leads out of its folder.
bool climbs(std::string_view path) { return path == ".." || path.starts_with("../") || path.find("/../") != path.npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string_view> lines = lines_of({reinterpret_cast<const char*>(data), size});
  const auto line = [&](std::size_t i) { return i < lines.size() ? lines[i] : std::string_view(); };
  HttpHead head;
  head.method = line(0);
  head.target = line(1);
  if (lines.size() > 2) head.hosts.push_back(line(2));
  if (lines.size() > 3) head.fetch_sites.push_back(line(3));
  head.fetch_mode = line(4);
  head.fetch_destination = line(5);
  if (lines.size() > 6) head.origins.push_back(line(6));
  head.host_is_optional = lines.size() > 7;
  for (const bool loopback : {true, false}) {
    const HttpHosts hosts({}, loopback);
    if (hosts.hold(line(2)) && may_be_foreign(line(2))) std::abort();
    const HttpVerdict verdict = judge(head, hosts, routes());
    const bool found = verdict.route != nullptr;
    if (found != (verdict.status == 200) || found != verdict.error.empty()) std::abort();
    if ((verdict.status == 405) == verdict.allow.empty()) std::abort();
    if (found && changes(*verdict.route) && !head.origins.empty() && !ends_in_host(line(6), line(2), line(1))) std::abort();
    for (const auto& [name, value] : verdict.request.path) {
      if (value.find('\0') != std::string::npos || (name == "file" && climbs(value))) std::abort();
    }
    for (const char c : verdict.error) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
