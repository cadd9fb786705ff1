#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/terminal/values.hpp"

namespace deltamatch::cli {

Progress::Progress(ProgressMode mode)
    : enabled_(mode == ProgressMode::always || (mode == ProgressMode::automatic && isatty(STDERR_FILENO) == 1)),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view what, std::optional<std::uint64_t> done, std::optional<double> fraction) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line =
      done ? fmt::format("{} {}, {}/s", grouped(*done), what, grouped(static_cast<Count>(static_cast<double>(*done) / seconds)))
           : std::string(what);
  if (fraction && *fraction > 0 && *fraction <= 1) {
    line += fmt::format(", {:.0f}%, {} left", *fraction * 100, human_seconds(seconds * (1 - *fraction) / *fraction));
  }
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\x1b[K" : "", line, terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() noexcept {
  if (shown_ && terminal_) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
  }
  shown_ = false;
  start_ = last_ = Clock::now();
}

}  // namespace deltamatch::cli
