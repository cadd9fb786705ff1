#include "ingest/alert/http_poster.hpp"

#include <fcntl.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_answer = std::size_t{64} << 10;
constexpr std::chrono::milliseconds longest_retry_after = std::chrono::hours(1);

/// Shuts a socket down, from another thread, when its time is over or when told to. It holds a duplicate of the descriptor, so
/// that it never meets a number that was closed and given to something else.
class Interrupter {
 public:
  Interrupter() {
    const SignalsBlocked signals_are_for_other_threads;
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
  ~Interrupter() {
    thread_.request_stop();
    thread_.join();
    release();
  }

  void adopt(int socket) {
    const std::lock_guard lock(mutex_);
    release();
    socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (cancelled_) shut_down();
  }
  void arm(Clock::time_point deadline) {
    const std::lock_guard lock(mutex_);
    deadline_ = deadline;
    changed_.notify_all();
  }
  /// Whether the time was over before.
  bool disarm() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(deadline_, std::nullopt);
  }
  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    shut_down();
  }
  [[nodiscard]] bool cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (!deadline_) {
        changed_.wait(lock, stop, [&] { return deadline_.has_value(); });
      } else if (Clock::now() >= *deadline_) {
        deadline_.reset();
        shut_down();
      } else {
        const Clock::time_point until = *deadline_;
        changed_.wait_until(lock, stop, until, [&] { return deadline_ != until; });
      }
    }
  }
  void shut_down() const noexcept {
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }
  void release() noexcept {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Clock::time_point> deadline_;
  int socket_ = -1;
  bool cancelled_ = false;
  std::jthread thread_;
};

struct Url {
  std::string origin;  // scheme://host[:port]
  std::string target;  // path and query
};

[[noreturn]] void refuse(std::string_view where, std::string_view what, std::string_view remedy) {
  throw Error(ErrorKind::configuration, where, what, remedy);
}

bool is_host(std::string_view host) {
  const bool literal = host.starts_with('[') && host.ends_with(']');
  const std::string_view name = literal ? host.substr(1, host.size() - 2) : host;
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' || (literal && c == ':');
  });
}

bool is_port(std::string_view port) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc{} && end == port.data() + port.size() && number != 0;
}

/// No message holds the URL: its path is a secret with some services.
Url parse_url(std::string_view where, std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "http" && name != "https"))
    refuse(where, "the URL is neither http nor https", "give a URL like https://example.org/alerts");
#ifndef CPPHTTPLIB_OPENSSL_SUPPORT
  if (name == "https") refuse(where, "this build has no https", "build with a cpp-httplib that has OpenSSL");
#endif
  const std::size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  const std::string_view authority = url.substr(scheme + 3, end - scheme - 3);
  if (authority.find('@') != std::string_view::npos)
    refuse(where, "the URL holds a user or password", "give them in a header (Authorization)");
  const std::size_t colon = authority.ends_with(']') ? std::string_view::npos : authority.rfind(':');
  if (!is_host(authority.substr(0, colon)) || (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))))
    refuse(where, "the URL has no valid host and port", "give a URL like https://example.org/alerts");
  const std::string_view target = url.substr(end, url.find('#', end) - end);
  if (!std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; }))
    refuse(where, "the URL's path holds blanks or characters beyond ASCII", "write them as %XX");
  return {std::string(url.substr(0, end)), target.starts_with('/') ? std::string(target) : '/' + std::string(target)};
}

void check_header(std::string_view where, const std::string& name, const std::string& value) {
  constexpr std::string_view token_marks = "!#$%&'*+-.^_`|~";
  const bool named = !name.empty() && std::ranges::all_of(name, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || token_marks.find(c) != std::string_view::npos;
  });
  if (!named) refuse(where, "a header's name is none", "name headers with letters, digits and dashes");
  const bool valued = std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  if (!valued) refuse(where, "the value of header '" + name + "' holds control characters", "remove line ends from it");
}

std::string describe(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
    case httplib::Error::ConnectionTimeout:
      return "no connection";
    case httplib::Error::SSLServerVerification:
      return "its certificate is not trusted";
    case httplib::Error::SSLLoadingCerts:
      return "the certificates to trust cannot be read";
    default:
      return "no answer: " + httplib::to_string(error);
  }
}

/// Seconds, or the date of RFC 9110.
std::optional<std::chrono::milliseconds> parse_retry_after(const std::string& text) {
  std::chrono::seconds wait{};
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc{} && end == text.data() + text.size()) {
    wait = std::chrono::seconds(seconds);
  } else {
    std::tm date{};
    const char* rest = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (rest == nullptr || *rest != '\0') return std::nullopt;
    wait = std::chrono::seconds(::timegm(&date) - std::time(nullptr));
  }
  return std::clamp<std::chrono::milliseconds>(wait, std::chrono::milliseconds(0), longest_retry_after);
}

}  // namespace

struct HttpPoster::Connection {
  Connection(Url url_, std::chrono::milliseconds timeout_) : url(std::move(url_)), timeout(timeout_), client(url.origin) {
    client.set_keep_alive(true);
    client.set_connection_timeout(timeout);
    client.set_read_timeout(timeout);
    client.set_write_timeout(timeout);
    client.set_tcp_nodelay(true);
    client.set_url_encode(false);
    client.set_socket_options([this](socket_t socket) { interrupter.adopt(socket); });
  }

  Url url;
  std::chrono::milliseconds timeout;
  httplib::Headers headers;
  Interrupter interrupter;  // outlives the client
  httplib::Client client;
};

HttpPoster::HttpPoster(std::string_view where, const std::string& url, const Headers& headers,
                       std::chrono::milliseconds timeout)
    : connection_(std::make_unique<Connection>(parse_url(where, url), timeout)) {
  for (const auto& [name, value] : headers) {
    check_header(where, name, value);
    connection_->headers.emplace(name, value);
  }
}

HttpPoster::~HttpPoster() = default;

HttpAnswer HttpPoster::post(const std::string& body, const Headers& headers) {
  if (connection_->interrupter.cancelled()) return {0, "cancelled", std::nullopt};
  httplib::Request request;
  request.method = "POST";
  request.path = connection_->url.target;
  request.headers = connection_->headers;
  request.headers.insert(headers.begin(), headers.end());
  request.body = body;
  HttpAnswer answer;
  request.response_handler = [&](const httplib::Response& response) {
    answer.status = response.status;
    if (response.has_header("Retry-After")) answer.retry_after = parse_retry_after(response.get_header_value("Retry-After"));
    return true;
  };
  std::size_t received = 0;
  request.content_receiver = [&](const char*, std::size_t length, std::uint64_t, std::uint64_t) {
    return (received += length) <= max_answer;
  };
  connection_->interrupter.arm(Clock::now() + connection_->timeout);
  const httplib::Result result = connection_->client.send(request);
  const bool late = connection_->interrupter.disarm();
  if (answer.status != 0) return answer;
  if (connection_->interrupter.cancelled()) {
    answer.error = "cancelled";
  } else if (late) {
    answer.error = "no answer within " + std::to_string(connection_->timeout.count()) + " ms";
  } else {
    answer.error = describe(result.error());
  }
  return answer;
}

void HttpPoster::cancel() noexcept { connection_->interrupter.cancel(); }

}  // namespace deltamatch::ingest
