// Tells systemd how the service is (Type=notify), where systemd started it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Datagrams to the socket that $NOTIFY_SOCKET names (sd_notify(3)); where it names none, nothing happens. No call throws or
/// waits: a message that cannot be sent is lost, and the call gives false. Thread-safe.
class Systemd {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  [[nodiscard]] static Systemd from_environment();
  /// Without a socket.
  Systemd() = default;
  /// `socket`: a path, or with @ at its start an abstract name.
  Systemd(std::string socket, std::optional<std::chrono::microseconds> watchdog);

  [[nodiscard]] bool present() const noexcept { return !socket_.empty(); }
  // NOLINTBEGIN(modernize-use-nodiscard): whoever tells needs no answer
  bool ready() const noexcept;
  bool stopping() const noexcept;
  /// One line for `systemctl status`.
  bool status(std::string_view text) const noexcept;
  /// Tells the watchdog that the service is alive.
  bool alive() const noexcept;
  // NOLINTEND(modernize-use-nodiscard)
  /// How often alive() is expected, where it is: half of what systemd waits.
  [[nodiscard]] std::optional<std::chrono::microseconds> alive_every() const noexcept;

 private:
  [[nodiscard]] bool send(std::string_view message) const noexcept;

  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace deltamatch::ingest
