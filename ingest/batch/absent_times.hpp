// Whether the edges of an input have times. If a query reads times and no edge has one, it finds nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "deltamatch/query.hpp"
#include "deltamatch/update.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Whether a condition of the query reads the time of an edge, or WITHIN compares the times of several.
[[nodiscard]] bool reads_times(const Query& query);

/// Counts insertions of edges without a time, until an edge has one. Then it costs nothing more.
class AbsentTimes {
 public:
  void add(std::span<const Update> updates) noexcept;

  /// A warning, if edges were inserted and none had a time. `remedy`: what to do then; if it is empty, nothing is said.
  [[nodiscard]] std::optional<Warning> warning(std::string where, std::string remedy) const;
  /// The same if no query asks for times yet, because the input is converted.
  [[nodiscard]] std::optional<Warning> unread(std::string where, std::string remedy) const;
  /// Whether an input without an end should be warned of: there are 100 such edges.
  [[nodiscard]] bool due() const noexcept { return !timed_ && !given_ && untimed_ >= enough; }
  /// The warning, which is not due again.
  [[nodiscard]] std::optional<Warning> give(std::string where, std::string remedy);

 private:
  static constexpr std::uint64_t enough = 100;

  std::uint64_t untimed_ = 0;
  bool timed_ = false;
  bool given_ = false;
};

}  // namespace deltamatch::ingest
