// How a plan counts: which levels to enumerate, and what to sum below them.
//
// Needs the levels of the plan in matching order. For every length of the enumerated prefix, what is left is a set of free
// query vertices. Free vertices that may coincide although they must not are corrected by inclusion and exclusion over the
// partitions of the free vertices into blocks that could be one data vertex, with the Moebius function of the partition lattice
// (Rota) as coefficient: every term is a count without distinctness, which splits into the components of the free vertices. A
// component that is a tree is summed by elimination of its leaves; one with a cycle enumerates a vertex and splits again. The
// cheapest wins.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "plan/estimates.hpp"

namespace deltamatch::plan {

namespace {

// Terms of one inclusion and exclusion: all partitions of five vertices.
constexpr std::size_t max_terms = 52;
// Components up to this size try every vertex as the next one to enumerate, larger ones the most promising.
constexpr std::size_t searched_component = 5;
// A look-up costs about as much as reading this many list entries.
constexpr double list_overhead = 8;
// A tree is worked from whichever side turns out smaller, and stops where a side is empty: degrees are so skewed that this
// leaves about a quarter of what averages promise.
constexpr double adaptive = 0.25;
// Vertices to enumerate are kept as alternatives up to this many times the cost of the best.
constexpr double alternative = 4;

using Mask = std::uint32_t;

// The end of a tree's edge that is a leaf with candidates which the root alone decides. The other end has candidates as well.
std::optional<std::uint8_t> root_leaf(const Factor& tree, const TreeEdge& edge) {
  const auto edges_at = [&](std::uint8_t vertex) {
    return std::ranges::count_if(tree.edges, [&](const TreeEdge& other) { return other.a == vertex || other.b == vertex; });
  };
  for (const auto& [leaf, into] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}}) {
    const auto& probes = tree.vertices[leaf].probes;
    const bool hangs = !probes.empty() && std::ranges::all_of(probes, [](const Probe& probe) { return probe.position == 0; });
    if (hangs && edges_at(leaf) == 1 && !tree.vertices[into].probes.empty()) return leaf;
  }
  return std::nullopt;
}

class Builder {
 public:
  Builder(const BoundQuery& query, const Estimates& estimates, std::uint32_t anchor, std::size_t enumerated)
      : query_(query), estimates_(estimates), anchor_(anchor), enumerated_(enumerated) {}
  /// Position 0 is a root, greater than the vertices `below`; sums that hang on it alone are kept in tables.
  Builder(const BoundQuery& query, const Estimates& estimates, Mask below) : Builder(query, estimates, no_anchor, 1) {
    rooted_ = true;
    below_root_ = below;
  }

  [[nodiscard]] std::vector<Factor> factors(std::vector<Mask> blocks, const std::vector<Mask>& positions) const {
    std::vector<Factor> result;
    while (!blocks.empty()) {
      std::vector<Mask> component{blocks.back()};
      blocks.pop_back();
      for (std::size_t i = 0; i < component.size(); ++i) {
        for (std::size_t j = blocks.size(); j-- > 0;) {
          if (!joined(component[i], blocks[j])) continue;
          component.push_back(blocks[j]);
          blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(j));
        }
      }
      std::sort(component.begin(), component.end());
      result.push_back(component_factor(component, positions));
    }
    // Cheap factors first: a zero ends the product.
    std::stable_sort(result.begin(), result.end(), [](const Factor& a, const Factor& b) { return a.cost < b.cost; });
    return result;
  }

  [[nodiscard]] static double product_cost(const std::vector<Factor>& factors) {
    double cost = 0;
    for (const Factor& factor : factors) cost += factor.cost;
    return cost;
  }

  [[nodiscard]] bool joined(Mask a, Mask b) const { return (neighbours(a) & b) != 0; }

  [[nodiscard]] Mask neighbours(Mask block) const {
    Mask all = 0;
    for (Mask rest = block; rest != 0; rest &= rest - 1) {
      all |= query_.neighbours(static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
    return all;
  }

 private:
  [[nodiscard]] Candidates wanted(Mask block, const std::vector<Mask>& positions) const {
    Candidates candidates = candidates_for(query_, block, positions, anchor_, enumerated_);
    if ((block & below_root_) != 0) {
      candidates.below.push_back(0);
      std::erase(candidates.distinct, Position{0});
    }
    return candidates;
  }

  // The query edge between two blocks, or nullopt where more than one reading joins them.
  [[nodiscard]] std::optional<TreeEdge> tree_edge(const std::vector<Mask>& blocks, std::size_t a, std::size_t b) const {
    const Candidates from_a = candidates_for(query_, blocks[b], {blocks[a]}, anchor_, 0);
    const Candidates from_b = candidates_for(query_, blocks[a], {blocks[b]}, anchor_, 0);
    if (from_a.probes.size() != 1 || from_b.probes.size() != 1) return std::nullopt;
    const Probe& forth = from_a.probes[0];
    const Probe& back = from_b.probes[0];
    return TreeEdge{static_cast<std::uint8_t>(a),
                    static_cast<std::uint8_t>(b),
                    forth.inclusive,
                    forth.power,
                    forth.reading,
                    back.reading,
                    static_cast<float>(estimates_.degree(forth.edge, estimates_.end(forth))),
                    static_cast<float>(estimates_.degree(back.edge, estimates_.end(back)))};
  }

  [[nodiscard]] std::optional<Factor> tree(const std::vector<Mask>& component, const std::vector<Mask>& positions) const {
    Factor factor;
    for (std::size_t a = 0; a < component.size(); ++a) {
      for (std::size_t b = a + 1; b < component.size(); ++b) {
        if (!joined(component[a], component[b])) continue;
        const auto edge = tree_edge(component, a, b);
        if (!edge || factor.edges.size() + 1 >= component.size()) return std::nullopt;
        factor.edges.push_back(*edge);
      }
    }
    std::vector<double> sizes;
    for (const Mask block : component) {
      factor.members.push_back(members(block));
      factor.vertices.push_back(wanted(block, positions));
      const auto& probes = factor.vertices.back().probes;
      sizes.push_back(probes.empty() ? -1 : estimates_.size(probes));
      // A single list is taken as it stands, several are intersected.
      for (const Probe& probe : probes) {
        factor.cost += list_overhead + (probes.size() == 1 ? 0 : estimates_.degree(probe.edge, estimates_.end(probe)) / 4);
      }
    }
    // Far vertices hold what their neighbours reach.
    for (std::size_t round = 0; round < component.size(); ++round) {
      for (const TreeEdge& edge : factor.edges) {
        if (sizes[edge.a] >= 0 && sizes[edge.b] < 0) sizes[edge.b] = sizes[edge.a] * edge.a_degree;
        if (sizes[edge.b] >= 0 && sizes[edge.a] < 0) sizes[edge.a] = sizes[edge.b] * edge.b_degree;
      }
    }
    for (const TreeEdge& edge : factor.edges) {
      if (rooted_ && positions.size() > 1) {
        if (const auto leaf = root_leaf(factor, edge)) {
          factor.cost += sizes[*leaf == edge.a ? edge.b : edge.a];  // looked up in a table
          continue;
        }
      }
      factor.cost +=
          adaptive * std::min(sizes[edge.a] * (list_overhead + edge.a_degree), sizes[edge.b] * (list_overhead + edge.b_degree));
    }
    return factor;
  }

  [[nodiscard]] Factor component_factor(const std::vector<Mask>& component, const std::vector<Mask>& positions) const {
    if (auto whole = tree(component, positions)) return *whole;
    std::vector<Factor> tried;
    for (const std::size_t i : enumerable(component, positions)) {
      Factor factor;
      factor.kind = Factor::Kind::bind;
      factor.position = static_cast<Position>(positions.size());
      factor.members.push_back(members(component[i]));
      factor.vertices.push_back(wanted(component[i], positions));
      std::vector<Mask> rest = component;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      std::vector<Mask> inner_positions = positions;
      inner_positions.push_back(component[i]);
      factor.inner = factors(std::move(rest), inner_positions);
      for (const Factor& inner : factor.inner) note_reads(inner, factor.position, factor.reads);
      const double size = estimates_.size(factor.vertices[0].probes);
      factor.per_candidate = list_overhead + product_cost(factor.inner);
      factor.cost = list_overhead + size * factor.per_candidate;
      tried.push_back(std::move(factor));
    }
    const auto cheaper = [](const Factor& a, const Factor& b) { return a.cost < b.cost; };
    std::stable_sort(tried.begin(), tried.end(), cheaper);
    Factor best = std::move(tried.front());
    // Lengths vary so much that one nearly as cheap on average is often far cheaper at an anchor. Once below the top, the first
    // choice has taken most of what there is to gain.
    if (positions.size() == enumerated_) {
      for (std::size_t i = 1; i < tried.size() && tried[i].cost < alternative * best.cost; ++i) {
        best.others.push_back(std::move(tried[i]));
      }
      if (!best.others.empty()) best.cost *= adaptive;
    }
    return best;
  }

  // The readings that a factor takes at a position.
  static void note_reads(const Factor& factor, Position position, std::vector<graph::ReadingId>& reads) {
    for (const Candidates& wanted : factor.vertices) {
      for (const Probe& probe : wanted.probes) {
        if (probe.position != position || std::find(reads.begin(), reads.end(), probe.reading) != reads.end()) continue;
        reads.push_back(probe.reading);
      }
    }
    for (const Factor& inner : factor.inner) note_reads(inner, position, reads);
  }

  // Which vertices of a component to try: those that matched vertices lead to.
  [[nodiscard]] std::vector<std::size_t> enumerable(const std::vector<Mask>& component,
                                                    const std::vector<Mask>& positions) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < component.size(); ++i) {
      if (std::any_of(positions.begin(), positions.end(), [&](Mask held) { return joined(held, component[i]); })) {
        found.push_back(i);
      }
    }
    if (component.size() <= searched_component) return found;
    const auto inner_degree = [&](std::size_t i) {
      int degree = 0;
      for (const Mask block : component) degree += joined(component[i], block) ? 1 : 0;
      return degree;
    };
    const auto most = *std::max_element(found.begin(), found.end(),
                                        [&](std::size_t a, std::size_t b) { return inner_degree(a) < inner_degree(b); });
    return {most};
  }

  static std::vector<std::uint32_t> members(Mask block) {
    std::vector<std::uint32_t> list;
    for (Mask rest = block; rest != 0; rest &= rest - 1) list.push_back(static_cast<std::uint32_t>(std::countr_zero(rest)));
    return list;
  }

  const BoundQuery& query_;
  const Estimates& estimates_;
  std::uint32_t anchor_;
  std::size_t enumerated_;  // positions of the anchor and the prefix
  bool rooted_ = false;
  Mask below_root_ = 0;
};

/// Gives what hangs on the root alone its tables: below an enumerated vertex, where it would be summed over and over. Equal
/// ones share a table.
class Tables {
 public:
  void assign(std::vector<Factor>& factors, bool inner) {
    for (Factor& factor : factors) {
      if (factor.kind == Factor::Kind::bind) {
        assign(factor.inner, true);
        assign(factor.others, inner);
      } else if (inner) {
        assign(factor);
      }
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  struct Key {
    std::vector<Probe> probes;  // of the leaf; which edge it is does not matter
    bool below;                 // the leaf is less than the root
    bool into_below;            // so is what it leads to
    graph::ReadingId reading;   // from the leaf
    friend bool operator==(const Key& a, const Key& b) {
      return a.reading == b.reading && a.below == b.below && a.into_below == b.into_below &&
             std::ranges::equal(a.probes, b.probes,
                                [](const Probe& x, const Probe& y) { return x.reading == y.reading && x.power == y.power; });
    }
  };

  void assign(Factor& tree) {
    for (TreeEdge& edge : tree.edges) {
      const auto leaf = root_leaf(tree, edge);
      if (!leaf) continue;
      const Candidates& into = tree.vertices[*leaf == edge.a ? edge.b : edge.a];
      Key key{tree.vertices[*leaf].probes, !tree.vertices[*leaf].below.empty(), !into.below.empty(),
              *leaf == edge.a ? edge.a_to_b : edge.b_to_a};
      const auto known = std::find(known_.begin(), known_.end(), key);
      if (known == known_.end() && known_.size() == no_table) continue;
      edge.table = static_cast<std::uint8_t>(known - known_.begin());
      edge.leaf_is_a = *leaf == edge.a;
      if (known == known_.end()) known_.push_back(std::move(key));
    }
  }

  std::vector<Key> known_;
};

// Expected work of counting from every data vertex as the root: list lengths are those met along edges, so the roots are as
// many as have the graph's entries between them at that length.
double rooted_cost(const BoundQuery& query, const Estimates& estimates, const RootedPlan& plan) {
  double roots = std::numeric_limits<double>::infinity();
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    for (unsigned end = 0; end < 2; ++end) {
      const std::uint32_t from = end == 0 ? query.edges[e].source : query.edges[e].target;
      if (from == plan.vertex) roots = std::min(roots, estimates.entries(e) / estimates.degree(e, end));
    }
  }
  const std::uint32_t alternatives =
      query.mode == MatchMode::isomorphism
          ? static_cast<std::uint32_t>(query.group.orbit(static_cast<query::Vertex>(plan.vertex)).size())
          : 1;
  return roots * plan.count.cost / alternatives;
}

// The partitions of the free vertices into blocks that may be one data vertex; nullopt where there are too many, or where
// labels overlap without being equal (a merged vertex would need the labels of both).
class Partitions {
 public:
  explicit Partitions(const BoundQuery& query) : query_(query) {}

  std::optional<std::vector<std::vector<Mask>>> of(const std::vector<std::uint32_t>& free) {
    result_.clear();
    std::vector<Mask> blocks;
    if (!extend(free, 0, blocks)) return std::nullopt;
    return result_;
  }

 private:
  bool extend(const std::vector<std::uint32_t>& free, std::size_t next, std::vector<Mask>& blocks) {
    if (next == free.size()) {
      if (result_.size() == max_terms) return false;
      result_.push_back(blocks);
      return true;
    }
    const std::uint32_t v = free[next];
    blocks.push_back(Mask{1} << v);
    if (!extend(free, next + 1, blocks)) return false;
    blocks.pop_back();
    if (query_.mode != MatchMode::isomorphism) return true;
    for (Mask& block : blocks) {
      if ((block & query_.neighbours(v)) != 0) continue;
      const auto first = static_cast<std::uint32_t>(std::countr_zero(block));
      if (!query_.compatible(first, v)) continue;
      if (query_.labels[first] != query_.labels[v]) return false;
      block |= Mask{1} << v;
      const bool fits = extend(free, next + 1, blocks);
      block &= ~(Mask{1} << v);
      if (!fits) return false;
    }
    return true;
  }

  const BoundQuery& query_;
  std::vector<std::vector<Mask>> result_;
};

std::int64_t moebius(const std::vector<Mask>& blocks) {
  std::int64_t coefficient = 1;
  for (const Mask block : blocks) {
    for (int i = 1; i < std::popcount(block); ++i) coefficient *= -i;
  }
  return coefficient;
}

// Free vertices that are alike and join matched vertices only: chosen as sets, they need no inclusion and exclusion among
// themselves. Returns the groups of at least two that no other free vertex may coincide with, and takes them out of `free`.
std::vector<std::vector<std::uint32_t>> take_twins(const BoundQuery& query, std::uint32_t anchor,
                                                   const std::vector<Mask>& positions, std::vector<std::uint32_t>& free) {
  std::vector<std::vector<std::uint32_t>> groups;
  if (query.mode != MatchMode::isomorphism) return groups;
  Mask held = 0;
  for (const Mask position : positions) held |= position;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const std::uint32_t v = free[i];
    if ((query.neighbours(v) & ~held) != 0) continue;
    const Candidates own = candidates_for(query, Mask{1} << v, positions, anchor, positions.size());
    std::vector<std::uint32_t> twins;
    bool apart = true;
    for (const std::uint32_t u : free) {
      const bool alike = query.labels[u] == query.labels[v] && (query.neighbours(u) & ~held) == 0 && [&] {
        const Candidates other = candidates_for(query, Mask{1} << u, positions, anchor, positions.size());
        return std::equal(own.probes.begin(), own.probes.end(), other.probes.begin(), other.probes.end(),
                          [](const Probe& a, const Probe& b) { return a.position == b.position && a.reading == b.reading; });
      }();
      if (alike) {
        twins.push_back(u);
      } else {
        apart = apart && !(query.compatible(u, v) && !query.adjacent(u, v));
      }
    }
    if (twins.size() < 2 || !apart) continue;
    std::erase_if(free, [&](std::uint32_t u) { return std::find(twins.begin(), twins.end(), u) != twins.end(); });
    groups.push_back(std::move(twins));
    i = static_cast<std::size_t>(-1);
  }
  return groups;
}

// Whether the automorphisms that a plan has to deal with are those that leave the twins in place, combined with any exchange of
// twins. Order constraints among the other vertices then are those of the former.
bool apart(const BoundQuery& query, const Plan& plan, std::uint32_t anchor, const Factor& twins, Count symmetry) {
  std::vector<query::Vertex> fixed;
  for (const std::uint32_t v : twins.members[0]) fixed.push_back(static_cast<query::Vertex>(v));
  if (anchor != no_anchor) {
    fixed.push_back(static_cast<query::Vertex>(plan.tail));
    fixed.push_back(static_cast<query::Vertex>(plan.head));
  }
  return query.group.stabiliser(fixed).order() * checked_factorial(twins.members[0].size()) == symmetry;
}

// Static plans of cliques and their like: lists are intersected at every level, so that order constraints leave little.
bool intersects_everywhere(const Plan& plan, std::uint32_t anchor) {
  return anchor == no_anchor &&
         std::ranges::all_of(plan.levels, [](const Level& level) { return level.candidates.probes.size() >= 2; });
}

// What it costs to count the candidates of the level after the prefix, of which earlier levels have intersected a part; else
// `otherwise`.
double extension_cost(const Plan& plan, std::size_t prefix, double otherwise) {
  const Level& level = plan.levels[prefix];
  if (level.reuse < 0) return otherwise;
  return list_overhead * static_cast<double>(1 + level.rest.size()) +
         plan.levels[static_cast<std::size_t>(level.reuse)].estimate;
}

bool only_trees(const Term& term) {
  return std::all_of(term.factors.begin(), term.factors.end(),
                     [](const Factor& factor) { return factor.kind == Factor::Kind::tree; });
}

// Which data edges are taken matters beyond the vertices, or edges that the query has not.
bool cannot_be_summed(const BoundQuery& query) {
  return query.induced || query.mode == MatchMode::edge_distinct ||
         (query.mode == MatchMode::isomorphism && query.edges_may_coincide());
}

}  // namespace

std::optional<RootedPlan> make_rooted_plan(const BoundQuery& query, const Estimates& estimates, std::uint32_t vertex,
                                           Count symmetry) {
  if (cannot_be_summed(query)) return std::nullopt;
  RootedPlan plan;
  plan.vertex = vertex;
  plan.count.divisor = symmetry;
  const std::vector<Mask> positions{Mask{1} << vertex};
  // Of the vertices that symmetry takes the root to, the root is the greatest: one of as many matches is counted.
  Mask alternatives = 0;
  if (query.mode == MatchMode::isomorphism) {
    for (const query::Vertex other : query.group.orbit(static_cast<query::Vertex>(vertex))) alternatives |= Mask{1} << other;
    plan.count.divisor /= static_cast<unsigned>(std::popcount(alternatives));
    alternatives &= ~positions[0];
  }
  const Builder builder(query, estimates, alternatives);
  std::vector<std::uint32_t> free;
  for (std::uint32_t v = 0; v < query.vertices(); ++v) {
    if (v != vertex) free.push_back(v);
  }
  std::vector<Factor> alike;
  for (const auto& twins : take_twins(query, no_anchor, positions, free)) {
    alike.push_back(builder.factors({Mask{1} << twins[0]}, positions)[0]);
    alike.back().members[0] = twins;
    alike.back().choose = static_cast<std::uint32_t>(twins.size());
    plan.count.divisor /= checked_factorial(twins.size());
  }
  const auto partitions = Partitions(query).of(free);
  if (!partitions) return std::nullopt;
  Tables tables;
  for (const auto& blocks : *partitions) {
    Term term{moebius(blocks), alike};
    auto factors = builder.factors(blocks, positions);
    tables.assign(factors, false);
    std::move(factors.begin(), factors.end(), std::back_inserter(term.factors));
    plan.count.cost += Builder::product_cost(term.factors);
    plan.count.terms.push_back(std::move(term));
  }
  plan.tables = tables.size();
  plan.count.cost = rooted_cost(query, estimates, plan);
  return plan;
}

CountPlan make_count_plan(const BoundQuery& query, const Estimates& estimates, const Plan& plan, Count symmetry,
                          std::uint32_t anchor, bool allow_ordered) {
  CountPlan best;
  best.divisor = symmetry;
  if (cannot_be_summed(query)) {
    best.ordered = query.mode == MatchMode::isomorphism;
    best.prefix = plan.levels.size();
    best.divisor = 1;
    return best;
  }
  best.cost = std::numeric_limits<double>::infinity();
  std::vector<Mask> positions{Mask{1} << plan.tail, Mask{1} << plan.head};
  double partials = 1;
  double prefix_cost = 0;
  for (std::size_t prefix = 0; prefix == 0 || prefix < plan.levels.size(); ++prefix) {
    if (prefix > 0) {
      const Level& level = plan.levels[prefix - 1];
      positions.push_back(Mask{1} << level.vertex);
      prefix_cost += partials * (list_overhead * static_cast<double>(level.candidates.probes.size()) + level.estimate);
      partials *= level.estimate;
    }
    const Builder builder(query, estimates, anchor, positions.size());
    CountPlan candidate;
    candidate.prefix = prefix;
    candidate.divisor = symmetry;
    std::vector<std::uint32_t> free;
    for (std::size_t i = prefix; i < plan.levels.size(); ++i) free.push_back(plan.levels[i].vertex);
    const bool last = free.size() <= 1;
    std::vector<Factor> alike;
    for (const auto& twins : take_twins(query, anchor, positions, free)) {
      alike.push_back(builder.factors({Mask{1} << twins[0]}, positions)[0]);
      alike.back().members[0] = twins;
      alike.back().choose = static_cast<std::uint32_t>(twins.size());
      candidate.divisor /= checked_factorial(twins.size());
    }
    const auto partitions = Partitions(query).of(free);
    if (!partitions) continue;
    double cost = prefix_cost;
    for (const auto& blocks : *partitions) {
      Term term;
      term.coefficient = moebius(blocks);
      term.factors = alike;
      auto factors = builder.factors(blocks, positions);
      std::move(factors.begin(), factors.end(), std::back_inserter(term.factors));
      cost += partials * Builder::product_cost(term.factors);
      candidate.terms.push_back(std::move(term));
    }
    candidate.cost = cost;
    if (cost < best.cost) best = candidate;
    // Nothing enumerated and nothing to correct: sums decide at run time what a prefix would fix beforehand, and trees never
    // take longer than the lists they read, whatever the estimates say. Where a cycle is enumerated, order constraints may
    // still win.
    const bool sums_alone = only_trees(candidate.terms[0]) && !intersects_everywhere(plan, anchor);
    if (prefix == 0 && candidate.terms.size() == 1 && (symmetry <= 1 || sums_alone)) break;
    if (!allow_ordered || symmetry <= 1) continue;
    // All but the last vertex enumerated, or all but twins that symmetry exchanges with no others, under the order constraints:
    // each match once.
    const bool twins_left = free.empty() && alike.size() == 1 && apart(query, plan, anchor, alike[0], symmetry);
    if (alike.empty() ? !last : !twins_left) continue;
    candidate.cost =
        prefix < plan.levels.size() ? prefix_cost + partials * extension_cost(plan, prefix, cost / partials) : cost;
    candidate.cost /= std::min(1e6, static_cast<double>(symmetry));
    candidate.ordered = true;
    candidate.divisor = 1;
    if (alike.empty() && !plan.levels.empty()) {
      Candidates& leaf = candidate.terms[0].factors[0].vertices[0];
      leaf.above = plan.levels.back().candidates.above;
      leaf.below = plan.levels.back().candidates.below;
    }
    if (candidate.cost < best.cost) best = candidate;
  }
  return best;
}

}  // namespace deltamatch::plan
