#include "gpu/program/flat_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "match/plan_index.hpp"
#include "match/programs.hpp"

namespace deltamatch::gpu {

namespace {

// A vertex with at least this many neighbours keeps a single warp busy for too long.
constexpr std::uint32_t heavy_degree = 64;

using plan::Candidates;
using plan::Factor;

// Anchors and roots that a thread takes at a time.
constexpr std::size_t grain = std::size_t{1} << 12;

template <class Body>
void for_all(std::size_t count, Workers* workers, Body&& body) {
  workers == nullptr ? body(0U, std::size_t{0}, count) : workers->for_each(count, grain, body);
}

// Ascending groups of sizes: 16 for each doubling. Each small size is a group of its own.
constexpr std::size_t groups = 32 + 27 * 16;
std::size_t group_of(std::uint32_t size) noexcept {
  if (size < 32) return size;
  const auto width = static_cast<unsigned>(std::bit_width(size));
  return 32 + std::size_t{width - 6} * 16 + (size >> (width - 5) & 15U);
}

// Whether the part of a tree beyond `vertex`, seen from `parent`, has a vertex with candidates.
bool reaches_candidates(const Factor& tree, std::size_t vertex, std::size_t parent) {
  if (!tree.vertices[vertex].probes.empty()) return true;
  return std::ranges::any_of(tree.edges, [&](const plan::TreeEdge& edge) {
    if (edge.a == vertex && edge.b != parent) return reaches_candidates(tree, edge.b, vertex);
    return edge.b == vertex && edge.a != parent && reaches_candidates(tree, edge.a, vertex);
  });
}

bool meets(const std::vector<Factor>& factors) {
  return std::ranges::any_of(factors, [](const Factor& factor) {
    if (factor.kind == Factor::Kind::bind) return meets(factor.inner) || meets(factor.others);
    for (std::size_t v = 0; v < factor.vertices.size(); ++v) {
      if (!factor.vertices[v].probes.empty()) continue;
      const auto ways = std::ranges::count_if(factor.edges, [&](const plan::TreeEdge& edge) {
        return (edge.a == v && reaches_candidates(factor, edge.b, v)) || (edge.b == v && reaches_candidates(factor, edge.a, v));
      });
      if (ways > 1) return true;
    }
    return false;
  });
}

// The most sets held at once by factors that are evaluated one after the other.
std::size_t sets_at_once(const std::vector<Factor>& factors) {
  std::size_t most = 0;
  for (const Factor& factor : factors) {
    // One for each vertex of the tree, and one for a leaf that the root decides.
    most = std::max(most, factor.kind == Factor::Kind::tree ? factor.vertices.size() + 1 : 1 + sets_at_once(factor.inner));
    most = std::max(most, sets_at_once(factor.others));
  }
  return most;
}

bool enumerates(const Factor& factor) { return factor.kind == Factor::Kind::bind; }

class Flattening {
 public:
  Flattening(FlatSums& into, std::vector<Probe>& probes, std::vector<std::uint8_t>& positions)
      : into_(into), probes_(probes), positions_(positions) {}

  std::pair<std::uint32_t, std::uint32_t> probes(const std::vector<plan::Probe>& probes) {
    const auto first = static_cast<std::uint32_t>(probes_.size());
    for (const plan::Probe& probe : probes) {
      probes_.push_back({static_cast<std::uint16_t>(probe.query_relation), probe.position,
                         static_cast<std::uint8_t>(probe.inclusive ? 1 : 0)});
    }
    return {first, static_cast<std::uint32_t>(probes.size())};
  }

  // Factors of one product lie side by side. Returns the first index and the end.
  std::pair<std::uint32_t, std::uint32_t> factors(const std::vector<Factor>& factors) {
    const auto first = static_cast<std::uint32_t>(into_.factors.size());
    into_.factors.resize(first + factors.size());
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const SumFactor made = factor(factors[i]);
      into_.factors[first + i] = made;
    }
    return {first, static_cast<std::uint32_t>(first + factors.size())};
  }

 private:
  SumFactor factor(const Factor& from) {
    SumFactor made{};
    made.bind = from.kind == Factor::Kind::bind ? 1 : 0;
    made.position = from.position;
    made.choose = from.choose;
    made.per_candidate = static_cast<float>(from.per_candidate);
    made.vertices = static_cast<std::uint8_t>(from.vertices.size());
    made.edges = static_cast<std::uint8_t>(from.edges.size());
    made.first_vertex = static_cast<std::uint32_t>(into_.vertices.size());
    for (const Candidates& wanted : from.vertices) into_.vertices.push_back(vertex(wanted));
    made.first_edge = static_cast<std::uint32_t>(into_.edges.size());
    for (const plan::TreeEdge& edge : from.edges) {
      into_.edges.push_back({static_cast<std::uint16_t>(edge.a_to_b),
                             static_cast<std::uint16_t>(edge.b_to_a),
                             edge.a_degree,
                             edge.b_degree,
                             edge.a,
                             edge.b,
                             static_cast<std::uint8_t>(edge.inclusive ? 1 : 0),
                             edge.table,
                             static_cast<std::uint8_t>(edge.leaf_is_a ? 1 : 0),
                             {}});
    }
    std::tie(made.first_inner, made.end_inner) = factors(from.inner);
    std::tie(made.first_other, made.end_other) = factors(from.others);
    return made;
  }

  SumVertex vertex(const Candidates& wanted) {
    SumVertex made{};
    made.first_probe = probes(wanted.probes).first;
    made.probes = static_cast<std::uint8_t>(wanted.probes.size());
    made.first_position = static_cast<std::uint32_t>(positions_.size());
    for (const auto* list : {&wanted.distinct, &wanted.above, &wanted.below}) {
      positions_.insert(positions_.end(), list->begin(), list->end());
    }
    made.distinct = static_cast<std::uint8_t>(wanted.distinct.size());
    made.above = static_cast<std::uint8_t>(wanted.above.size());
    made.below = static_cast<std::uint8_t>(wanted.below.size());
    return made;
  }

  FlatSums& into_;
  std::vector<Probe>& probes_;
  std::vector<std::uint8_t>& positions_;
};

}  // namespace

plan::CountPlan bind_prefix(const plan::Plan& plan) {
  plan::CountPlan made = plan.count;
  for (std::size_t level = made.prefix; level-- > 0;) {
    for (plan::Term& term : made.terms) {
      Factor bind;
      bind.kind = Factor::Kind::bind;
      bind.vertices = {plan.levels[level].candidates};
      bind.vertices[0].above.clear();  // sums count every assignment
      bind.vertices[0].below.clear();
      bind.members = {{plan.levels[level].vertex}};
      bind.position = static_cast<plan::Position>(level + 2);
      bind.inner = std::move(term.factors);
      term.factors.clear();
      term.factors.push_back(std::move(bind));
    }
  }
  made.prefix = 0;
  return made;
}

bool meets_in_the_middle(const plan::CountPlan& count) {
  return std::ranges::any_of(count.terms, [](const plan::Term& term) { return meets(term.factors); });
}

SplitSums flatten_sums(const plan::CountPlan& count, const std::vector<plan::Probe>& closing, std::size_t root_tables,
                       FlatSums& into, std::vector<Probe>& probes, std::vector<std::uint8_t>& positions) {
  Flattening flattening(into, probes, positions);
  SplitSums made{};
  made.summed.first_closing = flattening.probes(closing).first;
  made.summed.closing = static_cast<std::uint8_t>(closing.size());
  made.summed.root_tables = static_cast<std::uint8_t>(root_tables);
  made.enumerated = made.summed;
  std::vector<SumTerm> terms[2];
  for (const plan::Term& term : count.terms) {
    std::vector<Factor> factors = term.factors;
    // Shares split the first factor, so bound vertices come first.
    std::ranges::stable_partition(factors, enumerates);
    const auto [first, end] = flattening.factors(factors);
    terms[!factors.empty() && enumerates(factors.front()) ? 1 : 0].push_back({term.coefficient, first, end});
    into.sets_at_once = std::max(into.sets_at_once, static_cast<std::uint32_t>(sets_at_once(factors)));
  }
  const auto place = [&](const std::vector<SumTerm>& own, SumProgram& program) {
    program.first_term = static_cast<std::uint32_t>(into.terms.size());
    into.terms.insert(into.terms.end(), own.begin(), own.end());
    program.end_term = static_cast<std::uint32_t>(into.terms.size());
  };
  place(terms[0], made.summed);
  place(terms[1], made.enumerated);
  into.root_tables = std::max(into.root_tables, made.summed.root_tables + 0U);
  return made;
}

void add_anchors(const graph::DataGraph& graph, std::span<const Anchor> anchors, SplitSums programs, std::uint8_t pass,
                 const ProgramOrigin& origin, FlatSums& into, Workers* workers) {
  const std::size_t first = into.anchors.size();
  into.anchors.insert(into.anchors.end(), anchors.begin(), anchors.end());
  into.degrees.resize(into.anchors.size());
  const graph::Adjacency& lists = match::lists_read(graph);
  for_all(anchors.size(), workers, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t a = begin; a < end; ++a) {
      into.degrees[first + a] = match::table_degree(lists, anchors[a].tail, anchors[a].head);
    }
  });
  std::uint64_t uncounted = anchors.size();
  for (SumProgram* program : {&programs.enumerated, &programs.summed}) {
    if (program->first_term == program->end_term) continue;
    const bool split = program == &programs.enumerated;
    program->pass = pass;
    const auto number = static_cast<std::uint32_t>(into.programs.size());
    into.programs.push_back(*program);
    into.origins.push_back(origin);
    into.anchor_counts.push_back(std::exchange(uncounted, 0));
    for (std::size_t a = first; a < into.anchors.size(); ++a) {
      const std::uint32_t degree = into.degrees[a];
      const std::uint32_t shares = split ? match::table_shares(degree) : 1;
      std::vector<SumItem>& items = !split && degree >= heavy_degree ? into.heavy : into.light;
      for (std::uint32_t s = 0; s < shares; ++s) {
        items.push_back(
            {number, static_cast<std::uint32_t>(a), static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(shares)});
      }
    }
  }
}

void order_items(FlatSums& sums) {
  for (std::vector<SumItem>* items : {&sums.heavy, &sums.light}) {
    const auto group = [&](const SumItem& item) { return groups - 1 - group_of(sums.degrees[item.anchor] / item.shares); };
    std::array<std::size_t, groups + 1> at{};
    for (const SumItem& item : *items) ++at[group(item) + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    std::vector<SumItem> ordered(items->size());
    for (const SumItem& item : *items) ordered[at[group(item)]++] = item;
    items->swap(ordered);
  }
}

void add_roots(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const match::QueryTask& task,
               std::span<const VertexId> roots, SplitSums programs, std::uint8_t pass, const ProgramOrigin& origin,
               FlatSums& into, Workers* workers) {
  std::vector<std::uint8_t> fits(roots.size());
  for_all(roots.size(), workers, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fits[i] = match::may_be_root(task, roots[i], resolved) ? 1 : 0;
  });
  std::vector<Anchor> fit;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (fits[i] != 0) fit.push_back({roots[i], roots[i], 0});
  }
  add_anchors(graph, fit, programs, pass, origin, into, workers);
}

}  // namespace deltamatch::gpu
