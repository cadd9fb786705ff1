#include "ingest/service/http/http_request.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace deltamatch::ingest {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_address(int family, const std::string& text) {
  in6_addr address{};
  return ::inet_pton(family, text.c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_'; });
}

/// The host in "host", "host:port" or "[address]:port", in lower case and without brackets. Returns nothing for any other form.
std::optional<std::string> host_of(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(bracketed ? end + 1 : end);
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
  std::string host = lower(text.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end));
  if (bracketed) return is_address(AF_INET6, host) ? std::optional(host) : std::nullopt;
  if (host.size() > 1 && host.ends_with('.')) host.pop_back();
  return is_name(host) ? std::optional(host) : std::nullopt;
}

struct Target {
  std::string_view path;
  std::string_view query;
  std::optional<std::string_view> host;
};

/// Splits "/path?query" or "http://host/path?query". The host of the second form replaces that of the header.
Target target_of(std::string_view text, std::optional<std::string_view> host) {
  constexpr std::string_view scheme = "http://";
  Target target{{}, {}, host};
  if (lower(text.substr(0, scheme.size())) == scheme) {
    const std::size_t end = std::min(text.find_first_of("/?#", scheme.size()), text.size());
    target.host = text.substr(scheme.size(), end - scheme.size());
    text.remove_prefix(end);
  }
  text = text.substr(0, text.find('#'));
  const std::size_t mark = std::min(text.find('?'), text.size());
  target.path = text.substr(0, mark);
  target.query = text.substr(std::min(mark + 1, text.size()));
  return target;
}

/// Whether the request comes from a page of another origin than `host`. The scheme is not compared: a proxy may speak TLS.
bool is_from_elsewhere(const HttpHead& head, std::string_view host) {
  if (head.origins.empty()) return false;
  const std::string_view origin = head.origins.front();
  const std::size_t scheme = origin.find("://");
  return head.origins.size() > 1 || scheme == std::string_view::npos || lower(origin.substr(scheme + 3)) != lower(host);
}

/// Whether a browser sends the request for a page of another site. Links are allowed, because the linking page does not see the
/// answer.
bool is_foreign(const HttpHead& head) {
  const bool foreign = std::ranges::any_of(
      head.fetch_sites, [](std::string_view site) { return lower(site) != "same-origin" && lower(site) != "none"; });
  const bool reads = head.method == "GET" || head.method == "HEAD";
  const bool link = reads && lower(head.fetch_mode) == "navigate" && lower(head.fetch_destination) == "document";
  return foreign && !link;
}

HttpVerdict refused(unsigned status, std::string error) { return {nullptr, {}, status, std::move(error), {}}; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

HttpHosts::HttpHosts(const HttpOptions& options, bool loopback) : any_(options.any_host), loopback_(loopback) {
  names_.push_back(lower(options.host));
  for (const std::string& host : options.hosts) names_.push_back(lower(host));
}

bool HttpHosts::hold(std::string_view host) const {
  const std::optional<std::string> name = host_of(host);
  if (!name) return false;
  if (any_ || is_address(AF_INET, *name) || is_address(AF_INET6, *name)) return true;
  if (*name == "localhost" || name->ends_with(".localhost")) return true;
  if (!loopback_ && name->find('.') == std::string::npos) return true;
  return std::ranges::find(names_, *name) != names_.end();
}

HttpVerdict judge(const HttpHead& head, const HttpHosts& hosts, const HttpRoutes& routes) {
  const auto [path, query, host] =
      target_of(head.target, head.hosts.empty() ? std::nullopt : std::optional<std::string_view>(head.hosts.front()));
  if (head.hosts.size() > 1) return refused(400, "more than one Host header; send one");
  if (!host && !head.host_is_optional) return refused(400, "no Host header; send one, as HTTP/1.1 wants it");
  if (host && !host_of(*host)) return refused(400, "the Host header is not a host and port; send e.g. Host: localhost:9464");
  if (host && !hosts.hold(*host)) {
    return refused(403, "the service does not answer to the name '" + *host_of(*host) +
                            "'; use an IP address or localhost, or list the name under http.hosts");
  }
  if (is_foreign(head)) return refused(403, "pages of other sites may not call the service; open its address directly");
  std::optional<HttpTarget> target = routes.find(head.method, path, query);
  if (!target)
    return refused(400, "the path or the query is no UTF-8 with each special byte as %XX, or the path has a . or .. in it");
  if (target->allowed.empty() || !(path.empty() || path.starts_with('/')))
    return refused(404, "there is no such path; use " + routes.listed());
  if (target->route == nullptr) {
    const std::string allow = joined(target->allowed);
    HttpVerdict verdict = refused(405, "this path does not take that method; use " + allow);
    verdict.allow = allow;
    return verdict;
  }
  if (target->route->access != HttpAccess::everyone && is_from_elsewhere(head, host.value_or("")))
    return refused(403, "pages of other sites may not change anything here; use curl, or the page that the service has");
  return {target->route, std::move(target->request), 200, {}, {}};
}

}  // namespace deltamatch::ingest
