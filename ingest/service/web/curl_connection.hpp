// Requests over HTTP by libcurl. Each has a time limit, and another thread can interrupt it.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltamatch::ingest {

/// One thread sends requests; any thread may cancel. Connections stay open between requests. Redirects are not followed, and
/// proxies of the environment are not used.
class CurlConnection {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  struct Limits {
    std::chrono::milliseconds timeout;  ///< for a whole request
    std::size_t kept;                   ///< bytes of an answer's body that are kept
    std::size_t most;                   ///< bytes of a body that are read; at least `kept`
  };
  struct Answer {
    int status = 0;     ///< 0 if there was no answer
    std::string error;  ///< why there was none
    std::string body;   ///< its first bytes
    bool whole = true;  ///< whether the body was read to its end, and all of it is here
    std::optional<std::chrono::milliseconds> retry_after;
  };
  /// Files in PEM. Empty: the system's authorities, and no certificate of this client.
  struct Tls {
    std::filesystem::path ca;
    std::filesystem::path certificate;
    std::filesystem::path key;
  };

  /// Throws Error if libcurl cannot be used.
  explicit CurlConnection(Limits limits);
  ~CurlConnection();
  CurlConnection(const CurlConnection&) = delete;
  CurlConnection& operator=(const CurlConnection&) = delete;

  /// Sends a user and password with every request (basic authentication).
  void authenticate(const std::string& user, const std::string& password);
  void use(const Tls& tls);
  /// Keeps so many bytes of later answers.
  void keep(std::size_t bytes) noexcept;

  /// An answer exists once its head was read, whatever happens to the body. One with a head beyond 64 KiB counts as none.
  [[nodiscard]] Answer get(const std::string& url, const Headers& headers);
  [[nodiscard]] Answer post(const std::string& url, const Headers& headers, const std::string& body);
  /// The current request and every later one get no answer. It cannot be undone.
  void cancel() noexcept;

  /// The text with percent-encoding decoded.
  [[nodiscard]] std::string decoded(const std::string& text) const;

 private:
  struct State;
  [[nodiscard]] Answer perform(const std::string& url, const Headers& headers);
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest
