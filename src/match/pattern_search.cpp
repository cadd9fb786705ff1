#include "match/pattern_search.hpp"

#include <algorithm>
#include <limits>

#include "condition/evaluate.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

constexpr graph::Edge least_edge{0, 0, 0};
constexpr VertexId no_vertex = std::numeric_limits<VertexId>::max() - 1;  // one more can still be counted
constexpr graph::Edge greatest_edge{no_vertex, no_vertex, std::numeric_limits<std::uint32_t>::max()};

/// Calls visit(neighbour, tag) for the entries of a view, or only for those that lead to `only`. Entries without tags have the
/// tag `single`. Stops once `visit` returns false, and then returns false.
template <class Visit>
bool visit_entries(const ListView& view, std::uint32_t single, std::optional<VertexId> only, const Visit& visit) {
  std::uint32_t i = only ? static_cast<std::uint32_t>(lower_bound(view.ids, view.count, *only)) : 0;
  std::uint32_t m = only ? static_cast<std::uint32_t>(lower_bound(view.minus, view.minus_count, *only)) : 0;
  for (; i < view.count && (!only || view.ids[i] == *only); ++i) {
    if (m < view.minus_count && view.minus[m] == view.ids[i] && (!view.parallel || view.minus_tags[m] == view.tags[i])) {
      ++m;
    } else if (!visit(view.ids[i], view.tagged ? view.tags[i] : single)) {
      return false;
    }
  }
  std::uint32_t p = only ? static_cast<std::uint32_t>(lower_bound(view.plus, view.plus_count, *only)) : 0;
  for (; p < view.plus_count && (!only || view.plus[p] == *only); ++p) {
    if (!visit(view.plus[p], view.tagged ? view.plus_tags[p] : single)) return false;
  }
  return true;
}

}  // namespace

PatternSearch::PatternSearch(const plan::BoundQuery& query, std::uint32_t first_edge, std::span<const graph::Resolved> resolved)
    : query_(&query),
      first_edge_(first_edge),
      lists_(query.graph().base(), resolved, query.graph().directed(), Pass::whole),
      resolved_(resolved),
      bound_edges_(query.edges.size()),
      vertices_(query.vertices()),
      edges_(query.edges.size()),
      of_vertex_(query.vertices()),
      of_edge_(query.edges.size()) {
  for (std::size_t e = first_edge; e < query.edges.size(); ++e)
    own_vertices_ |= 1U << query.edges[e].source | 1U << query.edges[e].target;
  for (std::uint32_t c = 0; c < query.conditions.size(); ++c) {
    all_.push_back(c);
    for (const Element& element : query.conditions[c].elements)
      (element.kind == Element::Kind::vertex ? of_vertex_ : of_edge_)[element.index].push_back(c);
  }
}

void PatternSearch::begin(GraphState state, std::optional<Timestamp> aged) {
  aged_ = aged;
  bound_vertices_ = 0;
  std::ranges::fill(bound_edges_, std::uint8_t{0});
  const bool before = state == GraphState::before || state == GraphState::aged;
  const Pass pass = state == GraphState::settled ? Pass::whole : before ? Pass::removed : Pass::added;
  lists_.begin(pass);
  // No changed edge has a lower rank than the least, and none a higher one than the greatest.
  lists_.anchor(state == GraphState::stable ? greatest_edge : least_edge);
}

void PatternSearch::give_vertex(std::uint32_t vertex, VertexId image) noexcept {
  vertices_[vertex] = image;
  bound_vertices_ |= 1U << vertex;
}

void PatternSearch::give_edge(std::uint32_t edge, const graph::Edge& image) noexcept {
  edges_[edge] = image;
  bound_edges_[edge] = 1;
}

bool PatternSearch::bind_vertex(std::uint32_t vertex, VertexId image) {
  if (bound(vertex)) return vertices_[vertex] == image;
  return plan::admits(query_->labels[vertex], query_->graph().dictionary.label(image)) && bind_labelled(vertex, image);
}

// The same for an image that has one of the wanted labels, as all entries of a list have.
bool PatternSearch::bind_labelled(std::uint32_t vertex, VertexId image) {
  if (bound(vertex)) return vertices_[vertex] == image;
  if (query_->mode == MatchMode::isomorphism) {
    for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
      if ((own_vertices_ >> v & 1U) != 0 && bound(v) && vertices_[v] == image) return false;
    }
  }
  give_vertex(vertex, image);
  return conditions_hold(of_vertex_[vertex]);
}

bool PatternSearch::bind_edge(std::uint32_t edge, const graph::Edge& image, bool forward) {
  const plan::BoundEdge& bound = query_->edges[edge];
  if (!plan::admits(bound.labels, query_->graph().label_of(image)) || !admits(edge, image)) return false;
  if (!bind_vertex(bound.source, forward ? image.tail : image.head)) return false;
  if (!bind_vertex(bound.target, forward ? image.head : image.tail)) return false;
  give_edge(edge, image);
  return conditions_hold(of_edge_[edge]);
}

bool PatternSearch::run(const std::function<bool()>& found) {
  const ScratchScope scope(scratch_);
  // What is given is not tested then, and some conditions read no element at all.
  return conditions_hold(all_) ? descend(found) : true;
}

ListView PatternSearch::view_of(std::uint32_t edge, bool at_source) {
  const plan::BoundEdge& bound = query_->edges[edge];
  const VertexId vertex = vertices_[at_source ? bound.source : bound.target];
  const graph::QueryRelationId relation = bound.query_relation[at_source ? 0 : 1];
  const graph::Adjacency* store = resolved_[relation].store;
  if (store == nullptr || vertex >= store->vertices()) return {};
  return lists_.view(relation, vertex, true, scratch_);
}

/// The next edge, with the shortest list at one of its ends; nullopt if none is left.
std::optional<PatternSearch::Choice> PatternSearch::next() {
  std::optional<Choice> best;
  for (std::uint32_t e = first_edge_; e < query_->edges.size(); ++e) {
    if (bound_edges_[e] != 0) continue;
    for (const bool at_source : {true, false}) {
      if (!bound(at_source ? query_->edges[e].source : query_->edges[e].target)) continue;
      const ListView view = view_of(e, at_source);
      if (!best || view.size() < best->view.size()) best = Choice{e, at_source, view};
    }
  }
  return best;
}

bool PatternSearch::descend(const std::function<bool()>& found) {  // NOLINT(misc-no-recursion): as deep as there are edges
  const ScratchScope scope(scratch_);
  const std::optional<Choice> choice = next();
  if (!choice) return found();
  const plan::BoundEdge& edge = query_->edges[choice->edge];
  const std::uint32_t other = choice->at_source ? edge.target : edge.source;
  const graph::Resolved& where = resolved_[edge.query_relation[choice->at_source ? 0 : 1]];
  const std::optional<VertexId> only = bound(other) ? std::optional(vertices_[other]) : std::nullopt;
  return visit_entries(choice->view, graph::entry_tag(where.edge_label, where.incoming), only,
                       [&](VertexId neighbour, std::uint32_t tag) { return attempt(*choice, neighbour, tag, found); });
}

bool PatternSearch::attempt(const Choice& choice, VertexId neighbour, std::uint32_t tag,
                            const std::function<bool()>& found) {  // NOLINT(misc-no-recursion)
  const plan::BoundEdge& edge = query_->edges[choice.edge];
  const VertexId owner = vertices_[choice.at_source ? edge.source : edge.target];
  const graph::Edge image = lists_.edge_of(owner, neighbour, tag >> 1, (tag & 1U) != 0);
  if (!admits(choice.edge, image)) return true;
  const std::uint32_t before = bound_vertices_;
  bool on = true;
  if (bind_labelled(choice.at_source ? edge.target : edge.source, neighbour)) {
    give_edge(choice.edge, image);
    if (conditions_hold(of_edge_[choice.edge])) on = descend(found);
    bound_edges_[choice.edge] = 0;
  }
  bound_vertices_ = before;
  return on;
}

// Whether the image is young enough, and no other edge of the pattern has it.
bool PatternSearch::admits(std::uint32_t edge, const graph::Edge& image) const noexcept {
  if (aged_) {
    const auto time = query_->graph().edge_table->time(image.which);
    if (!time || *time <= *aged_) return false;
  }
  if (query_->mode == MatchMode::homomorphism) return true;
  for (std::uint32_t e = first_edge_; e < edges_.size(); ++e) {
    if (e != edge && bound_edges_[e] != 0 && edges_[e] == image) return false;
  }
  return true;
}

// Tests those of the conditions of which all elements have images.
bool PatternSearch::conditions_hold(std::span<const std::uint32_t> conditions) const {
  return std::ranges::all_of(conditions, [&](std::uint32_t c) {
    const condition::Program& program = query_->conditions[c];
    const bool ready = std::ranges::all_of(program.elements, [&](const Element& element) {
      return element.kind == Element::Kind::vertex ? bound(element.index) : bound_edges_[element.index] != 0;
    });
    return !ready || condition::evaluate(program, plan::BoundValues(*query_, c, vertices_, edges_)) == condition::Truth::yes;
  });
}

}  // namespace deltamatch::match
