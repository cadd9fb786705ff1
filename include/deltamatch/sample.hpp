// Estimating the number of matches in a whole graph: options and result.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "deltamatch/match.hpp"
#include "deltamatch/query_options.hpp"

namespace deltamatch {

struct SampleOptions {
  QueryOptions query{};  ///< `list` is ignored
  bool induced = false;  ///< as in StaticOptions
  std::uint64_t walks = 1'000'000;
  std::uint64_t seed = 1;
  /// As in StaticOptions. The walks that are finished by then count.
  std::optional<std::chrono::nanoseconds> timeout{};
  std::function<bool()> stop{};  ///< as in StaticOptions
  /// Called now and then by the thread that called sample, with the finished share of the walks and the current estimate.
  std::function<void(double fraction, double matches)> progress{};
};

/// An estimate of the number of matches. The mean is unbiased. The interval is Student's t interval over the replicates. It
/// holds the truth with about its probability if many walks find a match. With few hits it is too narrow; without any it is
/// meaningless.
struct SampleResult {
  static constexpr unsigned replicates = 30;  ///< independent of each other, with the same number of walks
  static constexpr double confidence = 0.95;
  double matches = 0;
  double low = 0;  ///< not below 0
  double high = 0;
  std::uint64_t walks = 0;  ///< at least those requested, a multiple of `replicates`; fewer if cut short or without any match
  std::uint64_t hits = 0;   ///< walks that found a match
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
};

}  // namespace deltamatch
