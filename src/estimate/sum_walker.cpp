#include "estimate/sum_walker.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace deltamatch::estimate {

namespace {

using match::Elimination;
using match::ListView;
using match::ScratchScope;
using plan::Candidates;
using plan::Factor;
using plan::TreeEdge;

// Candidates that a pilot follows, on average.
constexpr double pilot_children = 2;

bool binds(const Factor& factor) noexcept { return factor.kind == Factor::Kind::bind; }

void number(const std::vector<Factor>& factors, boost::unordered_flat_map<const Factor*, std::uint32_t>& nodes) {
  for (const Factor& factor : factors) {
    if (!binds(factor)) continue;
    nodes.emplace(&factor, static_cast<std::uint32_t>(1 + nodes.size()));
    number(factor.inner, nodes);
    number(factor.others, nodes);
  }
}

}  // namespace

LoadedSums::LoadedSums(const plan::CountPlan& count, std::span<const plan::Probe> closing_probes, std::size_t tables_of_root)
    : closing(closing_probes), tables(tables_of_root) {
  assert(tables <= 64);
  for (const plan::Term& term : count.terms) {
    number(term.factors, nodes);
    Product product;
    for (const Factor& factor : term.factors) product.push_back(&factor);
    // The factor that is split into shares comes first.
    std::ranges::stable_partition(product, [](const Factor* factor) { return binds(*factor); });
    const bool splits = !product.empty() && binds(*product.front());
    (splits ? enumerated : summed).push_back(std::move(product));
  }
}

void SumScratch::reserve(std::size_t vertices, std::size_t tables) {
  marks_.reserve(vertices);
  if (of_root_.size() < tables) of_root_.resize(tables);
  for (Marks& marks : of_root_) marks.reserve(vertices);
}

std::size_t SumScratch::bytes() const noexcept {
  std::size_t sum = marks_.bytes();
  for (const Marks& marks : of_root_) sum += marks.bytes();
  return sum;
}

void SumWalker::run(const Loaded& loaded, const graph::Edge& anchor, const Visit& visit, Random& random) {
  partial_.begin(*loaded.plan, anchor);
  run(loaded, visit, random);
}

void SumWalker::run(const Loaded& loaded, VertexId root, const Visit& visit, Random& random) {
  partial_.begin(root);
  run(loaded, visit, random);
}

void SumWalker::run(const Loaded& loaded, const Visit& visit, Random& random) {
  loaded_ = &loaded;
  random_ = &random;
  weight_ = visit.weight;
  root_ = place_ = {0, visit.scale};
  charge(place_, 1);
  work(loaded.sums->enumerated, visit.shares, visit.scale);
  work(loaded.sums->summed, 1, visit.scale);
}

// Follows the terms of one kind of work item: those that are split into shares, or the others.
void SumWalker::work(const std::vector<Product>& terms, std::uint32_t shares, double scale) {
  if (terms.empty()) return;
  for (const plan::Probe& probe : loaded_->sums->closing) {
    look_up({probe}, scale * shares);
    const ScratchScope scope(partial_.scratch());
    if (match::multiplicity(partial_.view(probe), partial_.at(1)) == 0) return;
  }
  looked_up_ = made_ = 0;
  for (const Product& term : terms) product(term, scale, shares);
}

// Follows a product. The shares split the first factor; only shares that have candidates of it go on.
void SumWalker::product(std::span<const Factor* const> factors, double scale, std::uint32_t shares) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (binds(*factors[i])) {
      const std::size_t found = bind(*factors[i], scale, shares);
      if (found == 0) return;
      scale *= static_cast<double>(std::min<std::size_t>(shares, found));
      shares = 1;
    } else if (!tree(*factors[i], scale, i + 1 < factors.size())) {
      return;
    }
  }
}

// Follows a bound vertex. Returns the number of its candidates.
std::size_t SumWalker::bind(const Factor& planned, double scale, std::uint32_t shares) {
  const ScratchScope scope(partial_.scratch());
  const Factor& factor = choose(planned, scale * shares);
  const Candidates& wanted = factor.vertices[0];
  look_up(wanted.probes, scale * shares);
  const auto set = candidates(wanted);
  if (set.empty()) return 0;
  const Place outer = place_;
  // Whichever candidates are drawn, all candidates need the tables of the factors below.
  if (outer.node == 0) look_up_tables(factor.inner, scale * static_cast<double>(std::min<std::size_t>(shares, set.size())));
  const std::uint32_t node = loaded_->sums->nodes.at(&factor);
  std::vector<const Factor*> inner;
  inner.reserve(factor.inner.size());
  for (const Factor& one : factor.inner) inner.push_back(&one);
  double p = 1;
  if (draw_ == Draw::pilot) p = chance(pilot_children, static_cast<double>(set.size()));
  if (draw_ == Draw::even || draw_ == Draw::walks) p = chance(outer.scale, loaded_->targets[node]);
  const double log_failure = p < 1 ? std::log1p(-p) : 0;
  const auto skipped = [&] { return p < 1 ? random_->failures(log_failure) : 0; };
  for (double at = skipped(); at < static_cast<double>(set.size()); at += 1 + skipped()) {
    partial_.put(factor.position, set[static_cast<std::size_t>(at)]);
    place_ = {node, outer.scale / p};
    charge(place_, 1);
    product(inner, scale / p, 1);
  }
  place_ = outer;
  return set.size();
}

// The alternative with the least work. The shortest list that restricts its candidates decides.
const Factor& SumWalker::choose(const Factor& planned, double times) {
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): plans outlive the walks on them
  if (planned.others.empty()) return planned;
  const auto expected_work = [&](const Factor& factor) {
    look_up(factor.vertices[0].probes, times);
    const ScratchScope scope(partial_.scratch());
    std::uint32_t shortest = UINT32_MAX;
    for (const plan::Probe& probe : factor.vertices[0].probes) shortest = std::min(shortest, partial_.view(probe).size());
    return shortest * factor.per_candidate;
  };
  const Factor* best = &planned;
  double least = expected_work(planned);
  for (const Factor& other : planned.others) {
    const double work = expected_work(other);
    if (work >= least) continue;
    least = work;
    best = &other;
  }
  return *best;
}

// Follows a tree. Returns whether it may have an assignment; exact only if `needed`.
bool SumWalker::tree(const Factor& tree, double scale, bool needed) {
  const ScratchScope scope(partial_.scratch());
  if (tree.vertices.size() == 1) {
    look_up(tree.vertices[0].probes, scale);
    return !needed || candidates(tree.vertices[0]).size() >= tree.choose;
  }
  Node* const nodes = partial_.scratch().array<Node>(tree.vertices.size());
  std::uint32_t hanging = 0;
  for (const TreeEdge& edge : tree.edges) {
    if (edge.table != plan::no_table) hanging |= 1U << (edge.leaf_is_a ? edge.a : edge.b);
  }
  for (std::size_t v = 0; v < tree.vertices.size(); ++v) {
    nodes[v] = {};
    if (tree.vertices[v].probes.empty() || (hanging >> v & 1U) != 0) continue;
    look_up(tree.vertices[v].probes, scale);
    const auto set = candidates(tree.vertices[v]);
    if (set.empty()) return false;
    nodes[v] = {set, set.size(), false, 0};
  }
  return eliminate(tree, nodes, scale, needed);
}

bool SumWalker::eliminate(const Factor& tree, Node* nodes, double scale, bool needed) {
  std::uint32_t open = 0;
  std::size_t rest = 0;  // the last vertex into which another was eliminated
  for (std::size_t e = 0; e < tree.edges.size(); ++e) {
    const TreeEdge& edge = tree.edges[e];
    if (edge.table != plan::no_table) {
      rest = edge.leaf_is_a ? edge.b : edge.a;
      continue;
    }
    open |= 1U << e;
    ++nodes[edge.a].open_edges;
    ++nodes[edge.b].open_edges;
  }
  if (open != 0 || needed) hang_on_root(tree, nodes);
  while (open != 0) {
    const Elimination next = match::next_elimination(tree, open, nodes);
    const TreeEdge& edge = tree.edges[next.edge];
    rest = next.into_a ? edge.a : edge.b;
    if (next.way != Elimination::Way::reach) {
      open &= ~(1U << next.edge);
      --nodes[edge.a].open_edges;
      --nodes[edge.b].open_edges;
    }
    if (!step(tree, next, nodes, scale, open != 0 || needed)) return false;
  }
  return !nodes[rest].ids.empty();
}

// Looks the lists up. If their contents matter, also reads them. Returns false once nothing is left.
bool SumWalker::step(const Factor& tree, const Elimination& step, Node* nodes, double scale, bool read) {
  const TreeEdge& edge = tree.edges[step.edge];
  const std::size_t into_at = step.into_a ? edge.a : edge.b;
  const std::size_t leaf_at = step.into_a ? edge.b : edge.a;
  Node& into = nodes[into_at];
  const Node& leaf = nodes[leaf_at];
  Marks& marks = sets_->marks_;
  if (step.way == Elimination::Way::pull) {
    const graph::QueryRelationId query_relation = step.into_a ? edge.a_to_b : edge.b_to_a;
    look_up(query_relation, into.ids, scale);
    if (!read) return true;
    charge(place_, into.ids.size());
    marks.clear();
    for (const VertexId vertex : leaf.ids) marks.set(vertex);
    std::uint32_t* const kept = partial_.scratch().words(into.ids.size());
    std::size_t size = 0;
    for (const VertexId vertex : into.ids) {
      const ScratchScope scope(partial_.scratch());
      const ListView view = list(query_relation, vertex, edge.inclusive, tree.vertices[leaf_at]);
      bool some = false;
      match::for_each_entry(view, [&](VertexId other) {
        some = some || (leaf.bare ? partial_.differs(other, tree.vertices[leaf_at].distinct) : marks.holds(other));
      });
      if (some) kept[size++] = vertex;
    }
    into.ids = {kept, size};
  } else {
    const graph::QueryRelationId query_relation = step.into_a ? edge.b_to_a : edge.a_to_b;
    look_up(query_relation, leaf.ids, scale);
    if (!read) return true;
    charge(place_, leaf.ids.size());
    marks.clear();
    mark_lists(leaf.ids, query_relation, edge.inclusive, tree.vertices[into_at], marks);
    if (into.bare) {
      std::uint32_t* const found = partial_.scratch().words(marks.members().size());
      const auto end = std::ranges::copy_if(marks.members(), found, [&](VertexId vertex) {
                         return partial_.differs(vertex, tree.vertices[into_at].distinct);
                       }).out;
      into.ids = {found, static_cast<std::size_t>(end - found)};
      into.size = into.ids.size();
      into.bare = false;
    } else {
      into.ids = keep(into.ids, marks);
    }
  }
  return !into.ids.empty();
}

// Drops candidates on which no leaf of the root hangs.
void SumWalker::hang_on_root(const Factor& tree, Node* nodes) {
  for (const TreeEdge& edge : tree.edges) {
    if (edge.table == plan::no_table) continue;
    Node& into = nodes[edge.leaf_is_a ? edge.b : edge.a];
    into.ids = keep(into.ids, table_of_root(tree, edge));
  }
}

// Looks up, for all factors, the lists from which the root's tables are made; each table counts once.
void SumWalker::look_up_tables(const std::vector<Factor>& factors, double scale) {
  for (const Factor& factor : factors) {
    for (const TreeEdge& edge : factor.edges) {
      if (edge.table == plan::no_table || (looked_up_ >> edge.table & 1U) != 0) continue;
      looked_up_ |= std::uint64_t{1} << edge.table;
      const ScratchScope scope(partial_.scratch());
      const Candidates& leaf = factor.vertices[edge.leaf_is_a ? edge.a : edge.b];
      look_up(leaf.probes, scale);
      look_up(edge.leaf_is_a ? edge.a_to_b : edge.b_to_a, candidates(leaf), scale);
    }
    look_up_tables(factor.inner, scale);
    look_up_tables(factor.others, scale);
  }
}

const Marks& SumWalker::table_of_root(const Factor& tree, const TreeEdge& edge) {
  Marks& table = sets_->of_root_[edge.table];
  if ((made_ >> edge.table & 1U) != 0) return table;
  made_ |= std::uint64_t{1} << edge.table;
  table.clear();
  const ScratchScope scope(partial_.scratch());
  const auto leaves = candidates(tree.vertices[edge.leaf_is_a ? edge.a : edge.b]);
  charge(root_, leaves.size());
  mark_lists(leaves, edge.leaf_is_a ? edge.a_to_b : edge.b_to_a, edge.inclusive,
             tree.vertices[edge.leaf_is_a ? edge.b : edge.a], table);
  return table;
}

// The candidates, ascending, without those that must be distinct from them.
std::span<const std::uint32_t> SumWalker::candidates(const Candidates& wanted) {
  const auto set = partial_.between(partial_.intersect_probes(wanted.probes), wanted);
  if (wanted.distinct.empty()) return set;
  std::uint32_t* const kept = partial_.scratch().words(set.size());
  const auto end =
      std::ranges::copy_if(set, kept, [&](VertexId vertex) { return partial_.differs(vertex, wanted.distinct); }).out;
  return {kept, static_cast<std::size_t>(end - kept)};
}

// The list of a vertex, cut by order constraints.
ListView SumWalker::list(graph::QueryRelationId query_relation, VertexId vertex, bool inclusive, const Candidates& into) {
  ListView view = partial_.lists().view(query_relation, vertex, inclusive, partial_.scratch());
  if (!into.below.empty() || !into.above.empty()) partial_.cut(view, into);
  return view;
}

void SumWalker::mark_lists(std::span<const std::uint32_t> from, graph::QueryRelationId query_relation, bool inclusive,
                           const Candidates& into, Marks& marks) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    partial_.lists().prefetch_ahead({&query_relation, 1}, from, i);
    const ScratchScope scope(partial_.scratch());
    match::for_each_entry(list(query_relation, from[i], inclusive, into), [&](VertexId vertex) { marks.set(vertex); });
  }
}

std::span<const std::uint32_t> SumWalker::keep(std::span<const std::uint32_t> set, const Marks& marks) {
  std::uint32_t* const kept = partial_.scratch().words(set.size());
  const auto end = std::ranges::copy_if(set, kept, [&](VertexId vertex) { return marks.holds(vertex); }).out;
  return {kept, static_cast<std::size_t>(end - kept)};
}

void SumWalker::look_up(const std::vector<plan::Probe>& probes, double times) {
  for (const plan::Probe& probe : probes) {
    const VertexId vertex = partial_.at(probe.position);
    look_up(probe.query_relation, {&vertex, 1}, times);
  }
}

void SumWalker::look_up(graph::QueryRelationId query_relation, std::span<const std::uint32_t> vertices, double times) {
  const graph::Resolved& where = partial_.lists().resolved(query_relation);
  if (where.store == nullptr) return;
  for (const VertexId vertex : vertices) {
    tally_->add(key_of({vertex, where.kind()}), times * worth_, (place_.scale - 1) * worth_);
  }
}

// Charges a node for reading `lists` lists.
void SumWalker::charge(const Place& place, std::size_t lists) noexcept {
  const double weight = place.node == 0 ? weight_ : 1;
  tally_->partial_matches[loaded_->first_node + place.node] +=
      Tally::fixed(place.scale * worth_ * weight * static_cast<double>(lists));
}

}  // namespace deltamatch::estimate
