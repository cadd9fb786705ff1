// The table of what the HTTP server answers: routes, the requests they get, and what they reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltamatch::ingest {

/// A request as its route's handler gets it. All texts are UTF-8.
struct HttpRequest {
  std::string method;
  std::map<std::string, std::string, std::less<>> path;         ///< by the names in the pattern; percent-decoded
  std::map<std::string, std::string, std::less<>> query;        ///< percent-decoded; of a key that comes twice, the last value
  std::vector<std::pair<std::string, std::string>> parameters;  ///< the query, with all values in order
  std::map<std::string, std::string, std::less<>> headers;  ///< of HttpRequest::passed_on those that came; names in lower case
  std::string client;                                       ///< its address; empty if it is gone
  std::string body;                                         ///< empty unless the route takes one; not checked in any way

  /// The headers that handlers see.
  static constexpr std::string_view passed_on[] = {"accept",   "accept-encoding", "content-type",
                                                   "if-match", "if-none-match",   "last-event-id"};

  /// The value of a header, or an empty text.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : found->second;
  }
};

/// A body without a known length, for as long as its client stays. The server asks for bytes when the client has taken the
/// previous ones, so the stream decides what a slow client misses. The server's thread calls all functions and destroys the
/// stream, so they must return at once.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// The next bytes; an empty text if there are none yet; nothing once the stream has ended. The server asks again after wake,
  /// and at the latest after HttpLimits::stream_pause, so that a stream can send a sign of life.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// Called once, before next(). The stream calls `wake` when there is more. Any thread may call it, and it never blocks. The
  /// destructor of the stream must not return before such calls have ended.
  virtual void start(std::function<void()> wake) = 0;
  /// The client did not take a piece in time. The stream is destroyed next.
  virtual void cut_off() noexcept {}
};

struct HttpReply {
  unsigned status = 200;
  std::string body;
  std::string type;
  std::vector<std::pair<std::string, std::string>> headers;  ///< more headers; Cache-Control replaces `no-store`
  std::shared_ptr<HttpStream> stream;                        ///< if not null, the body is what it yields, and `body` is empty
};

/// {"v":1,"error":"…"}
[[nodiscard]] HttpReply http_error(unsigned status, std::string_view message);

/// The threads that run a handler. Each kind has its own, so that one kind does not wait for another.
enum class HttpThreads : std::uint8_t {
  none,     ///< the server's own thread: the handler must return at once
  health,   ///< one thread
  pages,    ///< HttpLimits::threads; may take a while
  reload,   ///< one thread, and no request waits for it: a second one is answered 409
  changes,  ///< one thread; may wait for a commit
};

/// Whether a request needs the admin token. Whatever changes something also refuses requests that pages of other sites send.
enum class HttpAccess : std::uint8_t {
  everyone,
  admin,         ///< changes something; refused as long as no token is configured
  admin_if_any,  ///< changes something; needs the token only if one is configured
};

struct HttpRoute {
  std::string method;  ///< GET stands for HEAD, too
  /// A path such as "/v1/queries/{name}". {name} matches one segment that is not empty. {name*} at the end matches all that is
  /// left, also nothing. Its segments are joined by '/'. None is empty, "." or "..", or holds a slash of either kind.
  std::string pattern;
  HttpThreads threads = HttpThreads::pages;
  HttpAccess access = HttpAccess::everyone;
  std::size_t body_bytes = 0;  ///< limit for the body; 0: none is wanted, and a short one is dropped
  /// Several threads may call it. An exception becomes an answer (500) and is logged.
  std::function<HttpReply(const HttpRequest&)> handler{};
  bool hidden = false;  ///< left out where an error names the paths that exist
};

/// What a request's target leads to.
struct HttpTarget {
  const HttpRoute* route = nullptr;  ///< null if the path does not exist or does not take the method
  std::vector<std::string> allowed;  ///< the methods that the path takes; empty if it does not exist
  HttpRequest request;               ///< with method, path and query
};

/// The routes of a server. Immutable, so any thread may use it. Literal segments are stronger than {name}, and that is stronger
/// than {name*}.
class HttpRoutes {
 public:
  explicit HttpRoutes(std::vector<HttpRoute> routes);

  /// Finds the route. `path` begins with '/' or is empty; slashes at its end make no difference. Returns nothing if the target
  /// has a broken percent-encoding, a NUL, a "." or ".." segment, or is no UTF-8. O(routes).
  [[nodiscard]] std::optional<HttpTarget> find(std::string_view method, std::string_view path, std::string_view query) const;

  /// "GET /livez, /metrics, POST /reload"
  [[nodiscard]] const std::string& listed() const noexcept { return listed_; }
  [[nodiscard]] const std::vector<HttpRoute>& all() const noexcept { return routes_; }

 private:
  std::vector<HttpRoute> routes_;  // the strongest first
  std::vector<std::vector<std::string>> segments_;
  std::string listed_;
};

}  // namespace deltamatch::ingest
