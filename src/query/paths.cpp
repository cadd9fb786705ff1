// A variant is laid out first: its edges and vertices. Then it gets its condition, which path_condition.hpp describes.
#include "query/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "condition/counted.hpp"
#include "condition/form.hpp"
#include "condition/time_bounds.hpp"
#include "query/path_condition.hpp"

namespace deltamatch::query {
namespace {

using Lengths = std::vector<std::uint32_t>;  // by path
using Subject = Flaw::Subject;

/// Gives names that no element has yet.
class FreshNames {
 public:
  explicit FreshNames(const Query& query) {
    for (const QueryVertex& vertex : query.vertices) taken_.insert(vertex.name);
    for (const QueryEdge& edge : query.edges) taken_.insert(edge.name);
    if (query.where) take_counted(*query.where);
    for (const QueryEdge& edge : query.edges) {
      if (edge.each) take_counted(*edge.each);
    }
  }
  std::string like(std::string name) {
    while (!taken_.insert(name).second) name += '_';
    return name;
  }

 private:
  void take_counted(const Expression& condition) {
    condition::for_each_count(condition, [&](const Expression& count) {
      for (const CountedPattern& pattern : count.pattern) {
        for (const QueryVertex& vertex : pattern.vertices) taken_.insert(vertex.name);
        for (const QueryEdge& edge : pattern.edges) taken_.insert(edge.name);
      }
    });
  }

  std::set<std::string> taken_;
};

/// The edges and vertices of a variant, without conditions.
Variant lay_out(const Query& query, const Lengths& lengths) {
  Variant variant{{query.name, query.vertices, {}, {}, query.within}, {}};
  FreshNames names(query);
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    const QueryEdge& edge = query.edges[e];
    std::vector<QueryEdge>& edges = variant.query.edges;
    if (!edge.quantifier) {
      edges.push_back(edge);
      continue;
    }
    const Path path{edge.name, e, static_cast<std::uint32_t>(edges.size()), lengths[variant.paths.size()],
                    static_cast<std::uint32_t>(variant.query.vertices.size())};
    variant.paths.push_back(path);
    std::uint32_t from = edge.source;
    for (std::uint32_t step = 1; step <= path.steps; ++step) {
      const bool last = step == path.steps;
      const std::uint32_t to = last ? edge.target : static_cast<std::uint32_t>(variant.query.vertices.size());
      if (!last) variant.query.vertices.push_back({names.like(fmt::format("{}_v{}", edge.name, step)), {}});
      edges.push_back({from, to, edge.labels, edge.directed, names.like(fmt::format("{}_{}", edge.name, step))});
      from = to;
    }
  }
  return variant;
}

Variant make_variant(const Query& query, const Lengths& lengths) {
  Variant variant = lay_out(query, lengths);
  variant.query.where = variant_condition(query, variant);
  return variant;
}

/// All choices of lengths, those with the fewest steps first. Requires at most max_variants.
std::vector<Lengths> all_lengths(const Query& query) {
  std::vector<Lengths> all{{}};
  for (const QueryEdge& edge : query.edges) {
    if (!edge.quantifier) continue;
    std::vector<Lengths> longer;
    for (const Lengths& lengths : all) {
      for (std::uint32_t steps = edge.quantifier->least; steps <= edge.quantifier->most; ++steps) {
        longer.push_back(lengths);
        longer.back().push_back(steps);
      }
    }
    all = std::move(longer);
  }
  const auto steps = [](const Lengths& lengths) { return std::accumulate(lengths.begin(), lengths.end(), std::uint32_t{0}); };
  std::stable_sort(all.begin(), all.end(), [&](const Lengths& a, const Lengths& b) { return steps(a) < steps(b); });
  return all;
}

/// Whether some values and times may satisfy the variant's condition.
bool may_match(const Variant& variant) {
  return !is_never_true(variant.query.where) && condition::has_possible_times(variant.query);
}

std::optional<Flaw> check_path(const Query& query, std::size_t e) {
  const QueryEdge& edge = query.edges[e];
  if (!edge.quantifier) {
    if (!edge.each) return std::nullopt;
    return Flaw{Subject::edge, e, "a condition on each step of an edge that is no path", "put it into Query::where"};
  }
  const auto [least, most] = *edge.quantifier;
  if (least < 1 || least > most || most > max_path_steps) {
    return Flaw{Subject::edge, e, fmt::format("a path of {} to {} edges", least, most),
                fmt::format("a path has 1 to {} edges", max_path_steps)};
  }
  if (edge.name.empty()) return Flaw{Subject::edge, e, "a path without a name", "name it: -[t:TRANSFER]->{1,4}"};
  if (edge.source == edge.target && least == 1) {
    return Flaw{Subject::edge, e,
                fmt::format("a path of one edge from vertex '{0}' to itself", shown(query.vertices[edge.source].name)),
                fmt::format("begin at 2 edges, as in {{2,{}}}: a path is no self-loop", std::max(most, 3U))};
  }
  return std::nullopt;
}

/// Whether a condition speaks of paths as it may. `inside`: the path whose steps it is about, if any.
bool speaks_well(const Query& query, const Expression& node,
                 std::optional<std::uint32_t> inside) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
  const bool function = condition::reads_path(node.kind);
  if (function || (node.kind == Expression::Kind::attribute && node.element.kind == Element::Kind::edge)) {
    const bool path = node.element.index < query.edges.size() && query.edges[node.element.index].quantifier;
    const bool own = inside == node.element.index;
    if (function != path && !(path && own)) return false;
    if (node.kind == Expression::Kind::previous && !own) return false;
  }
  const auto well = [&](const Expression& part) { return speaks_well(query, part, inside); };
  return std::ranges::all_of(node.operands, well) && std::ranges::all_of(node.pattern, [&](const CountedPattern& pattern) {
           return std::ranges::all_of(pattern.where, well);
         });
}

std::optional<Flaw> check_path_conditions(const Query& query) {
  const Flaw flaw{Subject::query, 0, "a condition that speaks of a path as of one edge, or of one edge as of a path",
                  "parse_pattern makes well-formed conditions"};
  if (query.where && !speaks_well(query, *query.where, std::nullopt)) return flaw;
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    const auto& each = query.edges[e].each;
    if (!each) continue;
    if (const auto what = condition::find_flaw(*each, query.vertices.size(), query.edges.size())) {
      return Flaw{Subject::edge, e, "a condition that is not well formed: " + *what,
                  "parse_pattern makes well-formed conditions"};
    }
    if (!speaks_well(query, *each, e)) return flaw;
  }
  return std::nullopt;
}

/// The flaw of a variant, as one of the query.
Flaw flaw_of(const Variant& variant, Flaw flaw) {
  std::string lengths;
  for (const Path& path : variant.paths) {
    lengths += fmt::format("{}{} edge{} for '{}'", lengths.empty() ? "" : " and ", path.steps, path.steps == 1 ? "" : "s",
                           shown(path.name));
  }
  if (flaw.subject == Subject::edge) {
    std::size_t before = 0;  // steps that the query does not have
    for (const Path& path : variant.paths) {
      if (flaw.index < path.first_edge) break;
      const bool within = flaw.index < path.first_edge + path.steps;
      before += within ? flaw.index - path.first_edge : path.steps - 1;
    }
    flaw.index -= before;
  } else if (flaw.subject == Subject::vertex) {
    flaw.subject = Subject::query;
    flaw.index = 0;
  }
  flaw.what = fmt::format("{}: {}", lengths, flaw.what);
  return flaw;
}

}  // namespace

bool has_paths(const Query& query) noexcept {
  return std::ranges::any_of(query.edges, [](const QueryEdge& edge) { return edge.quantifier.has_value(); });
}

std::vector<Variant> expand(const Query& query) {
  if (!has_paths(query)) return {{query, {}}};
  std::vector<Variant> variants;
  for (const Lengths& lengths : all_lengths(query)) {
    Variant variant = make_variant(query, lengths);
    if (may_match(variant)) variants.push_back(std::move(variant));
  }
  return variants;
}

std::optional<Flaw> find_path_flaw(const Query& query) {
  std::size_t count = 1;
  for (std::size_t e = 0; e < query.edges.size(); ++e) {
    if (auto flaw = check_path(query, e)) return flaw;
    if (const auto& bounds = query.edges[e].quantifier) count *= bounds->most - bounds->least + 1;
    if (count > max_variants) {
      return Flaw{Subject::edge, e, fmt::format("the paths have {} or more choices of lengths", count),
                  fmt::format("narrow their bounds to at most {} choices together", max_variants)};
    }
  }
  if (auto flaw = check_path_conditions(query)) return flaw;
  if (!has_paths(query)) return std::nullopt;
  bool possible = false;
  for (const Lengths& lengths : all_lengths(query)) {
    const Variant variant = make_variant(query, lengths);
    if (auto flaw = find_flaw(variant.query)) return flaw_of(variant, std::move(*flaw));
    possible = possible || may_match(variant);
  }
  if (possible) return std::nullopt;
  return Flaw{Subject::query, 0, "no length of the paths can satisfy the conditions",
              "look for conditions that contradict each other or the bounds of a path"};
}

}  // namespace deltamatch::query

namespace deltamatch {

std::vector<Query> variants(const Query& query) {
  validate(query, "query " + query.name);
  std::vector<Query> result;
  for (query::Variant& variant : query::expand(query)) result.push_back(std::move(variant.query));
  return result;
}

}  // namespace deltamatch
