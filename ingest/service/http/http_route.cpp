#include "ingest/service/http/http_route.hpp"

#include <simdjson.h>

#include <algorithm>

#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes %XX; with `form`, also + as a space. Returns nothing if that yields no text without NUL.
std::optional<std::string> decoded(std::string_view text, bool form) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      if (at + 2 >= text.size()) return std::nullopt;
      const int high = digit_of(text[at + 1]);
      const int low = digit_of(text[at + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      at += 2;
    } else if (form && c == '+') {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  if (!simdjson::validate_utf8(out)) return std::nullopt;
  return out;
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.ends_with('/')) path.remove_suffix(1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    parts.push_back(path.substr(1, end - 1));
    path.remove_prefix(end);
  }
  return parts;
}

/// 0 for a literal segment, 1 for {name}, 2 for {name*}.
int looseness(std::string_view segment) noexcept {
  if (!segment.starts_with('{')) return 0;
  return segment.ends_with("*}") ? 2 : 1;
}

std::vector<int> looseness_of(const std::string& pattern) {
  std::vector<int> levels;
  for (const std::string_view segment : split(pattern)) levels.push_back(looseness(segment));
  return levels;
}

std::string name_in(std::string_view segment) {
  return std::string(segment.substr(1, segment.size() - (looseness(segment) == 2 ? 3 : 2)));
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path, HttpRequest& request) {
  request.path.clear();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const int level = looseness(pattern[i]);
    if (level == 2) {
      std::string& rest = request.path[name_in(pattern[i])];
      for (std::size_t at = i; at < path.size(); ++at) {
        if (path[at].empty() || path[at].find_first_of("/\\") != std::string::npos) return false;
        rest += (at == i ? "" : "/") + path[at];
      }
      return true;
    }
    if (i >= path.size() || (level == 0 && path[i] != pattern[i]) || path[i].empty()) return false;
    if (level == 1) request.path[name_in(pattern[i])] = path[i];
  }
  return path.size() == pattern.size();
}

bool takes(const HttpRoute& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

std::optional<std::vector<std::pair<std::string, std::string>>> parameters_of(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> found;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = decoded(pair.substr(0, equals), true);
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!key || !value) return std::nullopt;
    found.emplace_back(std::move(*key), std::move(*value));
  }
  return found;
}

}  // namespace

HttpReply http_error(unsigned status, std::string_view message) {
  HttpReply reply{status, R"({"v":1,"error":)", "application/json", {}, {}};
  append_json_string(reply.body, message);
  reply.body += "}\n";
  return reply;
}

HttpRoutes::HttpRoutes(std::vector<HttpRoute> routes) : routes_(std::move(routes)) {
  std::ranges::stable_sort(routes_, {}, [](const HttpRoute& route) { return looseness_of(route.pattern); });
  std::map<std::string, std::string, std::less<>> by_method;
  for (const HttpRoute& route : routes_) {
    std::vector<std::string>& segments = segments_.emplace_back();
    for (const std::string_view segment : split(route.pattern)) segments.emplace_back(segment);
    if (!route.hidden) by_method[route.method] += (by_method.contains(route.method) ? ", " : " ") + route.pattern;
  }
  for (const auto& [method, paths] : by_method) listed_ += (listed_.empty() ? "" : "; ") + method + paths;
}

std::optional<HttpTarget> HttpRoutes::find(std::string_view method, std::string_view path, std::string_view query) const {
  std::vector<std::string> segments;
  for (const std::string_view part : split(path)) {
    auto segment = decoded(part, false);
    if (!segment || *segment == "." || *segment == "..") return std::nullopt;
    segments.push_back(std::move(*segment));
  }
  auto parameters = parameters_of(query);
  if (!parameters) return std::nullopt;
  HttpTarget target;
  const std::string* chosen = nullptr;  // the strongest pattern; looser ones are not asked for other methods
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const HttpRoute& route = routes_[i];
    HttpRequest request;
    if (chosen != nullptr ? route.pattern != *chosen : !matches(segments_[i], segments, request)) continue;
    chosen = &route.pattern;
    target.allowed.push_back(route.method);
    if (route.method == "GET") target.allowed.emplace_back("HEAD");
    if (!takes(route, method) || !matches(segments_[i], segments, request)) continue;
    target.route = &route;
    target.request = std::move(request);
  }
  target.request.method = method;
  for (const auto& [key, value] : *parameters) target.request.query[key] = value;
  target.request.parameters = std::move(*parameters);
  return target;
}

}  // namespace deltamatch::ingest
