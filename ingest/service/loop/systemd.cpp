#include "ingest/service/loop/systemd.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace deltamatch::ingest {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

Systemd Systemd::from_environment() {
  std::optional<std::chrono::microseconds> watchdog;
  const std::string process = variable("WATCHDOG_PID");
  const bool ours = process.empty() || number(process) == std::int64_t{::getpid()};
  if (const auto time = number(variable("WATCHDOG_USEC")); time && ours) watchdog = std::chrono::microseconds(*time);
  return {variable("NOTIFY_SOCKET"), watchdog};
}

Systemd::Systemd(std::string socket, std::optional<std::chrono::microseconds> watchdog)
    : socket_(std::move(socket)), watchdog_(watchdog) {}

bool Systemd::send(std::string_view message) const noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool named = socket_.starts_with('/') || (socket_.starts_with('@') && socket_.size() > 1);
  if (!named || socket_.size() >= sizeof(address.sun_path)) return false;
  std::ranges::copy(socket_, std::begin(address.sun_path));
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  // A path ends with a zero; an abstract name has the given length.
  const std::size_t length = offsetof(sockaddr_un, sun_path) + socket_.size() + (socket_.front() == '@' ? 0 : 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  const ssize_t sent = ::sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length));
  ::close(descriptor);
  return sent == static_cast<ssize_t>(message.size());
}

bool Systemd::ready() const noexcept { return send("READY=1"); }
bool Systemd::stopping() const noexcept { return send("STOPPING=1"); }
bool Systemd::alive() const noexcept { return send("WATCHDOG=1"); }

bool Systemd::status(std::string_view text) const noexcept {
  try {
    std::string message = "STATUS=" + std::string(text);
    std::ranges::replace(message, '\n', ' ');  // a line end would begin another assignment
    return send(message);
  } catch (...) {
    return false;
  }
}

std::optional<std::chrono::microseconds> Systemd::alive_every() const noexcept {
  if (!watchdog_ || !present()) return std::nullopt;
  return *watchdog_ / 2;
}

}  // namespace deltamatch::ingest
