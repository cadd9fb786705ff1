#include "match/lane_search.hpp"

#include <algorithm>
#include <bit>

#include "match/family_rule.hpp"

namespace deltamatch::match {

namespace {

using Entry = graph::TimeLists::Entry;

std::size_t lowest(std::uint64_t lanes) noexcept { return static_cast<std::size_t>(std::countr_zero(lanes)); }
std::uint64_t bit(std::size_t lane) noexcept { return std::uint64_t{1} << lane; }

/// Calls visit(lane) for each lane of a bit set.
template <class Visit>
void for_each(std::uint64_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(lowest(lanes));
}

/// The position of a query vertex that is matched before a level.
plan::Position position_of(const plan::Plan& plan, std::uint32_t vertex) noexcept {
  if (vertex == plan.tail) return 0;
  if (vertex == plan.head) return 1;
  const auto at = std::ranges::find(plan.levels, vertex, &plan::Level::vertex);
  return static_cast<plan::Position>(at - plan.levels.begin() + 2);
}

/// Whether a lane can choose a vertex of this level beside others.
bool is_plain(const plan::Level& level) noexcept { return level.candidates.above.empty() && level.candidates.below.empty(); }

}  // namespace

LanePlans::LanePlans(std::span<const Lane> lanes) : lanes_(lanes.begin(), lanes.end()) {
  std::size_t levels = 0;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    turns_.emplace_back(lanes_[lane].plan->levels.size());
    same_.push_back(same_runs(lane));
    levels = std::max(levels, turns_.back().size());
  }
  for (std::size_t level = 0; level < levels; ++level) compare(level);
}

// Finds the lists that several lanes read at a level. A list belongs to the first lane that does nothing but walk it.
void LanePlans::compare(std::size_t level) {
  for (std::size_t leader = 0; leader < lanes_.size(); ++leader) {
    if (level + 1 >= turns_[leader].size() || turns_[leader][level].list != none) continue;
    const plan::Level& next = lanes_[leader].plan->levels[level];
    if (lanes_[leader].plan->steps[level + 2].size() != 2 || !is_plain(next)) continue;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (level >= turns_[lane].size() || turns_[lane][level].list != none) continue;
      const plan::Plan& plan = *lanes_[lane].plan;
      const auto& steps = plan.steps[level + 2];
      std::size_t step = 1;
      while (step < steps.size() && !reads_same(lane, step, leader, level)) ++step;
      if (step == steps.size()) continue;
      const std::uint32_t edge = *steps[step].edge;
      const bool doubled = lanes_[lane].query->is_double(plan.levels[level].vertex);
      const bool goes_on = steps.size() == 2 && level + 1 < turns_[lane].size() && is_plain(plan.levels[level]) &&
                           lanes_[lane].query->mode == lanes_[leader].query->mode &&
                           lanes_[lane].query->mode != MatchMode::homomorphism &&
                           doubled == lanes_[leader].query->is_double(next.vertex);
      const bool at_source = lanes_[lane].query->edges[edge].target == plan.levels[level].vertex;
      const bool tests = !steps[0].conditions.empty() || !steps[step].conditions.empty();
      Turn& turn = turns_[lane][level];
      turn.list = static_cast<std::uint32_t>(leader);
      turn.edge = edge;
      turn.step = static_cast<std::uint8_t>(step);
      turn.at_source = at_source;
      turn.goes_on = goes_on;
      turn.tests = tests;
      bound(lane, level);
    }
  }
}

// Finds the bounds on the times of a turn's edge. Edges that were chosen before are within all bounds between them. So a bound
// that follows from others is left out.
void LanePlans::bound(std::size_t lane, std::size_t level) {
  const condition::TimeBounds& bounds = lanes_[lane].query->time_bounds;
  Turn& turn = turns_[lane][level];
  turn.bound = bounds.any() && bounds.binds(turn.edge);
  if (!turn.bound) return;
  std::vector<std::uint32_t> chosen{lanes_[lane].plan->anchor.edge};
  for (std::size_t before = 0; before < level; ++before) {
    if (!turns_[lane][before].goes_on) return;  // it never comes here beside others
    chosen.push_back(turns_[lane][before].edge);
  }
  turn.within = interval_of(bounds, turn.edge, {}, {});
  constexpr std::int64_t unbound = condition::TimeBounds::none;
  const auto keep = [&](std::vector<Bound>& into, auto difference, auto between) {
    for (const std::uint32_t other : chosen) {
      if (difference(other) != unbound) into.push_back({other, difference(other)});
    }
    const auto follows = [&](const Bound& each) {
      return std::ranges::any_of(into, [&](const Bound& by) {
        std::int64_t sum = 0;
        const std::int64_t rest = between(by.edge, each.edge);
        return by.edge != each.edge && rest != unbound && !__builtin_add_overflow(by.difference, rest, &sum) &&
               sum <= each.difference;
      });
    };
    for (std::size_t i = into.size(); i-- > 0;) {
      if (follows(into[i])) into.erase(into.begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  keep(
      turn.above, [&](std::uint32_t other) { return bounds.difference(turn.edge, other); },
      [&](std::uint32_t by, std::uint32_t other) { return bounds.difference(by, other); });
  keep(
      turn.below, [&](std::uint32_t other) { return bounds.difference(other, turn.edge); },
      [&](std::uint32_t by, std::uint32_t other) { return bounds.difference(other, by); });
}

// Whether a step of a lane reads the list that the only step of the leader reads.
bool LanePlans::reads_same(std::size_t lane, std::size_t step, std::size_t leader, std::size_t level) const {
  const auto list_of = [&](std::size_t of, std::size_t at) {
    const plan::Plan& plan = *lanes_[of].plan;
    const std::uint32_t edge = *plan.steps[level + 2][at].edge;
    const plan::BoundEdge& bound = lanes_[of].query->edges[edge];
    const bool at_source = bound.target == plan.levels[level].vertex;
    return std::pair{position_of(plan, at_source ? bound.source : bound.target),
                     &lanes_[of].relations->admitted(2 * edge + (at_source ? 0 : 1))};
  };
  const auto [position, admitted] = list_of(lane, step);
  const auto [other_position, other_admitted] = list_of(leader, 1);
  return position == other_position && *admitted == *other_admitted;
}

// The runs of a lane at the ends of the anchor, if all of their entries are in runs of the first lane.
std::vector<LanePlans::SameRun> LanePlans::same_runs(std::size_t lane) const {
  const Lane& own = lanes_[lane];
  const Lane& first = lanes_[0];
  const auto end_of = [](const Lane& of, std::uint32_t run) {
    const plan::BoundEdge& edge = of.query->edges[run / 2];
    const std::uint32_t vertex = run % 2 == 0 ? edge.source : edge.target;
    return run / 2 == of.plan->anchor.edge ? 2 : vertex == of.plan->tail ? 0 : vertex == of.plan->head ? 1 : 2;
  };
  std::vector<SameRun> same;
  for (std::uint32_t run = 0; lane != 0 && run < 2 * own.query->edges.size(); ++run) {
    const int end = end_of(own, run);
    if (end == 2) continue;
    std::uint32_t other = 0;
    const std::uint32_t others = 2 * static_cast<std::uint32_t>(first.query->edges.size());
    while (other < others &&
           !(end_of(first, other) == end && first.relations->admitted(other) == own.relations->admitted(run) &&
             times_within(own.query->time_bounds, run / 2, own.plan->anchor.edge, first.query->time_bounds, other / 2,
                          first.plan->anchor.edge))) {
      ++other;
    }
    if (other == others) return {};
    same.push_back({run, other});
  }
  return same;
}

bool LaneSearch::run(const LanePlans& plans, std::span<TimeSearch> searches, const graph::Edge& anchor,
                     std::span<FoundSink* const> sinks, bool leads) {
  plans_ = &plans;
  searches_ = searches;
  TimeSearch& first = searches[0];
  const ScratchScope scope(*first.scratch_);
  Lanes together = 0;
  bool found = false;  // the first lane has found its ends
  for (std::size_t lane = 0; lane < searches.size(); ++lane) {
    TimeSearch& search = searches[lane];
    const plan::Plan& plan = *plans.lanes_[lane].plan;
    search.sink_ = sinks[lane];
    search.count_ = 0;
    if (!search.place(plan, anchor)) continue;
    const std::vector<LanePlans::SameRun>& same = plans.same_[lane];
    if (found && !same.empty()) {
      for (const auto [run, of_first] : same) {
        search.memory_->runs[run] = first.memory_->runs[of_first];
        search.memory_->wanted[run / 2] = first.memory_->wanted[of_first / 2];
      }
    } else if (!search.find_ends()) {
      if (lane == 0 && leads) return false;
      continue;
    }
    found = found || lane == 0;
    if (plan.levels.empty() || plan.steps[1].size() > 1) {
      search.close(1, 0);
    } else {
      together |= bit(lane);
    }
  }
  descend(0, together);
  return true;
}

// Matches the vertices of a level in these lanes. They have the same images so far.
void LaneSearch::descend(std::size_t level, Lanes lanes) {
  while (lanes != 0) {
    const std::size_t lane = lowest(lanes);
    const std::uint32_t list = plans_->turn(lane, level).list;
    Lanes same = bit(lane);
    if (list != LanePlans::none) {
      for_each(lanes & ~same, [&](std::size_t other) {
        if (plans_->turn(other, level).list == list) same |= bit(other);
      });
    }
    lanes &= ~same;
    if (same == bit(lane)) {
      searches_[lane].descend(level);
    } else {
      walk(level, same);
    }
  }
}

// The same for lanes that read the same list at this level.
void LaneSearch::walk(std::size_t level, Lanes lanes) {
  TimeSearch& any = searches_[lowest(lanes)];
  if (any.over()) return;
  const ScratchScope scope(*any.scratch_);
  const std::span<Interval> wanted(any.scratch_->array<Interval>(searches_.size()), searches_.size());
  Interval hull{INT64_MAX, INT64_MIN};
  for_each(lanes, [&](std::size_t lane) {
    wanted[lane] = interval(searches_[lane], plans_->turn(lane, level));
    if (wanted[lane].empty()) {
      lanes &= ~bit(lane);
      return;
    }
    hull.from = std::min(hull.from, wanted[lane].from);
    hull.to = std::max(hull.to, wanted[lane].to);
  });
  if (lanes == 0) return;
  const std::size_t lane = lowest(lanes);
  const TimeSearch::Run run = find_run(searches_[lane], plans_->turn(lane, level), hull);
  if (run.size == 0) return;
  Lanes going_on = 0;
  for_each(lanes, [&](std::size_t each) {
    if (plans_->turn(each, level).goes_on) going_on |= bit(each);
  });
  if ((going_on & (going_on - 1)) == 0) going_on = 0;
  for_each(lanes & ~going_on, [&](std::size_t each) {
    const ScratchScope own(*any.scratch_);
    const TimeSearch::Run part = any.cut(run, wanted[each]);
    if (part.size != 0) searches_[each].descend(level, plans_->turn(each, level).step, &part);
  });
  if (going_on != 0) scan(level, going_on, run, wanted);
}

// Tries each entry of a run, in the lanes that go on.
void LaneSearch::scan(std::size_t level, Lanes lanes, const TimeSearch::Run& run, std::span<const Interval> wanted) {
  const auto position = static_cast<plan::Position>(level + 2);
  const std::size_t lead = lowest(lanes);
  TimeSearch& first = searches_[lead];
  const plan::Level& next = first.plan_->levels[level];
  const std::uint32_t edge = plans_->turn(lead, level).edge;
  for (const TimeSearch::Part& part : run.parts) {
    for (const Entry* entry = part.first; entry != part.last; ++entry) {
      if (!first.admits_edge(edge, entry->slot) || first.has_chosen(entry->slot) ||
          !first.admits_vertex(next, entry->neighbour))
        continue;
      Lanes chosen = 0;
      Lanes alive = 0;
      for_each(lanes, [&](std::size_t lane) {
        if (entry->time < wanted[lane].from || entry->time > wanted[lane].to) return;
        TimeSearch& search = searches_[lane];
        const Turn& turn = plans_->turn(lane, level);
        search.memory_->vertices[search.plan_->levels[level].vertex] = entry->neighbour;
        search.choose(turn.edge, *entry, part.leaving == turn.at_source);
        chosen |= bit(lane);
        if (!turn.tests || (search.conditions_hold(position, 0, 0) && search.conditions_hold(position, 2, 2)))
          alive |= bit(lane);
      });
      descend(level + 1, alive);
      for_each(chosen, [&](std::size_t lane) { searches_[lane].unbind(); });
      if (first.over()) return;
    }
  }
}

// The times that an edge may have, as `TimeSearch::interval` says.
Interval LaneSearch::interval(const TimeSearch& search, const Turn& turn) noexcept {
  Interval result;
  if (!turn.bound) return result;
  result = turn.within;
  const std::vector<Timestamp>& times = search.memory_->times;
  for (const LanePlans::Bound& bound : turn.above) {
    const Timestamp time = times[bound.edge];
    if (time != no_time) result.to = std::min(result.to, later(time, bound.difference));
  }
  for (const LanePlans::Bound& bound : turn.below) {
    const Timestamp time = times[bound.edge];
    if (time != no_time) result.from = std::max(result.from, earlier(time, bound.difference));
  }
  result.to = std::min(result.to, search.latest_);
  return result;
}

// The entries of a turn's list. At an end of the anchor, most have been found.
TimeSearch::Run LaneSearch::find_run(const TimeSearch& search, const Turn& turn, const Interval& wanted) {
  const plan::BoundEdge& bound = search.query_->edges[turn.edge];
  const std::uint32_t end = turn.at_source ? bound.source : bound.target;
  const TimeSearch::Memory& memory = *search.memory_;
  if (search.is_end_of_anchor(end) && memory.wanted[turn.edge].contains(wanted))
    return search.cut(memory.runs[2 * turn.edge + (turn.at_source ? 0 : 1)], wanted);
  return search.run_at(turn.edge, turn.at_source, memory.vertices[end], wanted);
}

}  // namespace deltamatch::match
