// POSTs to one URL: each request within a time, and interruptible from another thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

struct HttpAnswer {
  int status = 0;     ///< 0: there was none
  std::string error;  ///< why
  std::optional<std::chrono::milliseconds> retry_after;
  std::string excerpt;  ///< how the body begins (make_excerpt); neither the URL's path nor a header is in it
};

/// One thread posts; any may cancel. Connections are kept open from request to request.
class HttpPoster {
 public:
  using Headers = std::map<std::string, std::string>;

  /// `headers` go with every request; `where` names the poster in errors. Throws Error(configuration) for a URL that is no http
  /// or https URL or that holds a user or password, and for headers that are no headers.
  HttpPoster(std::string_view where, const std::string& url, const Headers& headers, std::chrono::milliseconds timeout);
  ~HttpPoster();
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  /// Redirects are not followed, and of an answer's head and body no more is read than 64 KiB each. There is an answer once its
  /// head is there, whatever becomes of its body; a head that is longer is none.
  [[nodiscard]] HttpAnswer post(const std::string& body, const Headers& headers);
  /// Every request from now on, and one that is under way, gets no answer. For good.
  void cancel() noexcept;

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace deltamatch::ingest
