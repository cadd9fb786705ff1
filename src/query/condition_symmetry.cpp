#include "query/condition_symmetry.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "condition/counted.hpp"
#include "condition/normal.hpp"

namespace deltamatch::query {
namespace {

void greatest_vertex(const Query& query, const Expression& node, Vertex& last) {
  condition::for_each_mention(node, [&](Element::Kind kind, std::uint32_t index) {
    if (kind == Element::Kind::vertex) {
      last = std::max(last, index);
    } else {
      const QueryEdge& edge = query.edges[index];
      last = std::max({last, edge.source, edge.target});
    }
  });
}

void map(Expression& node, const EdgeAction& action, const Permutation& images) {
  condition::for_each_mention(node, [&](Element::Kind kind, std::uint32_t& index) {
    index = kind == Element::Kind::vertex ? images[index] : action.image(index, images);
  });
}

std::string bytes_of(const Expression& expression) {
  std::string bytes;
  condition::append_bytes(bytes, expression);
  return bytes;
}

}  // namespace

ConditionSymmetry::ConditionSymmetry(const Query& query) : action_(query), own_numbers_(query.edges.size()) {
  std::iota(own_numbers_.begin(), own_numbers_.end(), 0U);
  for (Expression& conjunct : condition::conjuncts(condition::normal_form(*query.where, own_numbers_))) {
    Vertex last = 0;
    greatest_vertex(query, conjunct, last);
    forms_.insert(bytes_of(conjunct));
    parts_.push_back({std::move(conjunct), last});
  }
}

std::optional<Permutation> ConditionSymmetry::find(const Structure& structure, Vertex base, Vertex image) const {
  Permutation images = identity();
  std::uint32_t taken = 0;
  for (Vertex v = 0; v < base; ++v) taken |= 1U << v;
  if (structure.vertex[base] != structure.vertex[image]) return std::nullopt;
  images[base] = static_cast<std::uint8_t>(image);
  taken |= 1U << image;
  if (!fits(structure, base, images) || !extend(structure, base + 1, images, taken)) return std::nullopt;
  return images;
}

// Gives images to `vertex` and all vertices above it.
bool ConditionSymmetry::extend(const Structure& structure, Vertex vertex, Permutation& images,
                               std::uint32_t taken) const {  // NOLINT(misc-no-recursion): at most 32 deep
  if (vertex == structure.size) return true;
  for (Vertex image = 0; image < structure.size; ++image) {
    if ((taken >> image & 1U) != 0 || structure.vertex[vertex] != structure.vertex[image]) continue;
    images[vertex] = static_cast<std::uint8_t>(image);
    if (fits(structure, vertex, images) && extend(structure, vertex + 1, images, taken | 1U << image)) return true;
  }
  return false;
}

// Whether the image of `vertex` agrees with those of the vertices below it.
bool ConditionSymmetry::fits(const Structure& structure, Vertex vertex, const Permutation& images) const {
  for (Vertex other = 0; other < vertex; ++other) {
    if (structure.pair[images[vertex]][images[other]] != structure.pair[vertex][other]) return false;
    if (structure.pair[images[other]][images[vertex]] != structure.pair[other][vertex]) return false;
  }
  return std::ranges::all_of(parts_, [&](const Part& part) { return part.last != vertex || keeps(part, images); });
}

bool ConditionSymmetry::keeps(const Part& part, const Permutation& images) const {
  Expression image = part.conjunct;
  map(image, action_, images);
  return forms_.contains(bytes_of(condition::normal_form(image, own_numbers_)));
}

}  // namespace deltamatch::query
