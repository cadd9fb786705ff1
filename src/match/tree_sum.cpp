#include "match/tree_sum.hpp"

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "match/elimination.hpp"

namespace deltamatch::match {

namespace {

// Lists of at least this length are filtered with vector instructions before weights are looked up.
constexpr std::uint32_t filtered_list = 8;
// Shorter lists are gone through entry by entry: that costs less than to begin an intersection.
constexpr std::size_t searched_list = 32;

// What an entry of a list costs that is looked up in a table, or added to one. The unit is that of join_cost.
constexpr std::size_t look_up_cost = 1;
constexpr std::size_t add_cost = 2;

// The leaf of an edge. It must hang on a vertex that has candidates of its own, and have some itself.
std::optional<bool> leaf_is_a(const plan::Factor& tree, const plan::TreeEdge& edge) noexcept {
  if (tree.vertices[edge.a].probes.empty() || tree.vertices[edge.b].probes.empty()) return std::nullopt;
  const auto is_leaf = [&](std::uint8_t vertex) {
    return std::ranges::count_if(tree.edges,
                                 [&](const plan::TreeEdge& other) { return other.a == vertex || other.b == vertex; }) == 1;
  };
  // Of two leaves, the one whose lists are matched first stays the same for longer.
  const auto last = [&](std::uint8_t vertex) {
    return std::ranges::max(tree.vertices[vertex].probes, {}, &plan::Probe::position).position;
  };
  const bool a = is_leaf(edge.a);
  const bool b = is_leaf(edge.b);
  if (!a && !b) return std::nullopt;
  return a && (!b || last(edge.a) <= last(edge.b));
}

}  // namespace

template <class Weight>
Weight TreeSum<Weight>::count(const plan::Factor& tree, Share share, bool& overflow) {
  overflow_ = false;
  const ScratchScope scope(partial_->scratch());
  Weight total = 0;
  node_count_ = 0;  // without memory for nodes, there is nothing to release
  nodes_ = partial_->scratch().template array<Node>(tree.vertices.size());
  node_count_ = tree.vertices.size();
  for (std::size_t v = 0; v < node_count_; ++v) nodes_[v] = Node{};
  if (node_count_ == 1) {
    total = single(tree, share);
    overflow = overflow || overflow_;
    return total;
  }
  hanging_ = partial_->scratch().template array<Hanging>(tree.edges.size());
  std::uint32_t tabled = 0;  // vertices whose sums are in a table
  for (std::size_t e = 0; e < tree.edges.size(); ++e) {
    const plan::TreeEdge& edge = tree.edges[e];
    const bool of_root = edge.table != plan::no_table;
    hanging_[e] = of_root ? Hanging{edge.leaf_is_a} : share.of == 1 ? hanging(tree, edge) : Hanging{};
    if (of_root || hanging_[e].table != nullptr) tabled |= 1U << (hanging_[e].leaf_is_a ? edge.a : edge.b);
  }
  if (!fill_all(tree, share, tabled)) return 0;
  open_ = 0;
  std::size_t rest = 0;  // the last vertex into which another was eliminated
  bool summed = false;
  for (std::size_t e = 0; e < tree.edges.size(); ++e) {
    if (tree.edges[e].table != plan::no_table) hanging_[e].table = &root_table(tree, tree.edges[e]);
    if (hanging_[e].table != nullptr) {
      rest = hanging_[e].leaf_is_a ? tree.edges[e].b : tree.edges[e].a;
      multiply_by(nodes_[rest], *hanging_[e].table);
      if (nodes_[rest].size == 0) return 0;
      continue;
    }
    open_ |= 1u << e;
    ++nodes_[tree.edges[e].a].open_edges;
    ++nodes_[tree.edges[e].b].open_edges;
  }
  while (open_ != 0) {
    const Elimination step = next_elimination(tree, open_, nodes_);
    const plan::TreeEdge& edge = tree.edges[step.edge];
    const std::size_t into = rest = step.into_a ? edge.a : edge.b;
    const std::size_t leaf = step.into_a ? edge.b : edge.a;
    if (auto* known = hanging_[step.edge].known; known != nullptr && hanging_[step.edge].leaf_is_a != step.into_a) {
      known->spared += step.cost;
      known->cost = static_cast<double>(nodes_[leaf].size) * (step.into_a ? edge.b_degree : edge.a_degree);
    }
    if (step.way == Elimination::Way::reach) {
      reach(edge, step.into_a, tree.vertices[into]);
    } else {
      open_ &= ~(1u << step.edge);
      --nodes_[into].open_edges;
      --nodes_[leaf].open_edges;
      if (step.way == Elimination::Way::push) {
        push(edge, step.into_a, tree.vertices[into]);
      } else {
        summed = open_ == 0;
        pull(edge, step.into_a, tree.vertices[leaf], summed ? &total : nullptr);
      }
    }
    if (nodes_[into].size == 0) {
      total = 0;
      break;
    }
  }
  for (std::size_t i = 0; !summed && i < nodes_[rest].size; ++i) total = add(total, nodes_[rest].weights[i]);
  release();
  overflow = overflow || overflow_;
  return total;
}

template <class Weight>
void TreeSum<Weight>::release() noexcept {
  for (std::size_t v = 0; v < node_count_; ++v) give_back_table(nodes_[v]);
}

// Returns the node's table, whose weights are out of date.
template <class Weight>
void TreeSum<Weight>::give_back_table(Node& node) noexcept {
  if (node.table != nullptr) tables_->give_back(node.table);
  node.table = nullptr;
}

// One free vertex: the count is the size of an intersection.
template <class Weight>
Weight TreeSum<Weight>::single(const plan::Factor& tree, Share share) {
  const plan::Candidates& wanted = tree.vertices[0];
  const bool plain = share.of == 1 && wanted.above.empty() && wanted.below.empty() && wanted.probes.size() <= 2;
  if (plain) {
    ListView a = partial_->view(wanted.probes[0]);
    ListView b = wanted.probes.size() == 2 ? partial_->view(wanted.probes[1]) : a;
    if (!a.clean() && wanted.probes.size() == 2) std::swap(a, b);
    if (!a.parallel && !b.parallel && a.clean()) {
      if (a.size() == 0) return 0;
      std::size_t size = wanted.probes.size() == 2 ? count_members({a.ids, a.count}, b) : a.count;
      if (size == 0) return 0;
      for (const plan::Position position : wanted.distinct) {
        const VertexId vertex = partial_->at(position);
        if (contains(a.ids, a.count, vertex) && (wanted.probes.size() == 1 || multiplicity(b, vertex) > 0)) --size;
      }
      return choose(tree, size, nullptr);
    }
  }
  if (!fill(wanted, nodes_[0])) return 0;
  take_share(nodes_[0], share);
  return choose(tree, nodes_[0].size, nodes_[0].weights);
}

// How many sets of `choose` candidates there are: a binomial coefficient. With weights: the elementary symmetric polynomial.
template <class Weight>
Weight TreeSum<Weight>::choose(const plan::Factor& tree, std::size_t size, const Weight* weights) {
  const std::size_t k = tree.choose;
  if (k == 1 && weights == nullptr) return static_cast<Weight>(size);
  if (size < k) return 0;
  if (weights == nullptr) {
    Weight result = 1;
    const std::size_t shorter = std::min(k, size - k);
    for (std::size_t i = 0; i < shorter; ++i) {
      // result * (size - i) is divisible by i + 1. Reduce first, so that only the result itself can overflow.
      Weight factor = size - i;
      Weight divisor = i + 1;
      Weight a = result;
      Weight b = divisor;
      while (b != 0) {
        const Weight rest = a % b;
        a = b;
        b = rest;
      }
      result /= a;
      divisor /= a;
      result = multiply(result, factor / divisor);
    }
    return result;
  }
  std::vector<Weight> sums(k + 1);
  sums[0] = 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = std::min(k, i + 1); j > 0; --j) sums[j] = add(sums[j], multiply(sums[j - 1], weights[i]));
  }
  return sums[k];
}

template <class Weight>
bool TreeSum<Weight>::fill_all(const plan::Factor& tree, Share share, std::uint32_t tabled) {
  bool shared = share.of == 1;
  for (std::size_t v = 0; v < node_count_; ++v) {
    nodes_[v].bare = tree.vertices[v].probes.empty();
    if (nodes_[v].bare || (tabled >> v & 1) != 0) continue;
    if (!fill(tree.vertices[v], nodes_[v])) return false;
    if (!shared) take_share(nodes_[v], share);
    shared = true;
    if (nodes_[v].size == 0) return false;
  }
  return true;
}

// Sets the candidates of a vertex. If lists hold parallel edges, also sets how often each counts. Returns false if there are
// none.
template <class Weight>
bool TreeSum<Weight>::fill(const plan::Candidates& wanted, Node& node) {
  auto set = partial_->between(partial_->intersect_probes(wanted.probes, &wanted), wanted);
  std::size_t excluded = 0;
  for (const plan::Position position : wanted.distinct) excluded += contains(set.data(), set.size(), partial_->at(position));
  if (excluded > 0) {
    std::uint32_t* kept = partial_->scratch().words(set.size());
    const auto end =
        std::copy_if(set.begin(), set.end(), kept, [&](VertexId vertex) { return partial_->differs(vertex, wanted.distinct); });
    set = {kept, static_cast<std::size_t>(end - kept)};
  }
  node.ascending = true;
  node.ids = set.data();
  node.size = set.size();
  weigh(wanted, node);
  return node.size > 0;
}

template <class Weight>
void TreeSum<Weight>::weigh(const plan::Candidates& wanted, Node& node) {
  const bool parallel = std::any_of(wanted.probes.begin(), wanted.probes.end(),
                                    [&](const plan::Probe& probe) { return partial_->lists().parallel(probe.query_relation); });
  if (!parallel) return;
  node.weights = partial_->scratch().array<Weight>(node.size);
  std::fill_n(node.weights, node.size, Weight{1});
  for (const plan::Probe& probe : wanted.probes) {
    if (!partial_->lists().parallel(probe.query_relation)) continue;
    const ListView list = partial_->view(probe);
    for (std::size_t i = 0; i < node.size; ++i) node.weights[i] = multiply(node.weights[i], multiplicity(list, node.ids[i]));
  }
}

template <class Weight>
void TreeSum<Weight>::take_share(Node& node, Share share) {
  if (share.of == 1) return;
  std::uint32_t* ids = partial_->scratch().words(node.size);
  Weight* weights = node.weights == nullptr ? nullptr : partial_->scratch().array<Weight>(node.size);
  std::size_t size = 0;
  for (std::size_t i = share.index; i < node.size; i += share.of) {
    if (weights != nullptr) weights[size] = node.weights[i];
    ids[size++] = node.ids[i];
  }
  node.ids = ids;
  node.weights = weights;
  node.size = size;
}

// Whether the members of a list are sooner found by an intersection than by going through the list.
template <class Weight>
bool TreeSum<Weight>::searched_for(const Node& node, const ListView& list, std::size_t entry_cost) const noexcept {
  return node.ascending && !list.parallel && list.size() >= searched_list &&
         join_cost(node.size, list.size()) < entry_cost * list.size();
}

template <class Weight>
void TreeSum<Weight>::push(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& into_wanted) {
  Node& into = nodes_[into_a ? edge.a : edge.b];
  const Node& leaf = nodes_[into_a ? edge.b : edge.a];
  if (!into.bare) {
    Table<Weight>* table = tables_->lend();
    try {
      spread(edge, into_a, leaf, into_wanted, *table, &into);
      multiply_by(into, *table);
    } catch (...) {
      tables_->give_back(table);
      throw;
    }
    tables_->give_back(table);
    return;
  }
  into.table = tables_->lend();
  Table<Weight>& table = *into.table;
  spread(edge, into_a, leaf, into_wanted, table);
  for (const plan::Position position : into_wanted.distinct) table.erase(partial_->at(position));
  const auto& touched = table.touched();
  std::uint32_t* ids = partial_->scratch().words(touched.size());
  auto* weights = partial_->scratch().template array<Weight>(touched.size());
  std::size_t size = 0;
  for (const VertexId v : touched) {
    ids[size] = v;
    weights[size] = table.weight(v);
    size += weights[size] != 0 ? 1 : 0;
  }
  into.ids = ids;
  into.weights = weights;
  into.size = size;
  into.bare = false;
}

template <class Weight>
void TreeSum<Weight>::spread(const plan::TreeEdge& edge, bool into_a, const Node& leaf, const plan::Candidates& into_wanted,
                             Table<Weight>& table, const Node* within) {
  const graph::QueryRelationId query_relation = into_a ? edge.b_to_a : edge.a_to_b;
  for (std::size_t i = 0; i < leaf.size; ++i) {
    if (gives_up(i, leaf.size)) break;
    partial_->lists().prefetch_ahead({&query_relation, 1}, {leaf.ids, leaf.size}, i);
    const Weight weight = leaf.weights == nullptr ? Weight{1} : leaf.weights[i];
    const ScratchScope scope(partial_->scratch());
    const auto add = [&](VertexId v) { overflow_ = table.add(v, weight) || overflow_; };
    const ListView reached = list(query_relation, leaf.ids[i], edge.inclusive, into_wanted);
    if (within != nullptr && searched_for(*within, reached, add_cost)) {
      for (const VertexId v : common({within->ids, within->size}, reached, partial_->scratch())) add(v);
    } else {
      for_each_entry(reached, add);
    }
  }
}

// What is known of a leaf since the last change of what it depends on.
template <class Weight>
auto TreeSum<Weight>::hanging(const plan::Factor& tree, const plan::TreeEdge& edge) -> Hanging {
  if (of_leaves_ == nullptr) return {};
  const auto is_a = leaf_is_a(tree, edge);
  if (!is_a) return {};
  const plan::Candidates& leaf = tree.vertices[*is_a ? edge.a : edge.b];
  const plan::Candidates& into = tree.vertices[*is_a ? edge.b : edge.a];
  KeptSets::Version at = 0;
  for (const plan::Probe& probe : leaf.probes) at = std::max(at, partial_->version(probe.position));
  for (const auto* positions : {&leaf.distinct, &leaf.above, &leaf.below, &into.above, &into.below}) {
    for (const plan::Position position : *positions) at = std::max(at, partial_->version(position));
  }
  auto* known = of_leaves_->find(&edge, at, partial_->version(0));
  if (known == nullptr) return {};
  Hanging result{*is_a, known, known->table};
  const bool pays = known->cost > 0 && known->spared >= partial_->keep_rule()->patience * known->cost;
  if (known->table == nullptr && pays && of_leaves_->has_room()) result.table = leaf_table(tree, edge, result);
  return result;
}

template <class Weight>
const Table<Weight>* TreeSum<Weight>::leaf_table(const plan::Factor& tree, const plan::TreeEdge& edge, const Hanging& at) {
  const ScratchScope scope(partial_->scratch());
  Node leaf;
  fill(tree.vertices[at.leaf_is_a ? edge.a : edge.b], leaf);
  spread(edge, !at.leaf_is_a, leaf, tree.vertices[at.leaf_is_a ? edge.b : edge.a], of_leaves_->make(*at.known));
  const bool whole = !overflow_ && (step_budget_ == nullptr || !step_budget_->over());
  if (!whole) of_leaves_->drop(*at.known);
  return at.known->table;
}

template <class Weight>
const Table<Weight>& TreeSum<Weight>::root_table(const plan::Factor& tree, const plan::TreeEdge& edge) {
  if (const Table<Weight>* made = (*of_root_)[edge.table]) return *made;
  const ScratchScope scope(partial_->scratch());
  Node leaf;
  fill(tree.vertices[edge.leaf_is_a ? edge.a : edge.b], leaf);
  Table<Weight>& table = of_root_->make(edge.table);
  spread(edge, !edge.leaf_is_a, leaf, tree.vertices[edge.leaf_is_a ? edge.b : edge.a], table);
  return table;
}

template <class Weight>
void TreeSum<Weight>::multiply_by(Node& into, const Table<Weight>& table) {
  std::uint32_t* ids = partial_->scratch().words(into.size);
  auto* weights = partial_->scratch().template array<Weight>(into.size);
  std::size_t size = 0;
  if (into.weights == nullptr) {
    size = filter_by_bits(into.ids, into.size, table.bits(), ids);
    for (std::size_t i = 0; i < size; ++i) weights[i] = table.weight(ids[i]);
  } else {
    for (std::size_t i = 0; i < into.size; ++i) {
      if (!table.holds(into.ids[i])) continue;
      ids[size] = into.ids[i];
      weights[size++] = multiply(into.weights[i], table.weight(into.ids[i]));
    }
  }
  give_back_table(into);
  into.ids = ids;
  into.weights = weights;
  into.size = size;
}

template <class Weight>
void TreeSum<Weight>::reach(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& into_wanted) {
  Node& into = nodes_[into_a ? edge.a : edge.b];
  const Node& from = nodes_[into_a ? edge.b : edge.a];
  const graph::QueryRelationId query_relation = into_a ? edge.b_to_a : edge.a_to_b;
  into.table = tables_->lend();
  Table<Weight>& table = *into.table;
  for (std::size_t i = 0; i < from.size; ++i) {
    if (gives_up(i, from.size)) break;
    const ScratchScope scope(partial_->scratch());
    for_each_entry(list(query_relation, from.ids[i], edge.inclusive, into_wanted), [&](VertexId v) {
      if (!table.holds(v)) table.set(v, 1);
    });
  }
  for (const plan::Position position : into_wanted.distinct) table.erase(partial_->at(position));
  const auto& touched = table.touched();
  std::uint32_t* ids = partial_->scratch().words(touched.size());
  const auto end = std::copy_if(touched.begin(), touched.end(), ids, [&](VertexId v) { return table.holds(v); });
  into.ids = ids;
  into.size = static_cast<std::size_t>(end - ids);
  into.bare = false;
}

template <class Weight>
void TreeSum<Weight>::tabulate(Node& node) {
  node.table = tables_->lend();
  for (std::size_t i = 0; i < node.size; ++i)
    node.table->set(node.ids[i], node.weights == nullptr ? Weight{1} : node.weights[i]);
}

template <class Weight>
void TreeSum<Weight>::pull(const plan::TreeEdge& edge, bool into_a, const plan::Candidates& leaf_wanted, Weight* total) {
  Node& into = nodes_[into_a ? edge.a : edge.b];
  Node& leaf = nodes_[into_a ? edge.b : edge.a];
  const graph::QueryRelationId query_relation = into_a ? edge.a_to_b : edge.b_to_a;
  const double list_length = into_a ? edge.a_degree : edge.b_degree;
  const graph::Resolved& where = partial_->lists().resolved(query_relation);
  // Weights and parallel edges need look-ups in a table. For plain sets, a table pays if many lists are read and the set is not
  // small.
  if (!leaf.bare && leaf.table == nullptr &&
      (leaf.weights != nullptr || where.parallel || (into.size > 4 && static_cast<double>(leaf.size) > 4 * list_length))) {
    tabulate(leaf);
  }
  std::uint32_t* ids = total != nullptr ? nullptr : partial_->scratch().words(into.size);
  Weight* weights = total != nullptr ? nullptr : partial_->scratch().template array<Weight>(into.size);
  std::size_t size = 0;
  for (std::size_t i = 0; i < into.size; ++i) {
    if (gives_up(i, into.size)) break;
    partial_->lists().prefetch_ahead({&query_relation, 1}, {into.ids, into.size}, i);
    const ScratchScope scope(partial_->scratch());
    const Weight hanging = below(list(query_relation, into.ids[i], edge.inclusive, leaf_wanted), leaf, leaf_wanted);
    if (hanging == 0) continue;
    const Weight weight = into.weights == nullptr ? hanging : multiply(into.weights[i], hanging);
    if (total != nullptr) {
      *total = add(*total, weight);
    } else {
      ids[size] = into.ids[i];
      weights[size++] = weight;
    }
  }
  if (total != nullptr) return;
  give_back_table(into);
  into.ids = ids;
  into.weights = weights;
  into.size = size;
}

// The weight of the leaf's candidates that are in one list.
template <class Weight>
Weight TreeSum<Weight>::below(const ListView& list, Node& leaf, const plan::Candidates& leaf_wanted) {
  if (list.size() == 0) return 0;
  if (leaf.bare) {
    std::uint32_t size = list.size();
    for (const plan::Position position : leaf_wanted.distinct) size -= multiplicity(list, partial_->at(position));
    return size;
  }
  if (leaf.table == nullptr) return static_cast<Weight>(count_members({leaf.ids, leaf.size}, list));
  const Table<Weight>& table = *leaf.table;
  if (leaf.weights == nullptr && list.clean() && !searched_for(leaf, list, look_up_cost))
    return static_cast<Weight>(count_in_bits(list.ids, list.count, table.bits()));
  Weight sum = 0;
  if (searched_for(leaf, list, look_up_cost)) {
    for (const VertexId v : common({leaf.ids, leaf.size}, list, partial_->scratch())) sum = add(sum, table.weight(v));
    return sum;
  }
  if (list.clean() && list.count >= filtered_list) {
    std::uint32_t* held = partial_->scratch().words(list.count);
    const std::size_t count = filter_by_bits(list.ids, list.count, table.bits(), held);
    for (std::size_t i = 0; i < count; ++i) sum = add(sum, table.weight(held[i]));
    return sum;
  }
  for_each_entry(list, [&](VertexId v) {
    if (table.holds(v)) sum = add(sum, table.weight(v));
  });
  return sum;
}

template class TreeSum<std::uint64_t>;
template class TreeSum<Count>;

}  // namespace deltamatch::match
