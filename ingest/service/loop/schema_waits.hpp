// Waits for schemas that the registry cannot give now, and says so.
#pragma once

#include <chrono>
#include <concepts>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/schema/schema.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// Records that need such a schema are neither refused nor skipped: their reader tries again until it is there. Threads may
/// share it, and any may ask why one waits.
class SchemaWaits {
 public:
  /// `source` may be null: then there is no registry. Both must outlive this.
  SchemaWaits(SchemaSource* source, Journal& journal) : source_(source), journal_(journal) {}

  [[nodiscard]] SchemaSource* source() const noexcept { return source_; }

  /// Calls `read` until it throws no SchemaUnavailable. Calls `before` once before it waits, when why() says why. Returns false
  /// if `stopped` ends the waiting; then the record was not read.
  template <std::invocable Read, std::predicate Stopped, std::invocable Before>
  bool until_read(Read read, Stopped stopped, Before before) {
    for (bool waits = false;; waits = true) {
      try {
        read();
        if (waits) end();
        return true;
      } catch (const SchemaUnavailable& why) {
        tell(why.what());
        if (!waits) before();
      }
      if (!pause(stopped)) return false;
    }
  }

  /// Why the reader waits. Empty if it does not.
  [[nodiscard]] std::string why() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds step{50};
  static constexpr std::chrono::milliseconds between{1'000};
  static constexpr std::chrono::seconds told_again_after{30};

  void tell(std::string_view why);
  void end();
  template <class Stopped>
  bool pause(Stopped stopped) {
    for (auto waited = std::chrono::milliseconds(0); waited < between; waited += step) {
      if (stopped()) return false;
      sleep(step);
    }
    return !stopped();
  }
  static void sleep(std::chrono::milliseconds time);

  SchemaSource* source_;
  Journal& journal_;
  mutable std::mutex mutex_;
  std::string why_;                         // guarded by mutex_, like the next
  std::optional<Clock::time_point> since_;  // the waiting began
  std::optional<Clock::time_point> told_;
};

}  // namespace deltamatch::ingest
