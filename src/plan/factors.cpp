#include "plan/factors.hpp"

#include <algorithm>
#include <bit>

namespace deltamatch::plan {

namespace {

// Components up to this size try every vertex as the next one to enumerate. Larger ones try only the most promising vertex.
constexpr std::size_t searched_component = 5;
// A tree is summed from the side that turns out smaller, and stops if a side is empty. Degrees are so skewed that this leaves
// about a quarter of the work that averages predict.
constexpr double adaptive = 0.25;
// Alternatives to the best vertex to enumerate are kept up to this many times its cost.
constexpr double alternative = 4;

}  // namespace

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

std::vector<Factor> FactorBuilder::factors(std::vector<Mask> blocks, const std::vector<Mask>& positions) const {
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
  // Cheap factors come first: a zero ends the product.
  std::stable_sort(result.begin(), result.end(), [](const Factor& a, const Factor& b) { return a.cost < b.cost; });
  return result;
}

double FactorBuilder::product_cost(const std::vector<Factor>& factors) {
  double cost = 0;
  for (const Factor& factor : factors) cost += factor.cost;
  return cost;
}

bool FactorBuilder::joined(Mask a, Mask b) const { return (neighbours(a) & b) != 0; }

Mask FactorBuilder::neighbours(Mask block) const {
  Mask all = 0;
  for (Mask rest = block; rest != 0; rest &= rest - 1) {
    all |= query_.neighbours(static_cast<std::uint32_t>(std::countr_zero(rest)));
  }
  return all;
}

Candidates FactorBuilder::wanted(Mask block, const std::vector<Mask>& positions) const {
  Candidates candidates = candidates_for(query_, block, positions, anchor_, enumerated_);
  if ((block & below_root_) != 0) {
    candidates.below.push_back(0);
    std::erase(candidates.distinct, Position{0});
  }
  return candidates;
}

// Returns the query edge between two blocks, or nullopt if more than one query relation joins them.
std::optional<TreeEdge> FactorBuilder::tree_edge(const std::vector<Mask>& blocks, std::size_t a, std::size_t b) const {
  const Candidates from_a = candidates_for(query_, blocks[b], {blocks[a]}, anchor_, 0);
  const Candidates from_b = candidates_for(query_, blocks[a], {blocks[b]}, anchor_, 0);
  if (from_a.probes.size() != 1 || from_b.probes.size() != 1) return std::nullopt;
  const Probe& forth = from_a.probes[0];
  const Probe& back = from_b.probes[0];
  return TreeEdge{static_cast<std::uint8_t>(a),
                  static_cast<std::uint8_t>(b),
                  forth.inclusive,
                  forth.power,
                  forth.query_relation,
                  back.query_relation,
                  static_cast<float>(estimates_.degree(forth.edge, estimates_.end(forth))),
                  static_cast<float>(estimates_.degree(back.edge, estimates_.end(back)))};
}

// Whether a connected component has a cycle, by the number of joined pairs.
bool FactorBuilder::has_cycle(const std::vector<Mask>& component) const {
  Mask all = 0;
  for (const Mask block : component) all |= block;
  int ends = 0;
  for (const Mask block : component) {
    const Mask near = neighbours(block) & all;
    for (const Mask other : component) ends += (near & other) != 0 ? 1 : 0;
  }
  return static_cast<std::size_t>(ends / 2) >= component.size();
}

std::optional<Factor> FactorBuilder::tree(const std::vector<Mask>& component, const std::vector<Mask>& positions) const {
  if (has_cycle(component)) return std::nullopt;
  Factor factor;
  for (std::size_t a = 0; a < component.size(); ++a) {
    for (std::size_t b = a + 1; b < component.size(); ++b) {
      if (!joined(component[a], component[b])) continue;
      const auto edge = tree_edge(component, a, b);
      if (!edge) return std::nullopt;
      factor.edges.push_back(*edge);
    }
  }
  std::vector<double> sizes;
  for (const Mask block : component) {
    factor.members.push_back(members(block));
    factor.vertices.push_back(wanted(block, positions));
    const auto& probes = factor.vertices.back().probes;
    sizes.push_back(probes.empty() ? -1 : estimates_.size(block, probes));
    // A single list is used without copying; several are intersected.
    for (const Probe& probe : probes) {
      factor.cost += list_overhead + (probes.size() == 1 ? 0 : estimates_.degree(probe.edge, estimates_.end(probe)) / 4);
    }
  }
  // The size of a far vertex is what its neighbours reach.
  for (std::size_t round = 0; round < component.size(); ++round) {
    for (const TreeEdge& edge : factor.edges) {
      if (sizes[edge.a] >= 0 && sizes[edge.b] < 0) sizes[edge.b] = sizes[edge.a] * edge.a_degree;
      if (sizes[edge.b] >= 0 && sizes[edge.a] < 0) sizes[edge.a] = sizes[edge.b] * edge.b_degree;
    }
  }
  for (const TreeEdge& edge : factor.edges) {
    if (rooted_ && positions.size() > 1) {
      if (const auto leaf = root_leaf(factor, edge)) {
        factor.cost += sizes[*leaf == edge.a ? edge.b : edge.a];  // read from a table
        continue;
      }
    }
    factor.cost +=
        adaptive * std::min(sizes[edge.a] * (list_overhead + edge.a_degree), sizes[edge.b] * (list_overhead + edge.b_degree));
  }
  return factor;
}

Factor FactorBuilder::component_factor(const std::vector<Mask>& component, const std::vector<Mask>& positions) const {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw PlanningStopped();
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
    const double size = estimates_.size(component[i], factor.vertices[0].probes);
    factor.per_candidate = list_overhead + product_cost(factor.inner);
    factor.cost = list_overhead + size * factor.per_candidate;
    tried.push_back(std::move(factor));
  }
  const auto cheaper = [](const Factor& a, const Factor& b) { return a.cost < b.cost; };
  std::stable_sort(tried.begin(), tried.end(), cheaper);
  Factor best = std::move(tried.front());
  // List lengths vary so much that a vertex with nearly the same average cost is often far cheaper at some anchor. Below the
  // top level, the first choice has already gained most of this.
  if (positions.size() == enumerated_) {
    for (std::size_t i = 1; i < tried.size() && tried[i].cost < alternative * best.cost; ++i) {
      best.others.push_back(std::move(tried[i]));
    }
    if (!best.others.empty()) best.cost *= adaptive;
  }
  return best;
}

// Collects the query relations that a factor uses at a position.
void FactorBuilder::note_reads(const Factor& factor, Position position, std::vector<graph::QueryRelationId>& reads) {
  for (const Candidates& wanted : factor.vertices) {
    for (const Probe& probe : wanted.probes) {
      if (probe.position != position || std::find(reads.begin(), reads.end(), probe.query_relation) != reads.end()) continue;
      reads.push_back(probe.query_relation);
    }
  }
  for (const Factor& inner : factor.inner) note_reads(inner, position, reads);
}

// Returns the vertices of a component to try: those joined to matched vertices.
std::vector<std::size_t> FactorBuilder::enumerable(const std::vector<Mask>& component,
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

std::vector<std::uint32_t> FactorBuilder::members(Mask block) {
  std::vector<std::uint32_t> list;
  for (Mask rest = block; rest != 0; rest &= rest - 1) list.push_back(static_cast<std::uint32_t>(std::countr_zero(rest)));
  return list;
}

}  // namespace deltamatch::plan
