#include "mine/small_graph.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::mine {
namespace {

/// Vertices with different values are never images of each other.
std::array<std::uint64_t, max_k> invariants(unsigned n, const Rows& rows) {
  std::array<std::uint64_t, max_k> values{};
  for (unsigned v = 0; v < n; ++v) {
    std::uint64_t degrees = 0;  // number of neighbours of each degree, four bits per degree
    unsigned closed = 0;        // twice the number of triangles
    for (unsigned u = 0; u < n; ++u) {
      if ((rows[v] >> u & 1U) == 0) continue;
      degrees += std::uint64_t{1} << 4 * std::popcount(rows[u]);
      closed += static_cast<unsigned>(std::popcount(static_cast<std::uint8_t>(rows[u] & rows[v])));
    }
    values[v] = static_cast<std::uint64_t>(std::popcount(rows[v])) << 60 | std::uint64_t{closed} << 40 | degrees >> 4;
  }
  return values;
}

/// Places vertices one by one and keeps the best columns.
class Search {
 public:
  Search(unsigned n, const Rows& rows) : n_(n), rows_(rows), invariants_(invariants(n, rows)) {
    for (unsigned v = 0; v < n; ++v) wanted_[v] = invariants_[v];
    std::sort(wanted_.begin(), wanted_.begin() + n, std::greater<>());
  }

  Canonical run() {
    place(0, 0);
    Canonical best;
    for (unsigned position = 0; position < n_; ++position) {
      best.key = grown(best.key, position, best_columns_[position]);
      best.places.set(best_order_[position], position);
    }
    return best;
  }

 private:
  /// Places the rest. The columns so far equal the best ones. If `found_` is false, they are better.
  void place(unsigned position, unsigned used) {
    if (position == n_) {
      if (!found_) {
        best_columns_ = columns_;
        best_order_ = order_;
        found_ = true;
      }
      return;
    }
    unsigned tried = 0;
    for (unsigned v = 0; v < n_; ++v) {
      if ((used >> v & 1U) != 0 || invariants_[v] != wanted_[position] || has_twin(v, tried)) continue;
      std::uint8_t column = 0;
      for (unsigned i = 0; i < position; ++i) column |= static_cast<std::uint8_t>((rows_[v] >> order_[i] & 1U) << i);
      if (found_ && column < best_columns_[position]) continue;
      tried |= 1U << v;
      columns_[position] = column;
      order_[position] = static_cast<std::uint8_t>(v);
      if (column > best_columns_[position]) found_ = false;
      place(position + 1, used | 1U << v);
    }
  }

  /// Whether exchanging v with one of `others` changes nothing, so that both give the same columns.
  [[nodiscard]] bool has_twin(unsigned v, unsigned others) const {
    for (unsigned u = 0; others != 0; ++u, others >>= 1) {
      if ((others & 1U) != 0 && ((rows_[u] ^ rows_[v]) & ~(1U << u | 1U << v)) == 0) return true;
    }
    return false;
  }

  unsigned n_;
  const Rows& rows_;
  std::array<std::uint64_t, max_k> invariants_;
  std::array<std::uint64_t, max_k> wanted_{};
  std::array<std::uint8_t, max_k> columns_{};
  std::array<std::uint8_t, max_k> order_{};
  std::array<std::uint8_t, max_k> best_columns_{};
  std::array<std::uint8_t, max_k> best_order_{};
  bool found_ = false;
};

}  // namespace

Rows rows_of(unsigned vertices, Key key) noexcept {
  Rows rows{};
  for (unsigned j = 1; j < vertices; ++j) {
    for (unsigned i = 0; i < j; ++i, key >>= 1) {
      if ((key & 1U) == 0) continue;
      rows[i] |= static_cast<std::uint8_t>(1U << j);
      rows[j] |= static_cast<std::uint8_t>(1U << i);
    }
  }
  return rows;
}

Canonical canonical_form(unsigned vertices, Key key) {
  const Rows rows = rows_of(vertices, key);
  return Search(vertices, rows).run();
}

Features features_of(unsigned vertices, Key key) noexcept {
  const Rows rows = rows_of(vertices, key);
  Features f{.vertices = static_cast<int>(vertices), .edges = std::popcount(key), .min_degree = static_cast<int>(vertices)};
  for (unsigned v = 0; v < vertices; ++v) {
    const int degree = std::popcount(rows[v]);
    f.min_degree = std::min(f.min_degree, degree);
    f.max_degree = std::max(f.max_degree, degree);
    f.leaves += degree == 1 ? 1 : 0;
    for (unsigned u = 0; u < v; ++u) {
      if ((rows[v] >> u & 1U) != 0) f.triangles += std::popcount(static_cast<std::uint8_t>(rows[u] & rows[v]));
    }
  }
  f.triangles /= 3;
  return f;
}

}  // namespace deltamatch::mine

namespace deltamatch {

using mine::Key;

std::vector<std::pair<unsigned, unsigned>> Pattern::edges() const {
  std::vector<std::pair<unsigned, unsigned>> edges;
  Key rest = key;
  for (unsigned j = 1; j < vertices; ++j) {
    for (unsigned i = 0; i < j; ++i, rest >>= 1) {
      if ((rest & 1U) != 0) edges.emplace_back(i, j);
    }
  }
  return edges;
}

std::string Pattern::graph6() const {
  std::string text(1, static_cast<char>(63 + vertices));
  const unsigned bits = mine::pairs_of(vertices);
  for (unsigned begin = 0; begin < bits; begin += 6) {
    unsigned group = 0;
    for (unsigned i = begin; i < begin + 6; ++i) group = group << 1 | (i < bits ? key >> i & 1U : 0U);
    text += static_cast<char>(63 + group);
  }
  return text;
}

std::string_view Pattern::common_name() const noexcept {
  const mine::Features f = mine::features_of(vertices, key);
  if (f.vertices == 2) return "edge";
  if (f.edges == f.vertices * (f.vertices - 1) / 2) return f.vertices == 3 ? "triangle" : "clique";
  const bool tree = f.edges == f.vertices - 1;
  if (tree && f.max_degree == 2) return "path";
  if (tree && f.leaves == f.vertices - 1) return "star";
  if (f.min_degree == 2 && f.max_degree == 2) return "cycle";
  if (f.edges + 1 == f.vertices * (f.vertices - 1) / 2) return f.vertices == 4 ? "diamond" : "near-clique";
  if (f.vertices == 4 && f.edges == 4) return "tailed triangle";
  if (f.vertices != 5) return {};
  if (f.edges == 4) return "fork";
  if (f.edges == 6 && f.triangles == 2 && f.leaves == 0) return "bowtie";
  if (f.edges == 6 && f.triangles == 1 && f.leaves == 0) return "house";
  if (f.edges == 6 && f.triangles == 0) return "2,3-biclique";
  if (f.edges == 8 && f.min_degree == 3) return "wheel";
  return {};
}

Pattern canonical_pattern(unsigned vertices, std::uint32_t key) {
  if (vertices < 1 || vertices > Pattern::max_vertices ||
      (mine::pairs_of(vertices) < 32 && key >> mine::pairs_of(vertices) != 0)) {
    throw Error(ErrorKind::usage, "pattern", "the key does not fit the number of vertices",
                "use 1 to " + std::to_string(Pattern::max_vertices) + " vertices and one bit for each pair");
  }
  return {vertices, mine::canonical_form(vertices, key).key};
}

}  // namespace deltamatch
