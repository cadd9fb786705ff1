#include "estimate/walker.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/checked.hpp"

namespace deltamatch::estimate {

namespace {

using Signed = Walker::Signed;
using match::ScratchScope;

// Children that a pilot follows, on average.
constexpr double pilot_children = 2;

Signed multiply(Signed a, Signed b) {
  if (__builtin_mul_overflow(a, b, &a)) throw_count_overflow();
  return a;
}
Signed add(Signed a, Signed b) {
  if (__builtin_add_overflow(a, b, &a)) throw_count_overflow();
  return a;
}

}  // namespace

void Walker::access(const plan::Probe& probe, const Visit& visit) { access(probe.query_relation, probe.position, visit); }

void Walker::access(const plan::Node& node, const Visit& visit) {
  for (const plan::Probe& probe : node.candidates.probes) access(probe, visit);
  for (const plan::Joined& joined : node.joined) access(joined.query_relation, joined.position, visit);
}

void Walker::access(graph::QueryRelationId query_relation, plan::Position position, const Visit& visit) {
  access(query_relation, partial_.at(position), visit, visit.part(position));
}

// Tallies the part of a look-up that falls on each partial match for which the visit stands.
void Walker::access(graph::QueryRelationId query_relation, VertexId vertex, const Visit& visit, double part) {
  const graph::Resolved& where = partial_.lists().resolved(query_relation);
  if (where.store == nullptr) return;
  tally_->add(key_of({vertex, where.kind()}), static_cast<double>(visit.walks) * visit.scale * part, visit.scale - 1);
}

Signed Walker::run(const Loaded& loaded, const graph::Edge& anchor, Visit visit, Random& random) {
  loaded_ = &loaded;
  random_ = &random;
  const plan::Plan& plan = *loaded.plan;
  const plan::Program& program = loaded.program->program;
  const ScratchScope scope(partial_.scratch());
  partial_.begin(plan, anchor);
  images_[plan.tail] = anchor.tail;
  images_[plan.head] = anchor.head;
  if (program.ordered &&
      ((plan.anchor_above && anchor.head < anchor.tail) || (plan.anchor_below && anchor.head > anchor.tail))) {
    return 0;
  }
  // If nothing is added up, a weight of 0 makes every product 0, so none can overflow.
  Signed weight = draw_ == Draw::all ? 1 : 0;
  for (const plan::Probe& probe : plan.closing) {
    access(probe, visit);
    const std::uint32_t ways = match::multiplicity(partial_.view(probe), anchor.head);
    if (ways == 0) return 0;
    if (program.weighted) weight = multiply(weight, ways);
  }
  for (const plan::Joined& joined : program.joined) access(joined.query_relation, joined.position, visit);
  if (partial_.keep_joined({&anchor.head, 1}, program.joined).empty()) return 0;
  return steps(0, program.root_steps, visit, weight);
}

Signed Walker::steps(std::uint32_t first, std::uint32_t count_of_steps, Visit visit, Signed weight) {
  const plan::Program& program = loaded_->program->program;
  Signed result = 0;
  Signed product = 0;
  bool ended = false;  // a count of zero ends the term
  for (std::uint32_t i = first; i < first + count_of_steps; ++i) {
    const plan::Step& step = program.steps[i];
    if (step.kind == plan::Step::Kind::term) {
      product = multiply(weight, step.coefficient);
      ended = false;
      continue;
    }
    if (ended) continue;
    switch (step.kind) {
      case plan::Step::Kind::count: {
        const bool last = i + 1 == first + count_of_steps || program.steps[i + 1].kind == plan::Step::Kind::add;
        const Signed value = count(program.nodes[step.node], visit, !last);
        ended = value == 0;
        product = multiply(product, value);
        break;
      }
      case plan::Step::Kind::loop: {
        const plan::Node& node = program.nodes[step.node];
        if (step.tail) {
          result = add(result, loop(node, visit, product));
        } else {
          product = multiply(product, loop(node, visit, draw_ == Draw::all ? 1 : 0));
        }
        break;
      }
      case plan::Step::Kind::edges:
        product = multiply(product, edges(visit));
        break;
      case plan::Step::Kind::add:
        result = add(result, product);
        break;
      case plan::Step::Kind::emit:
        result = add(result, loaded_->program->plain ? product : multiply(product, edges(visit)));
        break;
      case plan::Step::Kind::term:
        break;
    }
  }
  return result;
}

// The vertices that the probes lead to, within the order constraints, and joined as an induced match requires.
std::span<const std::uint32_t> Walker::candidates(const plan::Node& node) {
  auto set = partial_.intersect_probes(node.candidates.probes);
  if (loaded_->program->program.ordered) set = partial_.between(set, node.candidates);
  return partial_.keep_joined(set, node.joined);
}

// The number of ways in which the probes' query edges can be mapped to parallel edges.
Signed Walker::ways(const plan::Node& node, VertexId candidate) {
  Signed product = 1;
  if (!loaded_->program->program.weighted) return product;
  for (const plan::Probe& probe : node.candidates.probes) {
    if (!partial_.lists().parallel(probe.query_relation)) continue;
    const ScratchScope scope(partial_.scratch());
    product = multiply(product, match::multiplicity(partial_.view(probe), candidate));
  }
  return product;
}

Signed Walker::loop(const plan::Node& node, Visit visit, Signed weight) {
  access(node, visit);
  const ScratchScope scope(partial_.scratch());
  const auto set = candidates(node);
  Signed sum = 0;
  draw(set.size(), node, visit, [&](std::size_t i, Visit child) {
    const VertexId vertex = set[i];
    if (!partial_.differs(vertex, node.candidates.distinct)) return;
    partial_.put(node.position, vertex);
    images_[node.vertex] = vertex;
    tally(node, static_cast<double>(child.walks) * child.scale);
    const Signed own = draw_ == Draw::all ? multiply(weight, ways(node, vertex)) : 0;
    sum = add(sum, steps(node.first_step, node.steps, child, own));
  });
  return sum;
}

// Calls take(index, visit) for the candidates that are visited.
template <class Take>
void Walker::draw(std::size_t candidates, const plan::Node& node, Visit visit, Take&& take) {
  if (candidates == 0) return;
  const auto n = static_cast<double>(candidates);
  Visit child = visit.child(node.position, n);
  double p = 1;  // of each walk, at each candidate
  switch (draw_) {
    case Draw::all:
      break;
    case Draw::walks: {
      const double bound = loaded_->bounds[index(node)];
      assert(n <= bound);
      p = 1 / bound;
      child.scale *= bound;
      break;
    }
    case Draw::pilot:
      p = std::min(1.0, pilot_children / n);
      child.scale /= p;
      break;
    case Draw::even:
      p = std::min(1.0, visit.scale / loaded_->targets[index(node)]);
      child.scale /= p;
      break;
  }
  const auto walks = static_cast<double>(visit.walks);
  if (p >= 1) {
    for (std::size_t i = 0; i < candidates; ++i) take(i, child);
  } else if (walks * p >= few_successes) {
    for (std::size_t i = 0; i < candidates; ++i) {
      child.walks = random_->binomial(visit.walks, p);
      if (child.walks > 0) take(i, child);
    }
  } else {
    // The trials of all walks at all candidates form one row. Going from success to success gives the same draws at the cost of
    // the successes.
    const double log_failure = std::log1p(-p);
    const double trials = walks * n;
    double at = random_->failures(log_failure);
    while (at < trials) {
      const double i = std::min(std::floor(at / walks), n - 1);
      const double end = std::min((i + 1) * walks, trials);
      child.walks = 0;
      do {
        ++child.walks;
        at += 1 + random_->failures(log_failure);
      } while (at < end);
      take(static_cast<std::size_t>(i), child);
    }
  }
}

// The number of candidates that a count has, or of sets of them. If that is not `needed`, only the lists matter, and it returns
// 1.
Signed Walker::count(const plan::Node& node, Visit visit, bool needed) {
  access(node, visit);
  if (draw_ != Draw::all && !needed && !leaves_) return 1;
  const ScratchScope scope(partial_.scratch());
  const auto set = candidates(node);
  Signed sum = 0;
  std::size_t size = set.size();
  if (loaded_->program->program.weighted && node.choose == 1) {
    size = 0;
    for (const VertexId vertex : set) {
      if (!partial_.differs(vertex, node.candidates.distinct)) continue;
      sum = add(sum, ways(node, vertex));
      ++size;
    }
  } else {
    for (const plan::Position position : node.candidates.distinct) {
      size -= match::contains(set.data(), set.size(), partial_.at(position)) ? 1 : 0;
    }
    sum = static_cast<Signed>(checked_binomial(size, node.choose));
  }
  tally(node, static_cast<double>(visit.walks) * visit.scale * static_cast<double>(size));
  return sum;
}

// The number of ways in which query edges can be mapped to data edges between the matched vertices.
Signed Walker::edges(Visit visit) {
  const plan::BoundQuery& query = *loaded_->query;
  const plan::Plan& plan = *loaded_->plan;
  match::Lists& lists = partial_.lists();
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    if (e == plan.anchor.edge) continue;
    access(query.edges[e].query_relation[0], images_[query.edges[e].source], visit, 1);
  }
  if (draw_ != Draw::all) return 1;
  options_.resize(query.edges.size());
  taken_.clear();
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    options_[e].clear();
    if (e == plan.anchor.edge) {
      options_[e].push_back(lists.anchor());
      continue;
    }
    const plan::BoundEdge& bound = query.edges[e];
    const graph::Resolved& where = lists.resolved(bound.query_relation[0]);
    const bool inclusive = query.mode == MatchMode::homomorphism && e > plan.anchor.edge;
    const VertexId source = images_[bound.source];
    const VertexId target = images_[bound.target];
    const ScratchScope scope(partial_.scratch());
    tags_.clear();
    match::collect_tags(lists.view(bound.query_relation[0], source, inclusive, partial_.scratch()), target,
                        graph::entry_tag(where.edge_label, where.incoming), tags_);
    for (const std::uint32_t tag : tags_) options_[e].push_back(lists.edge_of(source, target, tag >> 1, (tag & 1U) != 0));
  }
  return map_edges(0);
}

Signed Walker::map_edges(std::uint32_t edge) {
  if (edge == options_.size()) return 1;
  Signed sum = 0;
  for (const graph::Edge& image : options_[edge]) {
    if (loaded_->query->mode != MatchMode::homomorphism && std::find(taken_.begin(), taken_.end(), image) != taken_.end()) {
      continue;
    }
    taken_.push_back(image);
    sum = add(sum, map_edges(edge + 1));
    taken_.pop_back();
  }
  return sum;
}

}  // namespace deltamatch::estimate
