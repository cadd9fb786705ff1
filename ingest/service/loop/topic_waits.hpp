// Says which topics of the input are named and not there yet.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// Such a topic is waited for, while the others are read. A misspelt name looks the same, so the journal has each topic again
/// and again. One thread notes; any thread may ask why the service waits.
class TopicWaits {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds told_again_after{60};

  /// `creation`: what begins the command that creates a topic.
  TopicWaits(Journal& journal, std::string creation) : journal_(journal), creation_(std::move(creation)) {}

  /// `absent` is what the last look did not find.
  void note(const std::vector<std::string>& absent, Clock::time_point now);
  [[nodiscard]] std::size_t count() const noexcept { return waits_.size(); }
  /// Names the topics. Empty if all are there.
  [[nodiscard]] std::string why() const;

 private:
  struct Wait {
    Clock::time_point since;
    Clock::time_point told;
  };

  Journal& journal_;
  std::string creation_;
  std::map<std::string, Wait> waits_;  // by topic; only the thread that notes uses it
  mutable std::mutex mutex_;
  std::string why_;  // guarded by mutex_
};

}  // namespace deltamatch::ingest
