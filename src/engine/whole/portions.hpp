// How many anchors or roots of a whole graph are tried at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deltamatch::engine {

/// Portions are small at first. They grow until one takes about the time that is wanted between two of them. While a portion
/// may be lost to filtering, portions are smaller still.
class Portions {
 public:
  /// `preferred_anchors`: how many anchors keep the matcher busy.
  Portions(std::size_t threads, std::size_t preferred_anchors) noexcept;

  /// From here until `lose_none`, a portion is lost once matching has taken `patience` seconds.
  void may_lose(double patience) noexcept;
  void lose_none() noexcept { may_lose_ = false; }

  /// Begins with `starts` anchors or roots, none of which has been tried.
  void begin(std::uint64_t starts) noexcept;
  /// How many of them to try next, at most.
  [[nodiscard]] std::size_t next() const noexcept;
  /// How many anchors or roots of another kind to try at a time.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Reports how many seconds a portion with `starts` of them took. `starts` may be 0.
  void tried(std::size_t starts, double seconds) noexcept;
  /// The share of them that has not been tried yet.
  [[nodiscard]] double untried() const noexcept;

 private:
  std::size_t least_;
  std::size_t most_;
  std::size_t size_;
  std::size_t least_if_lost_;
  bool may_lose_ = false;
  double seconds_if_lost_ = 0;  // what a portion should take while it may be lost
  std::uint64_t tried_ = 0;
  std::uint64_t starts_ = 0;
};

}  // namespace deltamatch::engine
