// Collects results for the caller, who gets one at a time. Each thread gathers some before it takes the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "mine/run_control.hpp"

namespace deltamatch::mine {

/// Sets of vertices of the caller's graph, each with a note for the caller (a key or a number of edges).
struct Found {
  std::vector<VertexId> vertices;  // of all sets, one after the other
  std::vector<std::uint32_t> notes;
};

class SetStore {
 public:
  using Take = std::function<void(std::span<const VertexId>, std::uint32_t note)>;

  SetStore(std::uint32_t k, Take take, std::optional<std::uint64_t> limit, RunControl& control)
      : k_(k), take_(std::move(take)), limit_(limit), control_(control) {}

  /// Adds a set. Each thread has its own `gathered`, and hands over the rest with `flush`.
  void add(Found& gathered, std::span<const VertexId> vertices, std::uint32_t note) {
    gathered.vertices.insert(gathered.vertices.end(), vertices.begin(), vertices.end());
    gathered.notes.push_back(note);
    if (gathered.notes.size() < portion) return;
    flush(gathered);
    control_.look();  // the caller's work on a set may take longer than finding it
  }

  void flush(Found& gathered) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < gathered.notes.size(); ++i) {
      if (limit_ && listed_ == *limit_) {
        cut_ = true;
        control_.stop();
        break;
      }
      take_({gathered.vertices.data() + i * k_, k_}, gathered.notes[i]);
      ++listed_;
    }
    gathered.vertices.clear();
    gathered.notes.clear();
  }

  [[nodiscard]] ListResult result() const {
    return {.listed = listed_, .complete = !cut_ && !control_.stopped(), .seconds = control_.seconds()};
  }

 private:
  static constexpr std::size_t portion = 256;

  std::uint32_t k_;
  Take take_;
  std::optional<std::uint64_t> limit_;
  RunControl& control_;
  std::mutex mutex_;
  std::uint64_t listed_ = 0;
  bool cut_ = false;  // a set beyond the limit was found
};

}  // namespace deltamatch::mine
