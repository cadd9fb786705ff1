#include "match/conditional_enumerator.hpp"

#include <algorithm>

#include "condition/evaluate.hpp"
#include "match/induced.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

/// Moves `at` behind the entries that lead to x. Returns their number.
std::uint32_t pass(const std::uint32_t* ids, std::uint32_t& at, std::uint32_t count, std::uint32_t x) noexcept {
  if (at == count) return 0;
  const auto first = static_cast<std::uint32_t>(gallop(ids, at, count, x));
  at = first;
  while (at < count && ids[at] == x) ++at;
  return at - first;
}

}  // namespace

std::uint64_t ConditionalEnumerator::run(Share share, FoundSink* sink) {
  const ScratchScope scope(partial_->scratch());
  sink_ = sink;
  share_ = share;
  count_ = 0;
  back_to_ = CandidateSpace::none;
  if ((share.index == 0 || !partial_->plan().levels.empty()) && begin()) choose(1, 0);
  return count_;
}

// Whether the anchor meets the conditions on its own ends, and new enough edges may join them.
bool ConditionalEnumerator::begin() {
  const plan::Plan& plan = partial_->plan();
  const VertexId tail = partial_->at(0);
  const VertexId head = partial_->at(1);
  if (ordered_ && ((plan.anchor_above && head < tail) || (plan.anchor_below && head > tail))) return false;
  Memory& memory = *memory_;
  const std::size_t edges = query_->edges.size();
  timed_ = query_->time_bounds.any();
  distinct_ = query_->mode != MatchMode::homomorphism;
  spanning_ = query_->induced && query_->mode != MatchMode::isomorphism;
  memory.vertices.resize(query_->vertices());
  memory.tags.resize(edges);
  memory.edges.resize(edges);
  memory.times.resize(edges);
  memory.choices.resize(edges);
  memory.chosen.clear();
  memory.vertices[plan.tail] = tail;
  memory.vertices[plan.head] = head;

  const graph::Edge& anchor = partial_->lists().anchor();
  const std::uint32_t edge = plan.anchor.edge;
  memory.tags[edge] = graph::entry_tag(anchor.which, plan.anchor.reversed && query_->graph().directed());
  memory.edges[edge] = anchor;
  if (timed_) {
    const auto time = query_->graph().edge_table->time(anchor.which);
    if (!interval(edge).holds(time)) return false;
    memory.times[edge] = time.value_or(INT64_MIN);
  }
  memory.chosen.push_back(edge);
  if (timed_) {
    for (std::uint32_t e = 0; e < edges; ++e) {
      const plan::BoundEdge& bound = query_->edges[e];
      for (const std::uint32_t end : {plan.tail, plan.head}) {
        if (e == edge || (bound.source != end && bound.target != end)) continue;
        if (!may_be_new_enough(e, memory.vertices[end], bound.source == end)) return false;
      }
    }
  }
  if (!plan.anchor_joined.empty() && partial_->keep_joined({&head, 1}, plan.anchor_joined).empty()) return false;
  return open_choices(1, plan.head) && find_entries(1, head);
}

// Whether an edge at the vertex may be as new as the bounds want the query edge's image to be.
bool ConditionalEnumerator::may_be_new_enough(std::uint32_t edge, VertexId owner, bool owns_source) const noexcept {
  const Interval wanted = interval(edge);
  if (wanted.null) return true;
  const graph::DataGraph& graph = query_->graph();
  if (!query_->edges[edge].directed) return std::max(graph.newest(owner, true), graph.newest(owner, false)) >= wanted.from;
  return graph.newest(owner, owns_source) >= wanted.from;
}

Interval ConditionalEnumerator::interval(std::uint32_t edge) const noexcept {
  return interval_of(query_->time_bounds, edge, memory_->chosen, memory_->times);
}

// Opens the lists of the query edges whose later end is at the position. Returns false if one can hold no image.
bool ConditionalEnumerator::open_choices(plan::Position position, std::uint32_t vertex) {
  Memory& memory = *memory_;
  const Lists& lists = partial_->lists();
  const bool homomorphic = !distinct_;
  for (const plan::ConditionStep& step : partial_->plan().steps[position]) {
    if (!step.edge) continue;
    const std::uint32_t edge = *step.edge;
    const plan::BoundEdge& bound = query_->edges[edge];
    const bool flipped = bound.source == vertex;  // then the target was matched first
    const VertexId owner = memory.vertices[flipped ? bound.target : bound.source];
    if (timed_ && !may_be_new_enough(edge, owner, !flipped)) return false;
    Memory::Choice& choice = memory.choices[edge];
    const graph::QueryRelationId relation = bound.query_relation[flipped ? 1 : 0];
    const graph::Resolved& where = lists.resolved(relation);
    choice.flipped = flipped && query_->graph().directed();
    choice.single = graph::entry_tag(where.edge_label, where.incoming);
    const bool inclusive = homomorphic && edge > partial_->plan().anchor.edge;
    choice.view = lists.view(relation, owner, inclusive, partial_->scratch());
    choice.at = choice.plus_at = choice.minus_at = 0;
  }
  return true;
}

// Finds the entries that lead to a candidate, in all lists of the position. Candidates ascend. Returns false if a list has
// none.
bool ConditionalEnumerator::find_entries(plan::Position position, VertexId candidate) noexcept {
  for (const plan::ConditionStep& step : partial_->plan().steps[position]) {
    if (!step.edge) continue;
    Memory::Choice& choice = memory_->choices[*step.edge];
    const ListView& view = choice.view;
    choice.count = pass(view.ids, choice.at, view.count, candidate);
    choice.plus_count = pass(view.plus, choice.plus_at, view.plus_count, candidate);
    choice.minus_count = pass(view.minus, choice.minus_at, view.minus_count, candidate);
    if (choice.count + choice.plus_count == choice.minus_count) return false;
  }
  return true;
}

void ConditionalEnumerator::descend(std::size_t level) {
  if (step_budget_ != nullptr && !step_budget_->take()) return;
  if (space_ != nullptr && space_->due(*step_budget_)) {
    back_to_ = space_->build(*partial_, ordered_, level, *step_budget_);
    if (back_to_ < level) return;
  }
  const plan::Level& next = partial_->plan().levels[level];
  const auto position = static_cast<plan::Position>(level + 2);
  const ScratchScope scope(partial_->scratch());
  if (!open_choices(position, next.vertex)) return;
  auto set = partial_->extend(level, ordered_);
  if (!next.joined.empty()) set = partial_->keep_joined(set, next.joined);
  if (level == 0) set = partial_->part(set, share_);
  for (const VertexId vertex : set) {
    if (!find_entries(position, vertex)) continue;
    if (!partial_->differs(vertex, next.candidates.distinct)) continue;
    if (space_ != nullptr && !space_->admits(next.vertex, vertex)) continue;
    partial_->put(position, vertex);
    memory_->vertices[next.vertex] = vertex;
    choose(position, 0);
    if (back_to_ < level) return;
    back_to_ = CandidateSpace::none;
    if (over()) return;
  }
}

// Goes on once all edges up to a position are chosen.
void ConditionalEnumerator::advance(plan::Position position) {
  const std::size_t level = position - std::size_t{1};
  if (level == partial_->plan().levels.size()) {
    count_match();
  } else {
    descend(level);
  }
}

// Chooses the data edges whose later end is at the position, in all ways that the conditions admit, and goes on with each.
void ConditionalEnumerator::choose(plan::Position position, std::size_t step) {
  const std::vector<plan::ConditionStep>& steps = partial_->plan().steps[position];
  if (step == steps.size()) return advance(position);
  if (!steps[step].edge) {
    if (conditions_hold(steps[step])) choose(position, step + 1);
    return;
  }
  const std::uint32_t edge = *steps[step].edge;
  const Interval wanted = interval(edge);
  // Later steps use the choices of other edges.
  const Memory::Choice& choice = memory_->choices[edge];
  const ListView& view = choice.view;
  const std::uint32_t flip = choice.flipped ? 1 : 0;
  if (!view.tagged) {
    take(position, step, choice.single ^ flip, wanted);
    return;
  }
  const std::uint32_t* const minus = choice.minus_count == 0 ? nullptr : view.minus_tags + choice.minus_at - choice.minus_count;
  const std::uint32_t at = choice.at - choice.count;
  const std::uint32_t plus_at = choice.plus_at - choice.plus_count;
  const std::uint32_t count = choice.count;
  const std::uint32_t minus_count = choice.minus_count;
  const std::uint32_t plus_count = choice.plus_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t tag = view.tags[at + i];
    if (minus_count != 0 && std::find(minus, minus + minus_count, tag) != minus + minus_count) continue;
    take(position, step, tag ^ flip, wanted);
    if (leaves()) return;
  }
  for (std::uint32_t i = 0; i < plus_count; ++i) {
    take(position, step, view.plus_tags[plus_at + i] ^ flip, wanted);
    if (leaves()) return;
  }
}

// Maps the step's query edge to the data edge with this tag, and goes on.
void ConditionalEnumerator::take(plan::Position position, std::size_t step, std::uint32_t tag, const Interval& wanted) {
  Memory& memory = *memory_;
  const plan::ConditionStep& at = partial_->plan().steps[position][step];
  const std::uint32_t edge = *at.edge;
  if (timed_) {
    const auto time = query_->graph().edge_table->time(tag >> 1);
    if (!wanted.holds(time)) return;
    memory.times[edge] = time.value_or(INT64_MIN);
  }
  const graph::Edge image = image_of(edge, tag);
  if (distinct_ && is_chosen(image)) return;
  memory.tags[edge] = tag;
  memory.edges[edge] = image;
  if (!conditions_hold(at)) return;
  memory.chosen.push_back(edge);
  choose(position, step + 1);
  memory.chosen.pop_back();
}

bool ConditionalEnumerator::conditions_hold(const plan::ConditionStep& step) const {
  return std::ranges::all_of(step.conditions, [&](std::uint32_t c) {
    return condition::evaluate(query_->conditions[c], plan::BoundValues(*query_, c, memory_->vertices, memory_->edges)) ==
           condition::Truth::yes;
  });
}

bool ConditionalEnumerator::is_chosen(const graph::Edge& edge) const noexcept {
  return std::ranges::any_of(memory_->chosen, [&](std::uint32_t e) { return memory_->edges[e] == edge; });
}

graph::Edge ConditionalEnumerator::image_of(std::uint32_t edge, std::uint32_t tag) const noexcept {
  const plan::BoundEdge& bound = query_->edges[edge];
  return partial_->lists().edge_of(memory_->vertices[bound.source], memory_->vertices[bound.target], tag >> 1, (tag & 1u) != 0);
}

void ConditionalEnumerator::count_match() {
  const Memory& memory = *memory_;
  if (rule_ && !rule_->admits(memory.edges)) return;
  if (transient_ != nullptr && !transient_->admits(memory.edges)) return;
  if (spanning_ && !spans_exactly(*partial_, *query_, memory.vertices, memory.edges)) return;
  ++count_;
  tally_.add(1);
  if (sink_ == nullptr) return;
  if (step_budget_ != nullptr) step_budget_->lift();
  sink_->found({memory.vertices, memory.tags});
}

}  // namespace deltamatch::match
