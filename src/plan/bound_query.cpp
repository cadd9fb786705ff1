#include "plan/bound_query.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/label_terms.hpp"
#include "condition/counted.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "query/alike.hpp"
#include "query/edge_symmetry.hpp"

namespace deltamatch::plan {

namespace {

bool intersects(const LabelIds& a, const LabelIds& b) {
  if (a.empty() || b.empty()) return true;
  LabelIds common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return !common.empty();
}

/// Gives each vertex with self-loops a double, to which they lead. Nothing else has the label of doubles, so that automorphisms
/// map them to each other.
Query with_doubles(const Query& pattern) {
  Query query = pattern;
  std::vector<std::uint32_t> doubles(pattern.vertices.size());  // 0: none yet
  for (QueryEdge& edge : query.edges) {
    if (edge.source != edge.target) continue;
    std::uint32_t& second = doubles[edge.source];
    if (second == 0) {
      second = static_cast<std::uint32_t>(query.vertices.size());
      query.vertices.push_back({query.vertices[edge.source].name + "'", {std::string(2, label_negation)}});
    }
    edge.target = second;
    edge.directed = true;
  }
  return query;
}

graph::Direction direction(const graph::DataGraph& graph, const QueryEdge& edge, bool from_source) {
  if (!graph.directed() || !edge.directed) return graph::Direction::both;
  return from_source ? graph::Direction::out : graph::Direction::in;
}

/// What to do if the edges of these names are the two steps of a path that leads back to where it began.
std::string ring_remedy(std::string_view first, std::string_view second) {
  if (!first.ends_with("_1") || !second.ends_with("_2")) return {};
  const std::string_view path = first.substr(0, first.size() - 2);
  if (path != second.substr(0, second.size() - 2)) return {};
  return "begin the path '" + std::string(path) + "' at 3 edges, as in {3,4}, or ";
}

/// Refuses query edges that are alike, if the graph has no such edges, or if matches of them cannot be counted once yet.
void check_alike(const Query& query, CountMode count, const graph::DataGraph& graph, std::uint32_t own) {
  const auto alike = query::find_alike_edges(query, own);
  if (!alike) return;
  const auto name = [&](const query::EdgePair& pair) {
    return "the edges '" + query.edges[pair.first].name + "' and '" + query.edges[pair.second].name + "'";
  };
  if (graph.model() == EdgeModel::simple) {
    throw Error(ErrorKind::configuration, "query " + query.name,
                name(*alike) + " have the same ends and labels, but the graph's edges are 'simple'",
                ring_remedy(query.edges[alike->first].name, query.edges[alike->second].name) +
                    "choose --edges keyed or --edges events, in C++ Schema::model");
  }
  if (count != CountMode::subgraphs) return;
  if (const auto exchange = query::find_exchange(query)) {
    throw Error(ErrorKind::configuration, "query " + query.name,
                name(*exchange) + " may change places, so each match would be found twice",
                "add a condition that tells them apart, such as t1.time < t2.time, or count embeddings");
  }
}

void check_loops(const Query& query, MatchMode mode, const graph::DataGraph& graph, bool induced) {
  const auto loop = std::ranges::find_if(query.edges, [](const QueryEdge& edge) { return edge.source == edge.target; });
  if (loop != query.edges.end() && !graph.keeps_loops()) {
    throw Error(ErrorKind::configuration, "query " + query.name,
                "the edge at '" + query.vertices[loop->source].name + "' is a self-loop, but the graph leaves self-loops out",
                "keep them: --self-loops keep, in a configuration graph.self_loops: keep, in C++ EngineOptions::self_loops");
  }
  if (induced && graph.keeps_loops()) {
    throw Error(ErrorKind::configuration, "query " + query.name, "induced matches of a graph that keeps self-loops",
                "leave self-loops out, or ask for matches that are not induced");
  }
  if (mode != MatchMode::isomorphism && graph.keeps_loops() && counts_something(query)) {
    throw Error(ErrorKind::configuration, "query " + query.name,
                "a condition that counts in this mode, in a graph that keeps self-loops",
                "match by isomorphism, or leave self-loops out");
  }
}

void check(const Query& query, MatchMode mode, CountMode count, const graph::DataGraph& graph, bool induced,
           std::uint32_t own) {
  if (mode != MatchMode::isomorphism && count == CountMode::subgraphs) {
    throw Error(ErrorKind::configuration, "query " + query.name, "subgraphs can be counted only with isomorphism",
                "count embeddings, or use isomorphism");
  }
  condition::check(query, graph.schema(), "query " + query.name);
  check_loops(query, mode, graph, induced);
  check_alike(query, count, graph, own);
  if (graph.directed()) return;
  for (const QueryEdge& edge : query.edges) {
    if (!edge.directed) continue;
    throw Error(ErrorKind::configuration, "query " + query.name,
                "the edge from '" + query.vertices[edge.source].name + "' to '" + query.vertices[edge.target].name +
                    "' is directed, but the data graph is undirected",
                "write the edge as --, or load the graph as directed");
  }
}

}  // namespace

Query standing_form(const Query& query, const QueryOptions& options) {
  if (!options.induced) return query;
  if (options.mode != MatchMode::isomorphism) {
    throw Error(ErrorKind::configuration, "query " + query.name, "a standing query is induced only with isomorphism",
                "use isomorphism, or leave induced out");
  }
  validate(query, "query " + query.name);
  return condition::induced(query);
}

bool counts_something(const Query& query) noexcept {
  const auto counts = [](const std::optional<Expression>& condition) { return condition && condition::counts(*condition); };
  return counts(query.where) || std::ranges::any_of(query.edges, [&](const QueryEdge& edge) { return counts(edge.each); });
}

bool admits(const LabelIds& labels, LabelId label) noexcept {
  return labels.empty() || std::binary_search(labels.begin(), labels.end(), label);
}

namespace {
std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}
}  // namespace

// Labels that the graph does not know have numbers from here on. No table reaches these.
static_assert(LabelTable::max_labels == std::size_t{1} << 31);
constexpr LabelId unknown_label = LabelId{1} << 31;

/// The numbers that satisfy a term, beside its own. They are those of label sets, unless the term asks that a label is absent.
LabelIds BoundQuery::Names::further(std::string_view term, const LabelTable& table) const {
  LabelIds ids;
  const auto look_at = [&](LabelId label) {
    const std::string_view text = table.text(label);
    if (satisfies(sets_ ? split_labels(text) : std::vector{text}, term)) ids.push_back(label);
  };
  if (asks_for_absence(term)) {
    for (LabelId label = 0; label < table.size(); ++label) {
      if (table.in_use(label)) look_at(label);
    }
  } else if (sets_ && !term.empty()) {
    std::ranges::for_each(table.several(), look_at);
  }
  return ids;
}

LabelIds BoundQuery::Names::bind(const LabelSet& labels, const LabelTable& table) {
  LabelIds ids;
  for (const std::string& term : labels) {
    auto at = std::ranges::find(named_, term, &Named::term);
    if (at == named_.end()) {
      const std::optional<LabelId> known = is_plain_term(term) ? table.find(term) : std::nullopt;
      named_.push_back({term, known ? *known : unknown_label + static_cast<LabelId>(named_.size()), further(term, table)});
      at = std::prev(named_.end());
    }
    ids.push_back(at->number);
    ids.insert(ids.end(), at->further.begin(), at->further.end());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  edition_ = table.edition();
  return ids;
}

bool BoundQuery::Names::outdated(const LabelTable& table) const {
  if (edition_ == table.edition()) return false;
  for (const auto& [term, number, others] : named_) {
    const std::optional<LabelId> now = is_plain_term(term) ? table.find(term) : std::nullopt;
    if (now ? *now != number : number < unknown_label) return true;
    if (further(term, table) != others) return true;
  }
  edition_ = table.edition();
  return false;
}

void BoundQuery::bind_symbols() {
  if (symbol_edition_ == graph_->symbols.edition()) return;
  const auto look_up = [&](const condition::Program& program, std::vector<std::int64_t>& numbers) {
    numbers.clear();
    for (const std::string& text : program.texts) {
      const std::optional<std::uint32_t> symbol = graph_->symbols.find(text);
      numbers.push_back(symbol ? std::int64_t{*symbol} : -1 - static_cast<std::int64_t>(numbers.size()));
    }
  };
  symbols.resize(conditions.size());
  for (std::size_t c = 0; c < conditions.size(); ++c) look_up(conditions[c], symbols[c]);
  for (CountedCondition& condition : counted) look_up(condition.program, condition.symbols);
  for (const BoundCount& bound : counts) bound.pattern->bind_symbols();
  symbol_edition_ = graph_->symbols.edition();
}

bool BoundQuery::reads_vertex_attributes() const noexcept {
  using condition::Operation;
  const auto reads = [](const condition::Program& program) {
    return std::ranges::any_of(program.code, [&](const condition::Instruction& step) {
      return step.operation >= Operation::load_exact && step.operation <= Operation::load_symbol &&
             program.elements[step.element].kind == Element::Kind::vertex;
    });
  };
  return std::ranges::any_of(conditions, reads) ||
         std::ranges::any_of(counted, [&](const CountedCondition& condition) { return reads(condition.program); }) ||
         std::ranges::any_of(counts, [](const BoundCount& bound) { return bound.pattern->reads_vertex_attributes(); });
}

bool BoundQuery::outdated() const {
  return vertex_labels_.outdated(graph_->vertex_labels) || edge_labels_.outdated(graph_->edge_labels) ||
         std::ranges::any_of(counts, [](const BoundCount& bound) { return bound.pattern->outdated(); });
}

// Binds the patterns that the condition counts. Equal ones are bound once.
void BoundQuery::bind_counts() {
  counts_ = plan::counts_something(query);
  if (!counts_) return;
  const auto bytes_of = [](const CountedPattern& of) {
    std::string bytes;
    condition::append_bytes(bytes, of);
    return bytes;
  };
  for (condition::Program& program : condition::compile_counted(query, graph_->schema(), "query " + query.name)) {
    CountedCondition& part = counted.emplace_back(CountedCondition{std::move(program), {}, {}});
    for (const condition::Counted& wanted : part.program.counts) {
      const auto same = std::ranges::find(counts, bytes_of(wanted.pattern),
                                          [&](const BoundCount& bound) { return bytes_of(bound.counted.pattern); });
      part.counts.push_back(static_cast<std::uint32_t>(same - counts.begin()));
      if (same == counts.end()) {
        counts.push_back(bind_count(wanted));
      } else {
        same->counted.enough = std::max(same->counted.enough, wanted.enough);
      }
    }
  }
  symbol_edition_.reset();
  bind_symbols();
}

BoundCount BoundQuery::bind_count(const condition::Counted& wanted) const {
  const CountedPattern& inside = wanted.pattern;
  BoundCount bound{wanted, nullptr, {}, true};
  bound.pattern.reset(
      new BoundQuery(condition::extended(query, inside), mode, CountMode::embeddings, *graph_, false, inside.first_edge));
  for (const QueryEdge& edge : inside.edges) {
    for (const std::uint32_t end : {edge.source, edge.target}) {
      if (end < inside.first_vertex) bound.shared.push_back(end);
    }
  }
  std::ranges::sort(bound.shared);
  bound.shared.erase(std::ranges::unique(bound.shared).begin(), bound.shared.end());
  for (const condition::Program& inner : bound.pattern->conditions) {
    for (const Element& element : inner.elements) {
      const bool vertex = element.kind == Element::Kind::vertex;
      const bool own = element.index >= (vertex ? inside.first_vertex : inside.first_edge);
      if (!own && !(vertex && std::ranges::binary_search(bound.shared, element.index))) bound.closed = false;
    }
  }
  return bound;
}

BoundQuery::BoundQuery(const Query& q, MatchMode match_mode, CountMode count_mode, graph::DataGraph& graph, bool only_induced)
    : BoundQuery(q, match_mode, count_mode, graph, only_induced, 0) {}

BoundQuery::BoundQuery(const Query& q, MatchMode match_mode, CountMode count_mode, graph::DataGraph& graph, bool only_induced,
                       std::uint32_t own)
    : pattern((validate(q, "query " + q.name), check(q, match_mode, count_mode, graph, only_induced, own), q)),
      query(with_doubles(pattern)),
      mode(match_mode),
      count(count_mode),
      induced(only_induced),
      id(next_id()),
      group(query),
      time_bounds(condition::time_bounds(query, "query " + q.name)),
      graph_(&graph),
      neighbours_(query.vertices.size()) {
  has_alike_edges_ = query::find_alike_edges(query).has_value();
  if (query.where) conditions = condition::compile_all(query, graph.schema(), "query " + query.name);
  bind_symbols();
  bind_counts();
  for (const QueryVertex& vertex : pattern.vertices) labels.push_back(vertex_labels_.bind(vertex.labels, graph.vertex_labels));
  labels.resize(query.vertices.size());
  edges.reserve(query.edges.size());
  replaced_.reserve(2 * query.edges.size());
  std::vector<graph::QueryRelationId> added;
  added.reserve(2 * query.edges.size() + query.vertices.size());
  const auto add = [&](const graph::QueryRelation& query_relation) {
    added.push_back(graph.add_query_relation(query_relation));
    return added.back();
  };
  try {
    for (const QueryEdge& edge : query.edges) {
      const bool loop = is_double(edge.target);
      if (loop) labels[edge.target] = labels[edge.source];
      BoundEdge bound{edge.source,
                      edge.target,
                      loop || (edge.directed && graph.directed()),
                      edge_labels_.bind(edge.labels, graph.edge_labels),
                      {}};
      const auto along = [&](bool from_source) { return loop ? graph::Direction::loop : direction(graph, edge, from_source); };
      bound.query_relation[0] = add({along(true), bound.labels, labels[edge.target], !loop && takes_loops()});
      bound.query_relation[1] = add({along(false), bound.labels, labels[edge.source], !loop && takes_loops()});
      edges.push_back(std::move(bound));
      neighbours_[edge.source] |= 1u << edge.target;
      neighbours_[edge.target] |= 1u << edge.source;
    }
    for (std::size_t v = 0; induced && v < labels.size(); ++v) any_edge.push_back(add({graph::Direction::both, {}, labels[v]}));
  } catch (...) {
    for (const graph::QueryRelationId query_relation : added) graph.drop_query_relation(query_relation);
    throw;
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const BoundEdge& a = edges[i];
      const BoundEdge& b = edges[j];
      const bool same = a.source == b.source && a.target == b.target;
      const bool crossed = a.source == b.target && a.target == b.source;
      if (!same && !crossed) continue;
      const bool opposed = a.directed && b.directed && crossed;
      if (!opposed && intersects(a.labels, b.labels)) edges_may_coincide_ = true;
    }
  }
}

BoundQuery::~BoundQuery() {
  for (const BoundEdge& edge : edges) {
    for (const graph::QueryRelationId query_relation : edge.query_relation) graph_->drop_query_relation(query_relation);
  }
  for (const graph::QueryRelationId query_relation : any_edge) graph_->drop_query_relation(query_relation);
  for (const Replaced& replaced : replaced_) graph_->drop_query_relation(replaced.query_relation);
}

void BoundQuery::restrict(std::uint32_t edge, unsigned end, graph::QueryRelationId query_relation) noexcept {
  graph::QueryRelationId& held = edges[edge].query_relation[end];
  replaced_.push_back({edge, end, held});  // its capacity was reserved
  held = query_relation;
}

void BoundQuery::lift_restrictions() noexcept {
  for (; !replaced_.empty(); replaced_.pop_back()) {
    graph::QueryRelationId& held = edges[replaced_.back().edge].query_relation[replaced_.back().end];
    graph_->drop_query_relation(held);
    held = replaced_.back().query_relation;
  }
}

bool is_absent(const LabelIds& labels) noexcept { return !labels.empty() && labels.front() >= unknown_label; }

bool BoundQuery::compatible(std::uint32_t u, std::uint32_t v) const noexcept {
  if (is_double(u) || is_double(v)) return false;
  const LabelIds& a = labels[u];
  const LabelIds& b = labels[v];
  if (a.empty() || b.empty()) return true;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    *i < *j ? ++i : ++j;
  }
  return false;
}

}  // namespace deltamatch::plan
