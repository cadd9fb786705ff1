// Finds out from the brokers whether partitions were read to their ends.
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

/// Asks in a thread of its own, so brokers that hang delay nothing else.
class EndWatch {
 public:
  /// `input` must outlive it. If answers are further apart than `counts`, they prove nothing about the time in between.
  EndWatch(kafka::Input& input, std::chrono::milliseconds every, std::chrono::milliseconds counts);
  /// Takes up to a second, or two if brokers hang.
  ~EndWatch();
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  /// What is known now, by the input's indices. New partitions may be missing. Any thread may call it.
  [[nodiscard]] std::vector<std::optional<IdleEvidence>> known() const;

 private:
  struct Part {
    std::int64_t position = -1;  // where reading was at the last answer
    std::optional<IdleEvidence> end;
  };

  void run(const std::stop_token& stop);
  void ask();

  kafka::Input& input_;
  const std::chrono::milliseconds every_;
  const std::chrono::milliseconds counts_;
  std::vector<Part> parts_;  // used only by the thread
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::optional<IdleEvidence>> known_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace deltamatch::ingest
