// JSON lines on a descriptor: at least once.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "ingest/alert/alert_sinks.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t spill_bytes = std::size_t{1} << 16;
/// A pipe that is ready takes so much without making the writer wait.
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
  [[noreturn]] void fail(int code) const {
    throw Error("sink '" + name_ + "'", "its output cannot be written: " + std::generic_category().message(code),
                "check what reads it");
  }

  std::string name_;
  int descriptor_;
  std::string text_;
  std::atomic<bool> cancelled_{false};
};

void ConsoleSink::spill() {
  std::string_view left = text_;
  while (!left.empty()) {
    if (cancelled_) throw Error("sink '" + name_ + "'", "was cancelled");
    pollfd ready{descriptor_, POLLOUT, 0};
    if (::poll(&ready, 1, patience_ms) == 0) continue;
    const ssize_t done = ::write(descriptor_, left.data(), std::min(left.size(), write_bytes));
    if (done < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (done > 0) left.remove_prefix(static_cast<std::size_t>(done));
  }
  text_.clear();
}

}  // namespace

std::unique_ptr<AlertSink> make_console_sink(std::string_view name, int descriptor) {
  return std::make_unique<ConsoleSink>(name, descriptor);
}

}  // namespace deltamatch::ingest
