// Whether partitions are read to their ends: only their brokers know.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/service/kafka/input.hpp"
#include "ingest/service/loop/watermarks.hpp"

namespace deltamatch::ingest {

/// Asks in a thread of its own, so that brokers that hang hold up nobody.
class EndWatch {
 public:
  /// `input` outlives it. Answers further apart than `counts` are no evidence of what was between them.
  EndWatch(kafka::Input& input, std::chrono::milliseconds every, std::chrono::milliseconds counts);
  /// Within a second, or two where brokers hang.
  ~EndWatch();
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  /// What is known by now, by the input's indices; those of partitions that are new to it may be missing. Any thread.
  [[nodiscard]] std::vector<std::optional<AtEnd>> known() const;

 private:
  struct Part {
    std::int64_t position = -1;  // where it was read to at the last answer
    std::optional<AtEnd> end;
  };

  void run(const std::stop_token& stop);
  void ask();

  kafka::Input& input_;
  const std::chrono::milliseconds every_;
  const std::chrono::milliseconds counts_;
  std::vector<Part> parts_;  // the thread's own
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::optional<AtEnd>> known_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
