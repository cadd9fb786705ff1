// Searches from an anchor along the plans of several variants of a query at once.
//
// Each variant has a lane: a search of its own. As long as lanes take the same steps, they walk a list together. The list is
// looked up once, and an entry is tried once, for all lanes whose bounds admit its time. A lane that closes a cycle leaves the
// others, and gets the entries that they have found. A lane whose plan goes another way searches by itself.
//
// Rings of 3 to 6 in order of time begin with the same walk. Each ring of k ends at the level where the ring of k + 1 goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/time_search.hpp"

namespace deltamatch::match {

/// What the plans of some lanes have in common. It must outlive none of its arguments.
class LanePlans {
 public:
  static constexpr std::size_t most = 64;

  struct Lane {
    const plan::BoundQuery* query;
    const plan::Plan* plan;
    const TimeSearch::Relations* relations;
  };
  /// Of at most `most` lanes, all bound to one graph. O(lanes^2 * levels * edges at a level).
  explicit LanePlans(std::span<const Lane> lanes);

 private:
  friend class LaneSearch;

  /// A bound on the difference between the time of an edge and that of one which has been chosen.
  struct Bound {
    std::uint32_t edge;
    std::int64_t difference;
  };
  /// What a lane does at a level that it reaches beside others.
  struct Turn {
    std::uint32_t list = none;  // lanes of the same number read the same list
    std::uint32_t edge = 0;     // whose images are in it
    std::uint8_t step = 0;      // where this edge is chosen
    bool at_source = false;     // the list is that of the edge's source
    bool goes_on = false;       // the lane chooses no other edge here, and it has a level after this one
    bool tests = false;         // it has conditions to test here
    bool bound = false;         // the edge has a time, within these bounds
    Interval within{};          // of all that do not depend on other edges
    std::vector<Bound> above{};
    std::vector<Bound> below{};
  };
  static constexpr std::uint32_t none = UINT32_MAX;
  /// A run at an end of the anchor, numbered as `TimeSearch` does, and one of the first lane that holds its entries.
  struct SameRun {
    std::uint32_t run;
    std::uint32_t of_first;
  };

  void compare(std::size_t level);
  void bound(std::size_t lane, std::size_t level);
  [[nodiscard]] bool reads_same(std::size_t lane, std::size_t step, std::size_t leader, std::size_t level) const;
  [[nodiscard]] std::vector<SameRun> same_runs(std::size_t lane) const;
  [[nodiscard]] const Turn& turn(std::size_t lane, std::size_t level) const noexcept { return turns_[lane][level]; }

  std::vector<Lane> lanes_;
  std::vector<std::vector<Turn>> turns_;    // by lane and level
  std::vector<std::vector<SameRun>> same_;  // by lane: its runs at the anchor's ends; none: it must find them
};

/// One is used by one thread, for any number of searches.
class LaneSearch {
 public:
  /// Searches from an anchor. `searches` and `sinks` are by lane. A sink may be null. `leads`: where the first lane finds no
  /// edges at an end of the anchor, no lane has a match. All searches must share the scratch memory, and a step budget that
  /// never runs out. Returns false if it ended there; then no search has a result.
  bool run(const LanePlans& plans, std::span<TimeSearch> searches, const graph::Edge& anchor, std::span<FoundSink* const> sinks,
           bool leads);

 private:
  using Turn = LanePlans::Turn;
  using Lanes = std::uint64_t;  // a bit set

  void descend(std::size_t level, Lanes lanes);
  void walk(std::size_t level, Lanes lanes);
  void scan(std::size_t level, Lanes lanes, const TimeSearch::Run& run, std::span<const Interval> wanted);
  [[nodiscard]] static Interval interval(const TimeSearch& search, const Turn& turn) noexcept;
  [[nodiscard]] static TimeSearch::Run find_run(const TimeSearch& search, const Turn& turn, const Interval& wanted);

  const LanePlans* plans_ = nullptr;
  std::span<TimeSearch> searches_;
};

}  // namespace deltamatch::match
