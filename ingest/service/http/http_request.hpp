// What a request asks of the service, and whether it may: decided before anything is done for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The names under which the service is called. A web page can point a name of its own at this machine (DNS rebinding), and
/// then read what it gets; it cannot do so with an address, nor with a name that is no domain of the Internet.
class HttpHosts {
 public:
  /// `loopback`: only this machine reaches the server.
  HttpHosts(const HttpOptions& options, bool loopback);

  /// Whether a Host of this value is the service's: an IP address; localhost, and what ends in .localhost; the host that the
  /// service listens on; one of HttpOptions::hosts; unless `loopback`, a name without a dot. Ports are not looked at. O(hosts).
  [[nodiscard]] bool hold(std::string_view host) const;

 private:
  std::vector<std::string> names_;  // in lower case
  bool any_;
  bool loopback_;
};

/// A request's head, as far as it matters. The views are the caller's.
struct HttpHead {
  std::string_view method;
  std::string_view target;
  std::vector<std::string_view> hosts;  ///< each Host header
  bool host_is_optional = false;        ///< HTTP/1.0
  bool has_origin = false;
  std::vector<std::string_view> fetch_sites;  ///< each Sec-Fetch-Site header, and so on
  std::string_view fetch_mode;
  std::string_view fetch_destination;
};

enum class HttpPage : std::uint8_t { metrics, livez, readyz, status, reload };

/// What is to be answered: a page, or an error.
struct HttpVerdict {
  std::optional<HttpPage> page;
  unsigned status = 200;
  std::string error;       ///< what is wrong, and the remedy
  std::string_view allow;  ///< with 405: the methods that there are
};

/// Refused are, in this order: a head without one valid Host (400), a Host that is not the service's (403), a request that a
/// browser makes for another site's page (403; a link that a person follows is none), a path that is not there (404), another
/// method than the path's (405), a reload that a web page asks for (403). Query strings, and slashes at the end, are ignored.
[[nodiscard]] HttpVerdict judge(const HttpHead& head, const HttpHosts& hosts);

}  // namespace deltamatch::ingest
