#include "match/time_search.hpp"

#include <algorithm>

#include "condition/evaluate.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

using Entry = graph::TimeLists::Entry;

/// Cuts a part to the entries whose times are in the interval. O(log entries).
template <class Part>
Part within(Part part, const Interval& wanted) noexcept {
  if (part.first == part.last || part.last[-1].time < wanted.from || part.first->time > wanted.to)
    return {part.first, part.first, part.leaving};
  if (part.first->time < wanted.from) {
    part.first = std::lower_bound(part.first, part.last, wanted.from,
                                  [](const Entry& entry, Timestamp time) { return entry.time < time; });
  }
  if (part.last[-1].time > wanted.to) {
    part.last = std::upper_bound(part.first, part.last, wanted.to,
                                 [](Timestamp time, const Entry& entry) { return time < entry.time; });
  }
  return part;
}

/// Whether an edge with this slot and time is in one of the parts.
template <class Part>
bool holds(std::span<const Part> parts, graph::Slot slot, Timestamp time) noexcept {
  return std::ranges::any_of(parts, [&](const Part& part) {
    const Part same = within(part, {time, time});
    return std::any_of(same.first, same.last, [&](const Entry& entry) { return entry.slot == slot; });
  });
}

/// Whether one of the edges leads to a vertex.
template <class Part>
bool leads_to(std::span<const Part> parts, VertexId vertex) noexcept {
  return std::ranges::any_of(parts, [&](const Part& part) {
    return std::any_of(part.first, part.last, [&](const Entry& entry) { return entry.neighbour == vertex; });
  });
}

// A run with fewer entries is walked rather than counted.
constexpr std::size_t least_counted = 8;

// A run with more entries is not walked to see whether it leads to a vertex.
constexpr std::size_t most_compared = 24;

// So many entries that lie side by side are read sooner than a list of another vertex.
constexpr std::size_t few_entries = 12;

}  // namespace

TimeSearch::Relations::Relations(const plan::BoundQuery& query) {
  const graph::DataGraph& graph = query.graph();
  const graph::BaseRelations& relations = graph.relations();
  admitted_.resize(2 * query.edges.size());
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const graph::BaseRelation& relation = relations[static_cast<graph::RelationId>(r)];
    leaving_.push_back(relation.direction != graph::Direction::in ? 1 : 0);
    for (std::size_t e = 0; e < query.edges.size(); ++e) {
      const plan::BoundEdge& edge = query.edges[e];
      for (const std::size_t end : {0U, 1U}) {
        const graph::Direction along = end == 0 ? graph::Direction::out : graph::Direction::in;
        const bool directed = graph.directed() && edge.directed;
        const bool fits = relation.direction == graph::Direction::loop || query.is_loop(static_cast<std::uint32_t>(e))
                              ? relation.direction == graph::Direction::loop &&
                                    (query.is_loop(static_cast<std::uint32_t>(e)) || query.takes_loops())
                              : !directed || relation.direction == along;
        const bool admits = fits && plan::admits(edge.labels, relation.edge_label) &&
                            plan::admits(query.labels[end == 0 ? edge.target : edge.source], relation.neighbour_label);
        admitted_[2 * e + end].push_back(admits ? 1 : 0);
      }
    }
  }
}

void TimeSearch::Relations::add_to(std::vector<bool>& wanted) const {
  wanted.resize(std::max(wanted.size(), leaving_.size()));
  for (const std::vector<std::uint8_t>& admitted : admitted_) {
    for (std::size_t relation = 0; relation < admitted.size(); ++relation) {
      if (admitted[relation] != 0) wanted[relation] = true;
    }
  }
}

std::uint64_t TimeSearch::run(const plan::Plan& plan, const graph::Edge& anchor, FoundSink* sink) {
  const ScratchScope scope(*scratch_);
  sink_ = sink;
  count_ = 0;
  if (place(plan, anchor) && find_ends()) close(1, 0);
  return count_;
}

// Maps the anchor's edge. Whether it meets the conditions on itself.
bool TimeSearch::place(const plan::Plan& plan, const graph::Edge& anchor) {
  if (ordered_ && ((plan.anchor_above && anchor.head < anchor.tail) || (plan.anchor_below && anchor.head > anchor.tail)))
    return false;
  plan_ = &plan;
  anchor_ = anchor.which;
  anchor_ordinal_ = table_->ordinal(anchor.which);
  Memory& memory = *memory_;
  const std::size_t edges = query_->edges.size();
  memory.vertices.resize(query_->vertices());
  memory.tags.resize(edges);
  memory.edges.resize(edges);
  memory.times.resize(edges);
  memory.runs.resize(2 * edges);
  memory.wanted.resize(edges);
  memory.chosen.clear();
  memory.vertices[plan.tail] = anchor.tail;
  memory.vertices[plan.head] = anchor.head;
  const std::uint32_t edge = plan.anchor.edge;
  memory.tags[edge] = graph::entry_tag(anchor.which, plan.anchor.reversed && graph_->directed());
  memory.edges[edge] = anchor;
  const auto time = table_->time(anchor.which);
  latest_ = INT64_MAX;
  if (!interval(edge).holds(time)) return false;
  memory.times[edge] = time.value_or(no_time);
  latest_ = time ? pass_->latest(*time) : INT64_MAX;
  memory.chosen.push_back(edge);
  return conditions_hold(1, 0, 0);
}

// Whether edges of the wanted times join the ends of the anchor.
bool TimeSearch::find_ends() {
  Memory& memory = *memory_;
  for (std::uint32_t e = 0; e < query_->edges.size(); ++e) {
    const plan::BoundEdge& bound = query_->edges[e];
    for (const std::uint32_t end : {plan_->tail, plan_->head}) {
      const bool at_source = bound.source == end;
      if (e == plan_->anchor.edge || (!at_source && bound.target != end)) continue;
      const Interval wanted = interval(e);
      if (wanted.empty()) return false;
      Run& run = memory.runs[2 * e + (at_source ? 0 : 1)];
      run = run_at(e, at_source, memory.vertices[end], wanted);
      if (run.size == 0) return false;
      memory.wanted[e] = wanted;
    }
  }
  return true;
}

Interval TimeSearch::interval(std::uint32_t edge) const noexcept {
  Interval result = interval_of(query_->time_bounds, edge, memory_->chosen, memory_->times);
  if (!result.null) result.to = std::min(result.to, latest_);
  return result;
}

// The same as `run_at`, at an end of the edge that is matched. At an end of the anchor it cuts the run that was found first.
TimeSearch::Run TimeSearch::find_run(std::uint32_t edge, bool at_source, const Interval& wanted) const {
  const plan::BoundEdge& bound = query_->edges[edge];
  const std::uint32_t end = at_source ? bound.source : bound.target;
  if (!is_end_of_anchor(end)) return run_at(edge, at_source, memory_->vertices[end], wanted);
  return cut(memory_->runs[2 * edge + (at_source ? 0 : 1)], wanted);
}

// The entries of a run whose times are in the interval.
TimeSearch::Run TimeSearch::cut(const Run& run, const Interval& wanted) const {
  Part* parts = scratch_->array<Part>(run.parts.size());
  std::size_t count = 0;
  std::size_t size = 0;
  for (const Part& whole : run.parts) {
    const Part part = within(whole, wanted);
    if (part.first == part.last) continue;
    size += static_cast<std::size_t>(part.last - part.first);
    parts[count++] = part;
  }
  return {{parts, count}, size};
}

// The entries of a query edge at the image of one of its ends.
TimeSearch::Run TimeSearch::run_at(std::uint32_t edge, bool at_source, VertexId vertex, const Interval& wanted) const {
  const std::vector<std::uint8_t>& admitted = relations_->admitted_[2 * edge + (at_source ? 0 : 1)];
  constexpr std::size_t few = 4;
  Part* parts = scratch_->array<Part>(few);
  std::size_t room = few;
  std::size_t count = 0;
  std::size_t size = 0;
  pass_->lists().for_each_list(vertex, [&](graph::RelationId relation, std::span<const Entry> entries) {
    if (admitted[relation] == 0) return;
    const Part whole{entries.data(), entries.data() + entries.size(), relations_->leaving_[relation] != 0};
    const Part part = within(whole, wanted);
    if (part.first == part.last) return;
    if (count == room) {
      room *= 2;
      Part* larger = scratch_->array<Part>(room);
      std::copy_n(parts, count, larger);
      parts = larger;
    }
    size += static_cast<std::size_t>(part.last - part.first);
    parts[count++] = part;
  });
  return {{parts, count}, size};
}

// Calls attempt(entry, whether the query edge has the data edge's direction) until the search is over.
template <class Try>
void TimeSearch::for_each_entry(const Run& run, bool at_source, std::uint32_t edge, Try&& attempt) {
  for (const Part& part : run.parts) {
    for (const Entry* entry = part.first; entry != part.last; ++entry) {
      if (!admits_edge(edge, entry->slot)) continue;
      if (!attempt(*entry, part.leaving == at_source)) return;
    }
  }
}

bool TimeSearch::admits_edge(std::uint32_t edge, graph::Slot slot) const noexcept {
  // In a batch, the least of the query edges that map to the anchor's edge is its anchor.
  const bool shown =
      slot == anchor_ ? !distinct_ && (pass_->whole() || edge > plan_->anchor.edge) : pass_->shows(slot, anchor_ordinal_);
  return shown;
}

/// Whether a query edge is mapped to the edge of this slot.
bool TimeSearch::has_chosen(graph::Slot slot) const noexcept {
  return std::ranges::any_of(memory_->chosen, [&](std::uint32_t other) { return memory_->edges[other].which == slot; });
}

bool TimeSearch::admits_vertex(const plan::Level& level, VertexId vertex) const noexcept {
  const auto at = [&](plan::Position position) {
    const std::uint32_t query_vertex = position == 0   ? plan_->tail
                                       : position == 1 ? plan_->head
                                                       : plan_->levels[position - 2U].vertex;
    return memory_->vertices[query_vertex];
  };
  if (query_->mode == MatchMode::isomorphism && !query_->is_double(level.vertex)) {
    // Lists do not keep vertices apart that edges join, as a level of neighbour lists does.
    for (plan::Position position = 0; position < static_cast<std::size_t>(&level - plan_->levels.data()) + 2; ++position) {
      if (at(position) == vertex) return false;
    }
  }
  if (!ordered_) return true;
  return std::ranges::all_of(level.candidates.above, [&](plan::Position position) { return vertex > at(position); }) &&
         std::ranges::all_of(level.candidates.below, [&](plan::Position position) { return vertex < at(position); });
}

// Matches the vertex of a level, from the shortest list that leads to it. `known`: 0, or a step whose run is
// `known_run`.
void TimeSearch::descend(std::size_t level, std::size_t known, const Run* known_run) {
  if (step_budget_ != nullptr && !step_budget_->take()) return;
  const plan::Level& next = plan_->levels[level];
  const auto position = static_cast<plan::Position>(level + 2);
  const std::vector<plan::ConditionStep>& steps = plan_->steps[position];
  const ScratchScope scope(*scratch_);
  std::size_t best = 0;
  Run shortest;
  Run second;  // the shortest of the others, if there are any
  bool from_source = false;
  for (std::size_t s = 1; s < steps.size(); ++s) {
    const std::uint32_t edge = *steps[s].edge;
    const bool at_source = query_->edges[edge].target == next.vertex;
    Run run;
    if (s == known) {
      run = *known_run;
    } else {
      const Interval wanted = interval(edge);
      if (wanted.empty()) return;
      run = find_run(edge, at_source, wanted);
    }
    if (run.size == 0) return;
    if (best != 0 && run.size >= shortest.size) {
      if (second.size == 0 || run.size < second.size) second = run;
      continue;
    }
    second = shortest;
    best = s;
    shortest = run;
    from_source = at_source;
  }
  const std::uint32_t edge = *steps[best].edge;
  const std::uint64_t bound = std::uint64_t{1} << best;
  const bool last = level + 1 == plan_->levels.size() && steps.size() == 2 && sink_ == nullptr && !rule_ &&
                    transient_ == nullptr && steps[0].conditions.empty() && steps[1].conditions.empty();
  if (last) {
    if (const auto count = count_run(level, edge, from_source, shortest)) {
      count_ += *count;
      tally_.add(*count);
      return;
    }
  }
  const bool compares = second.size != 0 && second.size <= most_compared;
  const bool tests = std::ranges::any_of(steps, [](const plan::ConditionStep& step) { return !step.conditions.empty(); });
  for_each_entry(shortest, from_source, edge, [&](const Entry& entry, bool forward) {
    if (compares && !leads_to<Part>(second.parts, entry.neighbour)) return true;
    if (!admits_vertex(next, entry.neighbour)) return true;
    memory_->vertices[next.vertex] = entry.neighbour;
    if (!bind(edge, entry, forward)) return true;
    if (last) {
      ++count_;
      tally_.add(1);
    } else if (!tests || (conditions_hold(position, 0, 0) && conditions_hold(position, bound, bound))) {
      close(position, bound);
    }
    unbind();
    return !over();
  });
}

// How many entries of a run give a match. The vertex of this level must be the last, and depend on the run alone. The run is
// not walked. Its size counts, less the entries that lead to matched vertices or are edges that have been chosen. Returns
// nothing if that costs more than to walk the run.
std::optional<std::uint64_t> TimeSearch::count_run(std::size_t level, std::uint32_t edge, bool at_source,
                                                   const Run& run) const {
  const plan::Level& next = plan_->levels[level];
  if (!pass_->whole() || run.size < least_counted) return std::nullopt;
  if (ordered_ && !(next.candidates.above.empty() && next.candidates.below.empty())) return std::nullopt;
  if (!distinct_) return run.size;
  const plan::BoundEdge& bound = query_->edges[edge];
  const std::uint32_t end = at_source ? bound.source : bound.target;
  const VertexId vertex = memory_->vertices[end];
  std::uint64_t count = run.size;
  if (query_->mode == MatchMode::edge_distinct) {
    for (const std::uint32_t other : memory_->chosen) {
      if (holds(run.parts, memory_->edges[other].which, memory_->times[other])) --count;
    }
    return count;
  }
  const ScratchScope scope(*scratch_);
  const Interval wanted = interval(edge);
  std::size_t walked = 0;
  for (std::uint32_t other = 0; other < query_->vertices(); ++other) {
    const VertexId image = memory_->vertices[other];
    if (other == next.vertex || other == end || query_->is_double(other)) continue;  // a double has another vertex's image
    if (!plan::admits(query_->labels[next.vertex], graph_->dictionary.label(image))) continue;
    const Run back = run_at(edge, !at_source, image, wanted);
    walked += back.size;
    if (walked >= run.size) return std::nullopt;
    for (const Part& part : back.parts) {
      count -= static_cast<std::uint64_t>(
          std::count_if(part.first, part.last, [&](const Entry& entry) { return entry.neighbour == vertex; }));
    }
  }
  return count;
}

// Chooses the data edges of a position's steps that are not in `bound`, then goes on.
void TimeSearch::close(plan::Position position, std::uint64_t bound) {
  const std::vector<plan::ConditionStep>& steps = plan_->steps[position];
  std::size_t s = 1;
  while (s < steps.size() && (bound >> s & 1) != 0) ++s;
  if (s == steps.size()) {
    const std::size_t level = position - std::size_t{1};
    return level == plan_->levels.size() ? count_match() : descend(level);
  }
  const ScratchScope scope(*scratch_);
  const std::uint32_t edge = *steps[s].edge;
  const Interval wanted = interval(edge);
  if (wanted.empty()) return;
  const VertexId source = memory_->vertices[query_->edges[edge].source];
  const VertexId target = memory_->vertices[query_->edges[edge].target];
  bool from_source = is_end_of_anchor(query_->edges[edge].source);
  Run run = find_run(edge, from_source, wanted);
  if (run.size > few_entries) {
    const Run other_run = find_run(edge, !from_source, wanted);
    if (other_run.size < run.size) {
      run = other_run;
      from_source = !from_source;
    }
  }
  const VertexId other = from_source ? target : source;
  const std::uint64_t with = std::uint64_t{1} << s;
  const auto attempt = [&](const Entry& entry, bool forward) {
    if (entry.neighbour != other || !admits_edge(edge, entry.slot) || !bind(edge, entry, forward)) return true;
    if (conditions_hold(position, bound | with, with)) close(position, bound | with);
    unbind();
    return !over();
  };
  for (const Part& part : run.parts) {
    for (const Entry* entry = part.first; entry != part.last; ++entry) {
      if (!attempt(*entry, part.leaving == from_source)) return;
    }
  }
}

// Maps a query edge to the edge of an entry. Both of its ends must be matched.
void TimeSearch::choose(std::uint32_t edge, const Entry& entry, bool forward) noexcept {
  Memory& memory = *memory_;
  const VertexId source = memory.vertices[query_->edges[edge].source];
  const VertexId target = memory.vertices[query_->edges[edge].target];
  if (graph_->directed()) {
    memory.edges[edge] = forward ? graph::Edge{source, target, entry.slot} : graph::Edge{target, source, entry.slot};
    memory.tags[edge] = graph::entry_tag(entry.slot, !forward);
  } else {
    memory.edges[edge] = graph_->ranked(source, target, entry.slot);
    memory.tags[edge] = graph::entry_tag(entry.slot, false);
  }
  memory.times[edge] = entry.time;
  memory.chosen.push_back(edge);
}

// Tests the conditions of a position that read steps of `with` and no steps but those in `bound`. With none at all: those that
// read no step.
bool TimeSearch::conditions_hold(plan::Position position, std::uint64_t bound, std::uint64_t with) const {
  for (const plan::ConditionStep& step : plan_->steps[position]) {
    for (std::size_t i = 0; i < step.conditions.size(); ++i) {
      const std::uint64_t reads = step.reads[i];
      if ((reads & ~bound) != 0 || (with == 0 ? reads != 0 : (reads & with) == 0)) continue;
      const std::uint32_t c = step.conditions[i];
      if (condition::evaluate(query_->conditions[c], plan::BoundValues(*query_, c, memory_->vertices, memory_->edges)) !=
          condition::Truth::yes) {
        return false;
      }
    }
  }
  return true;
}

void TimeSearch::count_match() {
  if (rule_ && !rule_->admits(memory_->edges)) return;
  if (transient_ != nullptr && !transient_->admits(memory_->edges)) return;
  ++count_;
  tally_.add(1);
  if (sink_ == nullptr) return;
  if (step_budget_ != nullptr) step_budget_->lift();
  sink_->found({memory_->vertices, memory_->tags});
}

}  // namespace deltamatch::match
