#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/label_terms.hpp"
#include "condition/counted.hpp"
#include "condition/final_bounds.hpp"
#include "condition/form.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "query/flaw.hpp"
#include "query/paths.hpp"

namespace deltamatch {
namespace query {
namespace {

using Subject = Flaw::Subject;

bool sorted_set(const LabelSet& labels) {
  return std::adjacent_find(labels.begin(), labels.end(), std::greater_equal<>()) == labels.end() &&
         std::all_of(labels.begin(), labels.end(), is_term);
}

/// The number of vertices with self-loops.
std::size_t looped_vertices(const Query& query) {
  std::unordered_set<std::uint32_t> looped;
  for (const QueryEdge& edge : query.edges) {
    if (edge.source == edge.target && !edge.quantifier) looped.insert(edge.source);
  }
  return looped.size();
}

std::optional<Flaw> check_vertices(const Query& query) {
  const std::size_t count = query.vertices.size();
  const std::size_t looped = looped_vertices(query);
  const bool counted = query.where && condition::counts(*query.where);
  const bool alone = count == 1 && (counted || has_paths(query));  // a ring may have one named vertex
  if (count + looped < min_query_vertices && !alone) {
    return Flaw{count == 0 ? Subject::query : Subject::vertex, 0,
                fmt::format("the query has {} {}", count, count == 1 ? "vertex" : "vertices"),
                fmt::format("write a query of {} to {} vertices{}", min_query_vertices, max_query_vertices,
                            count == 1 ? ", or let its condition count" : "")};
  }
  if (count > max_query_vertices) {
    return Flaw{Subject::vertex, max_query_vertices, fmt::format("the query has {} vertices", count),
                fmt::format("write a query of {} to {} vertices", min_query_vertices, max_query_vertices)};
  }
  if (count + looped > max_query_vertices) {
    return Flaw{Subject::query, 0,
                fmt::format("the query has {} vertices, of which {} have self-loops and count twice", count, looped),
                fmt::format("write a query of {} to {} vertices", min_query_vertices, max_query_vertices)};
  }
  std::unordered_map<std::string_view, std::size_t> names;
  for (std::size_t v = 0; v < count; ++v) {
    const QueryVertex& vertex = query.vertices[v];
    if (vertex.name.empty()) return Flaw{Subject::vertex, v, fmt::format("vertex {} has no name", v), "name every vertex"};
    if (!names.emplace(vertex.name, v).second) {
      return Flaw{Subject::vertex, v, fmt::format("two vertices have the name '{}'", shown(vertex.name)),
                  "give each vertex its own name"};
    }
    if (!sorted_set(vertex.labels)) {
      return Flaw{Subject::vertex, v, fmt::format("the labels of vertex '{}' are not sorted and distinct", shown(vertex.name)),
                  "sort them and leave out duplicates"};
    }
  }
  return std::nullopt;
}

std::optional<Flaw> check_edges(const Query& query) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, bool, const LabelSet&>;
  std::map<Key, std::size_t> seen;  // to the first edge that is like it
  std::unordered_set<std::string_view> names;
  for (const QueryVertex& vertex : query.vertices) names.insert(vertex.name);
  for (std::size_t e = 0; e < query.edges.size(); ++e) {
    const QueryEdge& edge = query.edges[e];
    if (edge.source >= query.vertices.size() || edge.target >= query.vertices.size()) {
      return Flaw{Subject::edge, e,
                  fmt::format("edge {} joins the vertices {} and {}, but there are {}", e, edge.source, edge.target,
                              query.vertices.size()),
                  "number vertices from 0"};
    }
    const std::string source = shown(query.vertices[edge.source].name);
    const std::string target = shown(query.vertices[edge.target].name);
    if (edge.source == edge.target && !edge.quantifier && query.where && condition::counts(*query.where)) {
      return Flaw{Subject::edge, e, fmt::format("the edge at '{}' is a self-loop, and the condition counts", source),
                  "leave the edge out, or the count"};
    }
    if (!sorted_set(edge.labels)) {
      return Flaw{Subject::edge, e,
                  fmt::format("the labels of the edge from '{}' to '{}' are not sorted and distinct", source, target),
                  "sort them and leave out duplicates"};
    }
    if (std::ranges::any_of(edge.labels, [](std::string_view term) { return is_several_labels(term) && !is_absence(term); })) {
      return Flaw{Subject::edge, e, fmt::format("the edge from '{}' to '{}' must have several labels at once", source, target),
                  "an edge has one label: give alternatives"};
    }
    const bool flip = !edge.directed && edge.source > edge.target;
    const bool directed = edge.directed && edge.source != edge.target;  // a self-loop has no direction
    const Key key(flip ? edge.target : edge.source, flip ? edge.source : edge.target, directed, edge.labels);
    const auto [like, fresh] = edge.quantifier ? std::pair(seen.end(), true) : seen.emplace(key, e);
    if (!fresh && (edge.name.empty() || query.edges[like->second].name.empty())) {
      return Flaw{Subject::edge, e,
                  edge.directed ? fmt::format("the edge from '{}' to '{}' occurs twice, with the same labels", source, target)
                                : fmt::format("the undirected edge between '{}' and '{}' occurs twice, with the same labels",
                                              source, target),
                  "leave one of the two out, give them different labels, or give both a name"};
    }
    if (!edge.name.empty() && !names.emplace(edge.name).second) {
      return Flaw{Subject::edge, e, fmt::format("two elements named '{}'", shown(edge.name)),
                  "give each vertex and each edge a name of its own"};
    }
  }
  return std::nullopt;
}

std::optional<Flaw> check_conditions(const Query& query) {
  if (query.where) {
    if (const auto what = condition::find_flaw(*query.where, query.vertices.size(), query.edges.size())) {
      return Flaw{Subject::query, 0, "a condition that is not well formed: " + *what,
                  "parse_pattern makes well-formed conditions"};
    }
  }
  if (query.where) {
    std::optional<Flaw> flaw;
    condition::for_each_count(*query.where, [&](const Expression& count) {
      const auto is_loop = [](const QueryEdge& edge) { return edge.source == edge.target; };
      if (!flaw) flaw = find_flaw(condition::extended(query, count.pattern[0]));
      if (!flaw && std::ranges::any_of(count.pattern[0].edges, is_loop))
        flaw = Flaw{Subject::query, 0, "a self-loop", "leave it out"};
    });
    if (flaw) return Flaw{Subject::query, 0, "in a counted pattern: " + flaw->what, flaw->remedy};
  }
  if (query.within && query.within->microseconds <= 0) {
    return Flaw{Subject::query, 0, "WITHIN a duration that is not positive", "give a positive duration"};
  }
  return std::nullopt;
}

std::optional<Flaw> check_connected(const Query& query) {
  std::vector<std::size_t> component(query.vertices.size());
  std::iota(component.begin(), component.end(), std::size_t{0});
  for (const QueryEdge& edge : query.edges) {
    const auto [low, high] = std::minmax(component[edge.source], component[edge.target]);
    std::replace(component.begin(), component.end(), std::size_t{high}, std::size_t{low});
  }
  std::vector<std::string> parts;
  std::size_t stray = 0;  // the first vertex that is not connected to vertex 0
  for (std::size_t root = 0; root < component.size(); ++root) {
    if (component[root] != root) continue;
    std::vector<std::string> names;
    for (std::size_t v = root; v < component.size(); ++v) {
      if (component[v] == root) names.push_back(shown(query.vertices[v].name));
    }
    parts.push_back(fmt::format("{{{}}}", fmt::join(names, ",")));
    if (parts.size() == 2) stray = root;
  }
  if (parts.size() == 1) return std::nullopt;
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return Flaw{Subject::vertex, stray,
              fmt::format("the query is disconnected: no edge joins the vertices {} and {}", fmt::join(parts, ", "), last),
              "join them by an edge, or write them as two queries"};
}

std::optional<Flaw> check_final(const Query& query) {
  if (!query.emit_final || has_paths(query)) return std::nullopt;  // the variants of paths are checked
  if (!query.where || !condition::counts(*query.where))
    return Flaw{Subject::emission, 0, "EMIT FINAL without COUNT or EXISTS",
                "leave it out: nothing that comes later can change a match"};
  if (const auto edge = condition::unbounded_edge(query))
    return Flaw{Subject::emission, 0, fmt::format("EMIT FINAL has to know the latest time of {}, which is counted", *edge),
                "bound it by an edge of the pattern, as in EXISTS { (b)-[u]->(a) WHERE u.time <= t.time + 5m }"};
  return std::nullopt;
}

std::optional<Flaw> check_alerts(const Query& query) {
  if (!query.once) return std::nullopt;
  const std::vector<std::uint32_t>& vertices = query.once->vertices;
  const bool ascending = std::ranges::adjacent_find(vertices, std::greater_equal<>()) == vertices.end();
  if (vertices.empty() || !ascending || vertices.back() >= query.vertices.size())
    return Flaw{Subject::query, 0, "ALERT ONCE PER vertices that are no list of vertices of the query",
                "name vertices by ascending numbers, each once"};
  if (query.once->every.microseconds <= 0)
    return Flaw{Subject::query, 0, "ALERT ONCE EVERY duration that is not positive", "give a positive duration"};
  return std::nullopt;
}

}  // namespace

std::optional<Flaw> find_flaw(const Query& query) {
  if (auto flaw = check_vertices(query)) return flaw;
  if (auto flaw = check_edges(query)) return flaw;
  if (auto flaw = check_conditions(query)) return flaw;
  if (auto flaw = check_final(query)) return flaw;
  if (auto flaw = check_alerts(query)) return flaw;
  if (auto flaw = check_connected(query)) return flaw;
  return find_path_flaw(query);
}

void refuse_flaws(const Query& query, const TextPositions& places, const SourceText& source) {
  const auto flaw = find_flaw(query);
  if (!flaw) return;
  std::size_t offset = 0;
  if (flaw->subject == Subject::vertex) offset = places.vertices[flaw->index];
  if (flaw->subject == Subject::edge) offset = places.edges[flaw->index];
  if (flaw->subject == Subject::emission) offset = places.emission;
  source.fail(offset, flaw->what, flaw->remedy);
}

}  // namespace query

void validate(const Query& query, std::string_view where) {
  if (const auto flaw = query::find_flaw(query)) throw Error(ErrorKind::configuration, where, flaw->what, flaw->remedy);
}

}  // namespace deltamatch
