// Helpers of the alert tests.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/alert/alert_sink.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/journal.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest::testing {

using std::chrono::milliseconds;

/// Records the entries of a journal, such as "warn delivery failed sink=web try=1".
class Notes final : public Journal {
 public:
  void tell(Level level, std::string_view event, std::initializer_list<Field> fields) noexcept override {
    static constexpr std::array names{"trace", "debug", "info", "warn", "error"};
    std::string line = fmt::format("{} {}", names[static_cast<std::size_t>(level)], event);
    for (const Field& field : fields) line += fmt::format(" {}={}", field.key, field.value);
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Waits for a condition, for at most 20 seconds.
inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

/// An alert of the given batch, in the form that alert_id reads.
inline std::string alert_of(std::uint64_t batch, std::size_t number, std::size_t padding = 0) {
  return fmt::format(R"({{"v":1,"id":"{:016x}{:016x}","query":"q{}","batch":{}}})", batch, number, std::string(padding, 'x'),
                     batch);
}

inline AlertList alerts_of(std::uint64_t batch, std::size_t count, std::size_t padding = 0) {
  AlertList list;
  for (std::size_t i = 0; i < count; ++i) list.add(alert_of(batch, i, padding));
  return list;
}

/// Delivers a batch to a sink. Returns the result of commit.
inline std::string deliver(AlertSink& sink, std::uint64_t batch, const AlertList& alerts) {
  sink.begin(batch);
  for (std::size_t i = 0; i < alerts.size(); ++i) sink.write(alert_id(alerts[i]), alerts[i]);
  return sink.commit();
}

}  // namespace deltamatch::ingest::testing
