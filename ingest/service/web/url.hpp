// URLs of HTTP servers that the service speaks to.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

struct Url {
  std::string origin;  ///< scheme://host[:port]
  std::string target;  ///< path and query; at least "/"
};

/// Takes a URL apart. `where` names its place in errors, and `example` is a URL as it should be. No message contains the URL,
/// because some services treat its path as a secret. Throws Error(configuration) if the URL is neither http nor https, has no
/// valid host, or holds a user or password. `instead` says where those belong.
[[nodiscard]] Url parse_url(std::string_view where, std::string_view url, std::string_view example, std::string_view instead);

}  // namespace deltamatch::ingest
