#include "query/edge_symmetry.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "condition/counted.hpp"
#include "condition/normal.hpp"
#include "query/arcs.hpp"
#include "query/condition_symmetry.hpp"
#include "query/structure.hpp"

namespace deltamatch::query {

namespace {

constexpr std::size_t most_steps = 100'000;

std::string bytes_of(const Expression& expression) {
  std::string bytes;
  condition::append_bytes(bytes, expression);
  return bytes;
}

/// Gives images to vertices in their order, and to the edges between them as soon as both ends have theirs.
class Search {
 public:
  explicit Search(const Query& query)
      : query_(&query), structure_(query), action_(query), numbers_(query.edges.size()), images_of_edges_(query.edges.size()) {
    std::iota(numbers_.begin(), numbers_.end(), 0U);
    for (Vertex vertex = 0; vertex < structure_.size; ++vertex) {
      steps_.push_back({.vertex = vertex});
      for (std::uint32_t edge = 0; edge < query.edges.size(); ++edge) {
        if (std::max(query.edges[edge].source, query.edges[edge].target) == vertex)
          steps_.push_back({.vertex = vertex, .edge = edge});
      }
    }
    for (Expression& conjunct : condition::conjuncts(condition::normal_form(*query.where, numbers_))) {
      forms_.insert(bytes_of(conjunct));
      steps_[find_last(conjunct)].tested.push_back(std::move(conjunct));
    }
  }

  /// Finds a symmetry that fixes all vertices below `base` and maps `base` to `image`, and, if `moves`, exchanges alike edges
  /// without moving a vertex.
  bool find(Vertex base, Vertex image, bool moves) {
    base_ = base;
    image_ = image;
    moves_ = moves;
    images_ = identity();
    taken_ = 0;
    taken_edges_.assign(query_->edges.size(), false);
    return extend(0);
  }
  [[nodiscard]] bool gave_up() const noexcept { return left_ == 0; }

  /// Two edges that the symmetry exchanges, and that Aut(Q) does not.
  [[nodiscard]] EdgePair exchanged() const {
    for (std::uint32_t edge = 0; edge < images_of_edges_.size(); ++edge) {
      const std::uint32_t image = images_of_edges_[edge];
      if (image != edge && image != action_.image(edge, images_)) return std::minmax(edge, image);
    }
    return find_alike_edges(*query_).value();  // not reached
  }

 private:
  struct Step {
    Vertex vertex;
    std::optional<std::uint32_t> edge = std::nullopt;  ///< gets its image in this step; else the vertex does
    std::vector<Expression> tested = {};               ///< parts of the condition all of whose elements have images then
  };

  /// The step after which all elements that a part of the condition mentions have images.
  [[nodiscard]] std::size_t find_last(const Expression& conjunct) const {
    std::size_t last = 0;
    condition::for_each_mention(conjunct, [&](Element::Kind kind, std::uint32_t index) {
      const bool of_edge = kind == Element::Kind::edge;
      const auto at = std::ranges::find_if(
          steps_, [&](const Step& step) { return of_edge ? step.edge == index : !step.edge && step.vertex == index; });
      last = std::max(last, static_cast<std::size_t>(at - steps_.begin()));
    });
    return last;
  }

  bool extend(std::size_t at) {  // NOLINT(misc-no-recursion): one level for each vertex and edge
    if (at == steps_.size()) return !moves_ || images_of_edges_ != numbers_;
    if (left_ == 0) return false;
    --left_;
    const Step& step = steps_[at];
    return step.edge ? extend_edge(at, *step.edge) : extend_vertex(at, step.vertex);
  }

  bool extend_vertex(std::size_t at, Vertex vertex) {  // NOLINT(misc-no-recursion): as above
    for (Vertex image = 0; image < structure_.size; ++image) {
      if ((vertex < base_ && image != vertex) || (vertex == base_ && image != image_) || (moves_ && image != vertex)) continue;
      if ((taken_ >> image & 1U) != 0 || !fits(vertex, image)) continue;
      images_[vertex] = static_cast<std::uint8_t>(image);
      taken_ |= 1U << image;
      if (holds(steps_[at]) && extend(at + 1)) return true;
      taken_ &= ~(1U << image);
    }
    return false;
  }

  bool extend_edge(std::size_t at, std::uint32_t edge) {  // NOLINT(misc-no-recursion): as above
    const std::uint32_t first = action_.image(edge, images_);
    for (std::uint32_t image = 0; image < query_->edges.size(); ++image) {
      if (taken_edges_[image] || (image != first && !alike(*query_, image, first))) continue;
      images_of_edges_[edge] = image;
      taken_edges_[image] = true;
      if (holds(steps_[at]) && extend(at + 1)) return true;
      taken_edges_[image] = false;
    }
    return false;
  }

  [[nodiscard]] bool fits(Vertex vertex, Vertex image) const noexcept {
    if (structure_.vertex[vertex] != structure_.vertex[image]) return false;
    for (Vertex other = 0; other < vertex; ++other) {
      if (structure_.pair[image][images_[other]] != structure_.pair[vertex][other]) return false;
      if (structure_.pair[images_[other]][image] != structure_.pair[other][vertex]) return false;
    }
    return true;
  }

  [[nodiscard]] bool holds(const Step& step) const {
    return std::ranges::all_of(step.tested, [&](Expression conjunct) {
      map(conjunct);
      return forms_.contains(bytes_of(condition::normal_form(conjunct, numbers_)));
    });
  }
  void map(Expression& node) const {
    condition::for_each_mention(node, [&](Element::Kind kind, std::uint32_t& index) {
      index = kind == Element::Kind::vertex ? images_[index] : images_of_edges_[index];
    });
  }

  const Query* query_;
  Structure structure_;
  EdgeAction action_;
  std::vector<std::uint32_t> numbers_;  // of edges
  std::vector<Step> steps_;
  std::set<std::string> forms_;  // of all parts of the condition
  Vertex base_ = 0;
  Vertex image_ = 0;
  bool moves_ = false;
  Permutation images_{};
  std::vector<std::uint32_t> images_of_edges_;
  std::uint32_t taken_ = 0;  // vertices that are images, as bits
  std::vector<bool> taken_edges_;
  std::size_t left_ = most_steps;
};

}  // namespace

std::optional<EdgePair> find_exchange(const Query& query) {
  const std::optional<EdgePair> alike_edges = find_alike_edges(query);
  if (!alike_edges || !query.where) return alike_edges;
  Search search(query);
  if (search.find(0, 0, true)) return search.exchanged();
  // Now a permutation of the vertices permutes the edges in at most one way. So both groups are the same if their orbits are.
  const Structure structure(query);
  const ConditionSymmetry known(query);
  for (Vertex base = 0; base < structure.size; ++base) {
    for (Vertex image = base + 1; image < structure.size; ++image) {
      if (search.find(base, image, false) && !known.find(structure, base, image)) return search.exchanged();
    }
  }
  return search.gave_up() ? alike_edges : std::nullopt;
}

}  // namespace deltamatch::query
