#include "ingest/service/http/http_request.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::string_view reading_methods = "GET, HEAD";

struct Path {
  std::string_view path;
  HttpPage page;
  std::string_view allow;
};

constexpr std::array<Path, 5> paths{{{"/metrics", HttpPage::metrics, reading_methods},
                                     {"/livez", HttpPage::livez, reading_methods},
                                     {"/readyz", HttpPage::readyz, reading_methods},
                                     {"/status", HttpPage::status, reading_methods},
                                     {"/reload", HttpPage::reload, "POST"}}};

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

/// The path of "/path?query" or "http://host/path". The host of the second form replaces that of the header.
std::string_view path_of(std::string_view target, std::optional<std::string_view>& host) {
  constexpr std::string_view scheme = "http://";
  if (lower(target.substr(0, scheme.size())) == scheme) {
    const std::size_t end = std::min(target.find_first_of("/?#", scheme.size()), target.size());
    host = target.substr(scheme.size(), end - scheme.size());
    target.remove_prefix(end);
  }
  std::string_view path = target.substr(0, target.find_first_of("?#"));
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
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

HttpVerdict refused(unsigned status, std::string error) { return {std::nullopt, status, std::move(error), {}}; }

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

HttpVerdict judge(const HttpHead& head, const HttpHosts& hosts) {
  std::optional<std::string_view> host;
  if (!head.hosts.empty()) host = head.hosts.front();
  const std::string_view path = path_of(head.target, host);
  if (head.hosts.size() > 1) return refused(400, "more than one Host header; send one");
  if (!host && !head.host_is_optional) return refused(400, "no Host header; send one, as HTTP/1.1 wants it");
  if (host && !host_of(*host)) return refused(400, "the Host header is not a host and port; send e.g. Host: localhost:9464");
  if (host && !hosts.hold(*host)) {
    return refused(403, "the service does not answer to the name '" + *host_of(*host) +
                            "'; use an IP address or localhost, or list the name under http.hosts");
  }
  if (is_foreign(head)) return refused(403, "pages of other sites may not call the service; open its address directly");
  const auto found = std::ranges::find(paths, path, &Path::path);
  if (found == paths.end())
    return refused(404, "there is no such path; use GET /metrics, /livez, /readyz, /status and POST /reload");
  const bool allowed = found->page == HttpPage::reload ? head.method == "POST" : head.method == "GET" || head.method == "HEAD";
  if (!allowed) {
    HttpVerdict verdict = refused(405, "this path does not take that method; use " + std::string(found->allow));
    verdict.allow = found->allow;
    return verdict;
  }
  if (found->page == HttpPage::reload && head.has_origin)
    return refused(403, "web pages may not reload the service; use curl or SIGHUP");
  return {found->page, 200, {}, {}};
}

}  // namespace deltamatch::ingest
