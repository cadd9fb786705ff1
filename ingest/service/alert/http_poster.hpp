// POSTs to one URL. Each request has a time limit, and another thread can interrupt it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

struct HttpAnswer {
  int status = 0;     ///< 0 if there was no answer
  std::string error;  ///< why there was none
  std::optional<std::chrono::milliseconds> retry_after;
  std::string excerpt;  ///< the start of the body (make_excerpt); contains neither the URL's path nor a header
};

/// One thread posts; any thread may cancel. Connections stay open between requests.
class HttpPoster {
 public:
  using Headers = std::map<std::string, std::string>;

  /// `headers` are sent with every request. `where` names the poster in errors. Throws Error(configuration) for invalid
  /// headers. Also throws if the URL is neither http nor https, or contains a user or password.
  HttpPoster(std::string_view where, const std::string& url, const Headers& headers, std::chrono::milliseconds timeout);
  ~HttpPoster();
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  /// Redirects are not followed. At most 64 KiB of an answer's head and 64 KiB of its body are read. An answer exists once its
  /// head was read, whatever happens to the body. An answer with a longer head counts as none.
  [[nodiscard]] HttpAnswer post(const std::string& body, const Headers& headers);
  /// Answers are shown without this text. Call it before the first post.
  void hide(const std::string& secret);
  /// The current request and every later one get no answer. It cannot be undone.
  void cancel() noexcept;

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace deltamatch::ingest
