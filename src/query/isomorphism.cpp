// Individualisation and refinement.
//
// Two cells are uniform to each other if all their pairs have one colour. After refinement, such cells put no condition on each
// other. So the rest splits into independent components of cells, and each component is solved by itself. No choice in one
// component is revised because another failed. A single uniform cell needs no choice at all. This keeps stars, cliques and
// bundles of twins linear. Plain backtracking takes factorial time on them.
#include "query/isomorphism.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace deltamatch::query {
namespace {

constexpr Colour individual = 0xffff;  // greater than any rank that refine assigns

using Mask = std::uint32_t;
static_assert(max_query_vertices <= 32);

constexpr Mask bit(Vertex v) noexcept { return Mask{1} << v; }

template <typename Visit>
void for_each(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<Vertex>(std::countr_zero(mask)));
}

/// A vertex's colour, then (pair colour, colour) of all other vertices, sorted.
using Signature = std::array<std::uint32_t, max_query_vertices>;

Signature signature(const Structure& structure, const Colouring& colouring, Vertex v) {
  Signature result{};
  std::size_t filled = 0;
  result[filled++] = colouring[v];
  for (Vertex w = 0; w < structure.size; ++w) {
    if (w != v) result[filled++] = (std::uint32_t{structure.pair[v][w]} << 16) | colouring[w];
  }
  std::sort(result.begin() + 1, result.begin() + static_cast<std::ptrdiff_t>(filled));
  return result;
}

/// The vertices of one colour in both colourings.
struct Cell {
  Mask left = 0;
  Mask right = 0;
};

/// Returns the cells within `vertices` (a mask on the left side) that contain more than one vertex.
std::vector<Cell> open_cells(const Structure& structure, const Colouring& left, const Colouring& right, Mask vertices) {
  std::array<Cell, max_query_vertices> by_colour{};  // refined colours are ranks below the number of vertices
  for_each(vertices, [&](Vertex v) { by_colour[left[v]].left |= bit(v); });
  for (Vertex v = 0; v < structure.size; ++v) by_colour[right[v]].right |= bit(v);
  std::vector<Cell> cells;
  for (const Cell& cell : by_colour) {
    if (std::popcount(cell.left) > 1) cells.push_back(cell);
  }
  return cells;
}

/// Whether all pairs of distinct vertices from `a` and `b` have one colour. `a` and `b` must be equal or disjoint.
bool uniform(const Structure& structure, Mask a, Mask b) {
  bool first = true;
  bool result = true;
  Colour colour = 0;
  for_each(a, [&](Vertex u) {
    for_each(b & ~bit(u), [&](Vertex v) {
      if (first) colour = structure.pair[u][v];
      first = false;
      result = result && structure.pair[u][v] == colour;
    });
  });
  return result;
}

class Search {
 public:
  explicit Search(const Structure& structure) : structure_(structure) {}

  /// Maps the vertices of the left mask. `left` and `right` must have been refined together.
  bool solve(const Colouring& left, const Colouring& right, Mask vertices) {
    for_each(vertices, [&](Vertex v) {
      for (Vertex w = 0; w < structure_.size; ++w) {
        if (right[w] == left[v]) image_[v] = static_cast<std::uint8_t>(w);  // final if the cell has one vertex
      }
    });
    std::vector<Cell> cells = open_cells(structure_, left, right, vertices);
    while (!cells.empty()) {
      if (!solve_component(left, right, take_component(cells))) return false;
    }
    return true;
  }

  [[nodiscard]] const Permutation& image() const noexcept { return image_; }

 private:
  /// Removes the first cell from `cells`, with all cells that are connected to it by pairs that are not uniform, and returns
  /// them.
  std::vector<Cell> take_component(std::vector<Cell>& cells) const {
    std::vector<Cell> component{cells.back()};
    cells.pop_back();
    for (std::size_t i = 0; i < component.size(); ++i) {
      for (std::size_t k = cells.size(); k-- > 0;) {
        if (uniform(structure_, component[i].left, cells[k].left)) continue;
        component.push_back(cells[k]);
        cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    return component;
  }

  bool solve_component(const Colouring& left, const Colouring& right, const std::vector<Cell>& component) {
    if (component.size() == 1 && uniform(structure_, component[0].left, component[0].left)) {
      Mask free = component[0].right;
      for_each(component[0].left, [&](Vertex v) {
        image_[v] = static_cast<std::uint8_t>(std::countr_zero(free));
        free &= free - 1;
      });
      return true;
    }
    const Cell& cell = *std::min_element(component.begin(), component.end(), [](const Cell& a, const Cell& b) {
      return std::popcount(a.left) < std::popcount(b.left);
    });
    Mask vertices = 0;
    for (const Cell& each : component) vertices |= each.left;
    const auto v = static_cast<Vertex>(std::countr_zero(cell.left));
    for (Mask images = cell.right; images != 0; images &= images - 1) {
      Colouring finer_left = individualise(left, v);
      Colouring finer_right = individualise(right, static_cast<Vertex>(std::countr_zero(images)));
      if (refine(structure_, finer_left, finer_right) && solve(finer_left, finer_right, vertices)) return true;
    }
    return false;
  }

  const Structure& structure_;
  Permutation image_ = identity();
};

}  // namespace

Colouring individualise(Colouring colouring, Vertex vertex) noexcept {
  colouring[vertex] = individual;
  return colouring;
}

bool refine(const Structure& structure, Colouring& left, Colouring& right) {
  const std::size_t n = structure.size;
  struct Entry {
    Signature signature;
    Vertex vertex;
    bool is_right;
  };
  std::array<Entry, 2 * max_query_vertices> entries;
  std::array<const Entry*, 2 * max_query_vertices> sorted;
  for (std::size_t cells = 0;;) {
    for (Vertex v = 0; v < n; ++v) {
      entries[2 * v] = {signature(structure, left, v), v, false};
      entries[2 * v + 1] = {signature(structure, right, v), v, true};
      sorted[2 * v] = &entries[2 * v];
      sorted[2 * v + 1] = &entries[2 * v + 1];
    }
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(2 * n);
    std::sort(sorted.begin(), end, [](const Entry* a, const Entry* b) { return a->signature < b->signature; });
    Colour rank = 0;
    for (auto begin = sorted.begin(); begin != end; ++rank) {
      const auto next = std::find_if(begin, end, [&](const Entry* e) { return e->signature != (*begin)->signature; });
      if (2 * std::count_if(begin, next, [](const Entry* e) { return e->is_right; }) != next - begin) return false;
      for (; begin != next; ++begin) ((*begin)->is_right ? right : left)[(*begin)->vertex] = rank;
    }
    if (rank == cells || rank == n) return true;
    cells = rank;
  }
}

std::optional<Permutation> find_automorphism(const Structure& structure, Colouring left, Colouring right) {
  if (!refine(structure, left, right)) return std::nullopt;
  Search search(structure);
  const Mask all = structure.size == 32 ? ~Mask{0} : bit(static_cast<Vertex>(structure.size)) - 1;
  if (!search.solve(left, right, all)) return std::nullopt;
  return search.image();
}

}  // namespace deltamatch::query
