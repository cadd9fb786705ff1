#include "match/summation.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace deltamatch::match {

Summation::Signed Summation::run(Share share, StepBudget* step_budget) {
  const plan::Plan& plan = partial_->plan();
  const VertexId tail = partial_->at(0);
  const VertexId head = partial_->at(1);
  if (plan.count.ordered && ((plan.anchor_above && head < tail) || (plan.anchor_below && head > tail))) return 0;
  step_budget_ = step_budget;
  back_to_ = CandidateSpace::none;
  closing_ = 1;
  for (const plan::Probe& probe : plan.closing) {
    const ScratchScope scope(partial_->scratch());
    const std::uint32_t ways = multiplicity(partial_->view(probe), head);
    if (ways == 0) return 0;
    if (__builtin_mul_overflow(closing_, ways, &closing_)) closing_ = ~Count{0};  // too many for any result except zero
  }
  Signed result = 0;
  if (run_with<std::uint64_t>({*narrow_, narrow_root_, narrow_leaves_}, share, result)) return result;
  result = 0;
  if (!run_with<Count>({*wide_, wide_root_, wide_leaves_}, share, result)) throw_count_overflow();
  return result;
}

Summation::Signed Summation::run(const plan::RootedPlan& plan, Share share, StepBudget* step_budget) {
  step_budget_ = step_budget;
  Signed result = 0;
  if (run_root<std::uint64_t>({*narrow_, narrow_root_, narrow_leaves_}, plan, share, result)) return result;
  result = 0;
  if (!run_root<Count>({*wide_, wide_root_, wide_leaves_}, plan, share, result)) throw_count_overflow();
  return result;
}

template <class Weight>
bool Summation::run_root(Memory<Weight> memory, const plan::RootedPlan& plan, Share share, Signed& result) {
  const ScratchScope scope(partial_->scratch());
  memory.of_root.reserve(plan.tables);
  const bool fits = add_terms(memory, plan.count.terms, share, result);
  memory.of_root.clear();
  return fits;
}

template <class Weight>
bool Summation::run_with(Memory<Weight> memory, Share share, Signed& result) {
  const ScratchScope scope(partial_->scratch());
  return descend(memory, 0, share, result) && !__builtin_mul_overflow(result, closing_, &result);
}

template <class Weight>
bool Summation::descend(Memory<Weight> memory, std::size_t level, Share share, Signed& result) {
  const plan::Plan& plan = partial_->plan();
  if (level < plan.count.prefix) {
    const plan::Level& next = plan.levels[level];
    const ScratchScope scope(partial_->scratch());
    auto candidates = partial_->extend(level, plan.count.ordered);
    if (over()) return true;
    if (space_ != nullptr && space_->due(*step_budget_)) {
      back_to_ = space_->build(*partial_, plan.count.ordered, level, *step_budget_);
      if (back_to_ < level) return true;
    }
    candidates = partial_->part(candidates, share);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      partial_->lists().prefetch_ahead({}, candidates, i);
      if (!partial_->differs(candidates[i], next.candidates.distinct)) continue;
      if (space_ != nullptr && !space_->admits(next.vertex, candidates[i])) continue;
      partial_->put(static_cast<plan::Position>(level + 2), candidates[i]);
      Signed value = 0;
      if (!descend(memory, level + 1, {}, value)) return false;
      if (back_to_ < level) return true;
      back_to_ = CandidateSpace::none;
      if (value == 0) continue;
      bool overflow = false;
      const auto ways = parallel_ways<Weight>(next.candidates.probes, candidates[i], overflow);
      if (overflow || __builtin_mul_overflow(value, ways, &value)) return false;
      if (__builtin_add_overflow(result, value, &result)) return false;
    }
    return true;
  }
  // In an ordered plan, one vertex or one set of twins is left. So the intersections of earlier levels can be reused here.
  if (plan.count.ordered && level < plan.levels.size() && share.of == 1) {
    if (over()) return true;
    const ScratchScope scope(partial_->scratch());
    const std::uint32_t choose = plan.count.terms[0].factors[0].choose;
    if (const auto last = choose <= 2 ? partial_->count_extensions(level, true) : std::nullopt) {
      const auto size = static_cast<Signed>(*last);
      result = choose == 1 ? size : size * (size - 1) / 2;
      return true;
    }
  }
  return add_terms(memory, plan.count.terms, share, result);
}

template <class Weight>
bool Summation::add_terms(Memory<Weight> memory, const std::vector<plan::Term>& terms, Share share, Signed& result) {
  for (const plan::Term& term : terms) {
    if (over()) return true;
    if (term.factors.empty()) {
      if (share.index == 0) result += term.coefficient;
      continue;
    }
    bool overflow = false;
    const Weight value = product(memory, term.factors, share, overflow);
    // Signed has one bit less than Count.
    Signed signed_value = 0;
    overflow = overflow || __builtin_mul_overflow(value, Weight{1}, &signed_value);
    overflow = overflow || __builtin_mul_overflow(signed_value, static_cast<Signed>(term.coefficient), &signed_value);
    if (overflow || __builtin_add_overflow(result, signed_value, &result)) return false;
  }
  return true;
}

// The number of ways in which the probes' query edges can be mapped to parallel edges.
template <class Weight>
Weight Summation::parallel_ways(const std::vector<plan::Probe>& probes, VertexId vertex, bool& overflow) {
  Weight ways = 1;
  for (const plan::Probe& probe : probes) {
    if (!partial_->lists().parallel(probe.query_relation)) [[likely]]
      continue;
    const ScratchScope scope(partial_->scratch());
    overflow = __builtin_mul_overflow(ways, multiplicity(partial_->view(probe), vertex), &ways) || overflow;
  }
  return ways;
}

// The product of the factors. It is linear in the first factor, so the share applies to that one only.
template <class Weight>
Weight Summation::product(Memory<Weight> memory, const std::vector<plan::Factor>& factors, Share share, bool& overflow) {
  Weight result = 1;
  for (const plan::Factor& factor : factors) {
    Weight value = 0;
    if (factor.kind == plan::Factor::Kind::bind) {
      value = sum(memory, factor, share, overflow);
    } else if (factor.choose > 1 && share.of > 1) {
      // Sets of candidates cannot be split, so the first share takes all of them.
      if (share.index == 0)
        value = TreeSum<Weight>(*partial_, memory.tables, memory.of_root, step_budget_, &memory.of_leaves)
                    .count(factor, {}, overflow);
    } else {
      value = TreeSum<Weight>(*partial_, memory.tables, memory.of_root, step_budget_, &memory.of_leaves)
                  .count(factor, share, overflow);
    }
    share = {};
    if (value == 0) return 0;
    overflow = __builtin_mul_overflow(result, value, &result) || overflow;
  }
  return result;
}

// The alternative with the least work. The shortest list that restricts its candidates decides.
const plan::Factor& Summation::choose(const plan::Factor& bind) {
  const plan::Factor* best = &bind;
  double least = expected_work(bind);
  for (const plan::Factor& other : bind.others) {
    const double work = expected_work(other);
    if (work >= least) continue;
    least = work;
    best = &other;
  }
  return *best;
}

double Summation::expected_work(const plan::Factor& bind) {
  const ScratchScope scope(partial_->scratch());
  std::uint32_t shortest = UINT32_MAX;
  for (const plan::Probe& probe : bind.vertices[0].probes) shortest = std::min(shortest, partial_->view(probe).size());
  return shortest * bind.per_candidate;
}

template <class Weight>
Weight Summation::sum(Memory<Weight> memory, const plan::Factor& planned, Share share, bool& overflow) {
  const ScratchScope scope(partial_->scratch());
  const plan::Factor& bind = planned.others.empty() ? planned : choose(planned);
  const plan::Candidates& wanted = bind.vertices[0];
  const auto candidates = partial_->part(partial_->between(partial_->intersect_probes(wanted.probes, &wanted), wanted), share);
  Weight total = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (over()) return 0;
    const VertexId vertex = candidates[i];
    partial_->lists().prefetch_ahead(bind.reads, candidates, i);
    if (!partial_->differs(vertex, wanted.distinct)) continue;
    partial_->put(bind.position, vertex);
    Weight value = product(memory, bind.inner, {}, overflow);
    if (value == 0) continue;
    const auto ways = parallel_ways<Weight>(wanted.probes, vertex, overflow);
    overflow = __builtin_mul_overflow(value, ways, &value) || overflow;
    overflow = __builtin_add_overflow(total, value, &total) || overflow;
  }
  return total;
}

}  // namespace deltamatch::match
