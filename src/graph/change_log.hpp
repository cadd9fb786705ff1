// A log of the vertices of a store that changed, in order. Mirrors follow it independently. It is bounded: a mirror that falls
// too far behind learns only that everything may have changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace deltamatch::graph {

class ChangeLog {
 public:
  /// Starts the log. Earlier changes are not recorded.
  void track() noexcept { tracked_ = true; }

  /// Makes room for `more` changes, so that `append` cannot fail. If there would be more than `limit`, the oldest changes are
  /// dropped. It drops enough of them to make this rare. A mirror that is one batch behind still finds its changes.
  void prepare(std::size_t more, std::size_t limit) {
    if (log_.size() + more > limit) forget(log_.size() - std::min({log_.size(), limit / 2, limit - std::min(more, limit)}));
    logging_ = tracked_ && more <= limit;
    if (logging_ && log_.size() + more > log_.capacity()) log_.reserve(std::max(log_.size() + more, 2 * log_.capacity()));
  }
  /// Appends the changes that room was made for; vertex(i) is the i-th. O(1) if nobody tracks them.
  template <class Vertex>
  void append(std::size_t count, Vertex&& vertex) noexcept {
    if (logging_) {
      for (std::size_t i = 0; i < count; ++i) log_.push_back(vertex(i));
    } else {
      forget(log_.size());
      first_ += count;
    }
  }

  /// The number of changes so far.
  [[nodiscard]] std::uint64_t end() const noexcept { return first_ + log_.size(); }
  /// The vertices of all changes after the first `begin`, with repetitions; nullopt if they were dropped. Valid until the next
  /// prepare.
  [[nodiscard]] std::optional<std::span<const VertexId>> since(std::uint64_t begin) const noexcept {
    if (begin < first_) return std::nullopt;
    return std::span(log_).subspan(begin - first_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return log_.capacity() * sizeof(VertexId); }

 private:
  void forget(std::size_t oldest) noexcept {
    first_ += oldest;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(oldest));
  }

  bool tracked_ = false;
  bool logging_ = false;
  std::uint64_t first_ = 0;  // number of changes before log_[0]
  std::vector<VertexId> log_;
};

}  // namespace deltamatch::graph
