// Writes JSON lines to a descriptor, at least once. Each line is complete unless the process ends within it.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "ingest/service/alert/alert_sinks.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t spill_bytes = std::size_t{1} << 16;
/// A ready pipe accepts this many bytes without blocking.
constexpr std::size_t write_bytes = 4096;
constexpr int patience_ms = 100;

class ConsoleSink final : public AlertSink {
 public:
  ConsoleSink(std::string_view name, int descriptor) : name_(name), descriptor_(descriptor) {}

  std::string recover(std::string_view) override { return {}; }
  void begin(std::uint64_t) override { text_.clear(); }
  void write(std::string_view, std::string_view alert) override {
    text_ += alert;
    text_ += '\n';
    if (text_.size() >= spill_bytes) spill();
  }
  std::string commit() override {
    spill();
    return {};
  }
  void abort() noexcept override { text_.clear(); }
  [[nodiscard]] bool joins_batches() const noexcept override { return true; }
  void cancel() noexcept override { cancelled_ = true; }

 private:
  void spill();
  void put(std::string_view& left);
  [[noreturn]] void fail(int code) const {
    throw Error("sink '" + name_ + "'", "its output cannot be written: " + std::generic_category().message(code),
                "check what reads it");
  }

  std::string name_;
  int descriptor_;
  std::string text_;
  std::string rest_;  // the rest of a line that was cut off by a failed write; it goes first
  std::atomic<bool> cancelled_{false};
};

void ConsoleSink::spill() {
  std::string_view rest = rest_;
  std::string_view left = text_;
  try {
    put(rest);
    rest_.clear();
    put(left);
  } catch (...) {
    const std::size_t done = text_.size() - left.size();
    if (!rest.empty()) {
      rest_.erase(0, rest_.size() - rest.size());
    } else if (done != 0 && text_[done - 1] != '\n') {
      rest_ = left.substr(0, left.find('\n') + 1);
    }
    throw;
  }
  text_.clear();
}

/// Writes `left`, and removes from it what was written.
void ConsoleSink::put(std::string_view& left) {
  while (!left.empty()) {
    if (cancelled_) throw Error("sink '" + name_ + "'", "was cancelled");
    pollfd ready{descriptor_, POLLOUT, 0};
    if (::poll(&ready, 1, patience_ms) == 0) continue;
    const ssize_t done = ::write(descriptor_, left.data(), std::min(left.size(), write_bytes));
    if (done < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (done > 0) left.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace

std::unique_ptr<AlertSink> make_console_sink(std::string_view name, int descriptor) {
  return std::make_unique<ConsoleSink>(name, descriptor);
}

}  // namespace deltamatch::ingest
