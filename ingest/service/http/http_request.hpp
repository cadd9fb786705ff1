// Decides what an HTTP request asks for and whether it is allowed, before any work is done for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/http/http_route.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The host names by which the service may be addressed. A web page can point its own name at this machine (DNS rebinding) and
/// then read the answers. It cannot do so with an IP address or with a name that is no Internet domain.
class HttpHosts {
 public:
  /// `loopback`: only this machine can reach the server.
  HttpHosts(const HttpOptions& options, bool loopback);

  /// Whether the value of a Host header names the service. These do:
  /// - an IP address;
  /// - localhost, and names that end in .localhost;
  /// - the host that the service listens on;
  /// - each of HttpOptions::hosts;
  /// - a name without a dot, unless `loopback`.
  ///
  /// Ports are ignored. O(hosts).
  [[nodiscard]] bool hold(std::string_view host) const;

 private:
  std::vector<std::string> names_;  // in lower case
  bool any_;
  bool loopback_;
};

/// The relevant parts of a request's head. The caller owns the viewed text.
struct HttpHead {
  std::string_view method;
  std::string_view target;
  std::vector<std::string_view> hosts;        ///< each Host header
  bool host_is_optional = false;              ///< HTTP/1.0
  std::vector<std::string_view> origins;      ///< each Origin header
  std::vector<std::string_view> fetch_sites;  ///< each Sec-Fetch-Site header; likewise below
  std::string_view fetch_mode;
  std::string_view fetch_destination;
};

/// How to answer a request: with a route or with an error.
struct HttpVerdict {
  const HttpRoute* route = nullptr;
  HttpRequest request;  ///< for the route; headers and body are still missing
  unsigned status = 200;
  std::string error;  ///< the fault and the remedy
  std::string allow;  ///< for 405: the allowed methods
};

/// Checks a request. The first of these faults decides the answer:
/// - The head has no valid Host, or more than one (400).
/// - The Host does not name the service (403).
/// - A browser sends the request for a page of another site (403). A link that a person follows is allowed.
/// - The path or the query cannot be decoded (400).
/// - The path does not exist (404).
/// - The path has another method (405).
/// - A page of another site asks for a change (403). Its Origin is not the Host, or is sent more than once.
///
/// The token is not checked here (HttpToken). Slashes at the end are ignored.
[[nodiscard]] HttpVerdict judge(const HttpHead& head, const HttpHosts& hosts, const HttpRoutes& routes);

}  // namespace deltamatch::ingest
