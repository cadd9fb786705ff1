// Builds the stabiliser chain from its far end. If the subgroup that fixes 0..b is known, the one that fixes 0..b-1 needs one
// search per orbit of possible images of b. So at most n searches succeed per level, and one fails per orbit.
#include "query/automorphism.hpp"

#include <algorithm>

#include "query/condition_symmetry.hpp"
#include "query/isomorphism.hpp"

namespace deltamatch::query {
namespace {

/// Returns the orbit of `base` under the generators, with a representative for each element.
Level orbit_of(Vertex base, const std::vector<Permutation>& generators) {
  Level level{base, {base}, {identity()}};
  std::array<bool, max_query_vertices> seen{};
  seen[base] = true;
  for (std::size_t i = 0; i < level.orbit.size(); ++i) {
    for (const Permutation& g : generators) {
      const Vertex image = g[level.orbit[i]];
      if (seen[image]) continue;
      seen[image] = true;
      level.orbit.push_back(image);
      level.transversal.push_back(compose(level.transversal[i], g));
    }
  }
  return level;
}

/// Sorts orbit and transversal by orbit element.
void sort_level(Level& level) {
  std::array<Permutation, max_query_vertices> by_vertex;
  for (std::size_t i = 0; i < level.orbit.size(); ++i) by_vertex[level.orbit[i]] = level.transversal[i];
  std::sort(level.orbit.begin(), level.orbit.end());
  for (std::size_t i = 0; i < level.orbit.size(); ++i) level.transversal[i] = by_vertex[level.orbit[i]];
}

}  // namespace

Group::Group(const Query& query)
    : Group(Structure(query), query.where ? std::make_shared<ConditionSymmetry>(query) : nullptr) {}

Group::Group(const Structure& structure, std::shared_ptr<const ConditionSymmetry> condition)
    : structure_(structure), condition_(std::move(condition)) {
  if (condition_) {
    build([&](Vertex base, Vertex image) { return condition_->find(structure_, base, image); });
    return;
  }
  const auto n = static_cast<Vertex>(structure_.size);
  std::vector<Colouring> fixed(n);  // [b]: vertices 0..b-1 have colours of their own, refined
  Colouring colouring = structure_.vertex;
  for (Vertex b = 0; b < n; ++b) {
    Colouring same = colouring;
    static_cast<void>(refine(structure_, colouring, same));  // a colouring never differs from itself
    fixed[b] = colouring;
    const bool discrete = *std::max_element(colouring.begin(), colouring.begin() + n) + 1U == n;  // colours are ranks
    if (discrete) {
      std::fill(fixed.begin() + b, fixed.end(), colouring);
      break;
    }
    colouring = individualise(colouring, b);
  }
  build([&](Vertex base, Vertex image) -> std::optional<Permutation> {
    if (fixed[base][image] != fixed[base][base]) return std::nullopt;
    return find_automorphism(structure_, individualise(fixed[base], base), individualise(fixed[base], image));
  });
}

void Group::build(const Find& find) {
  const auto n = static_cast<Vertex>(structure_.size);
  for (Vertex b = n; b-- > 0;) {
    Level level = orbit_of(b, generators_);
    std::array<bool, max_query_vertices> impossible{};
    for (Vertex image = b + 1; image < n; ++image) {
      if (impossible[image]) continue;
      if (std::find(level.orbit.begin(), level.orbit.end(), image) != level.orbit.end()) continue;
      const auto found = find(b, image);
      if (found) {
        generators_.push_back(*found);
        level = orbit_of(b, generators_);
      } else {
        // If b cannot map to a vertex, it cannot map to the vertex's images under elements that fix 0..b-1 either.
        for (const Vertex v : orbit_of(image, generators_).orbit) impossible[v] = true;
      }
    }
    if (level.orbit.size() == 1) continue;
    sort_level(level);
    chain_.push_back(std::move(level));
  }
  std::reverse(chain_.begin(), chain_.end());
}

Count Group::order() const noexcept {
  Count order = 1;
  for (const Level& level : chain_) order *= level.orbit.size();  // divides 32!, which is less than 2^118
  return order;
}

Group Group::stabiliser(std::span<const Vertex> vertices) const {
  Structure marked = structure_;
  Colour last = *std::max_element(marked.vertex.begin(), marked.vertex.end());
  for (const Vertex v : vertices) marked.vertex[v] = ++last;
  return Group(marked, condition_);
}

std::vector<Vertex> Group::orbit(Vertex vertex) const {
  std::vector<Vertex> result = orbit_of(vertex, generators_).orbit;
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<OrderConstraint> order_constraints(const Group& group) {
  std::vector<OrderConstraint> result;
  for (const Level& level : group.chain()) {
    for (const Vertex v : level.orbit) {
      if (v != level.base) result.emplace_back(level.base, v);
    }
  }
  return result;
}

}  // namespace deltamatch::query
