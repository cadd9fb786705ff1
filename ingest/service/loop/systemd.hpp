// Reports the state of the service to systemd (Type=notify), if systemd started it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Sends datagrams to the socket that $NOTIFY_SOCKET names (sd_notify(3)). If it names none, nothing happens. No call throws or
/// waits. If a message cannot be sent, it is lost, and the call returns false. Thread-safe.
class Systemd {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  [[nodiscard]] static Systemd from_environment();
  /// Without a socket.
  Systemd() = default;
  /// `socket` is a path, or an abstract name with @ at its start.
  Systemd(std::string socket, std::optional<std::chrono::microseconds> watchdog);

  [[nodiscard]] bool present() const noexcept { return !socket_.empty(); }
  // NOLINTBEGIN(modernize-use-nodiscard): callers may ignore the result
  bool ready() const noexcept;
  bool stopping() const noexcept;
  /// One line for `systemctl status`.
  bool status(std::string_view text) const noexcept;
  /// Reports to the watchdog that the service is alive.
  bool alive() const noexcept;
  // NOLINTEND(modernize-use-nodiscard)
  /// How often alive() is expected, if at all: half of systemd's time limit.
  [[nodiscard]] std::optional<std::chrono::microseconds> alive_every() const noexcept;

 private:
  [[nodiscard]] bool send(std::string_view message) const noexcept;

  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace deltamatch::ingest
