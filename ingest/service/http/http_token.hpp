// Who may change things over HTTP: whoever knows the admin token.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/service/http/http_route.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// Compares tokens in constant time, and limits how many wrong ones of an address are logged and told apart. The right one
/// always passes, because a client that guesses may have the address of one that knows. Thread-safe.
class HttpToken {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t least_length = 16;
  static constexpr int guesses = 10;                     ///< wrong tokens in a row from one address
  static constexpr std::chrono::seconds guess_every{1};  ///< when the next one is allowed after that
  static constexpr std::size_t most_addresses =
      4096;  ///< remembered; of more, those that have been quiet longest are forgotten

  /// `token`: empty if there is none. `journal` must outlive it.
  HttpToken(std::string token, Journal& journal) : token_(std::move(token)), journal_(journal) {}

  [[nodiscard]] bool configured() const noexcept { return !token_.empty(); }

  /// Why a request for a route with this access is refused, or nothing if it is admitted. 403: there is no token, so nobody
  /// may. 401: the request has no token, or a wrong one. 429: its address has sent too many wrong ones. `authorization` is the
  /// header's value. `address` is that of the client. Wrong tokens are logged without the token.
  [[nodiscard]] std::optional<HttpReply> refusal(HttpAccess access, std::string_view authorization, const std::string& address,
                                                 Clock::time_point now = Clock::now());

 private:
  struct Guesses {
    double left = guesses;
    Clock::time_point since;
    bool told = false;  ///< that further ones are not logged
  };

  Guesses& of(const std::string& address, Clock::time_point now);

  const std::string token_;
  Journal& journal_;
  std::mutex mutex_;
  std::map<std::string, Guesses, std::less<>> addresses_;  // guarded by mutex_
};

}  // namespace deltamatch::ingest
