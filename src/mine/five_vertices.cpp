#include "mine/five_vertices.hpp"

#include "base/checked.hpp"
#include "mine/cliques.hpp"

namespace deltamatch::mine {
namespace {

constexpr Wide choose2(Wide n) { return n * (n - 1) / 2; }
constexpr Wide choose3(Wide n) { return n * (n - 1) * (n - 2) / 6; }

/// The sums that the formulas below need. In the comments, t is the number of triangles on an edge or a vertex, and d is a
/// degree. c is the number of common neighbours of a pair.
struct Sums {
  // over rows; a row is a vertex u and all vertices two steps away
  Wide four_cycles = 0;  // 4-cycles with u, over u: each 4-cycle counts four times
  Wide banners = 0;      // 4-cycles with u, times (d - 2)
  Wide roofs = 0;        // over ordered edges: t times 4-cycles
  Wide bicliques = 0;    // over ordered pairs: choose(c, 3)
  Wide five_walks = 0;   // closed walks of five steps from their earliest vertex, except those that turn back
  // over rows and the triangles around them
  Wide triangle_cliques = 0;  // over ordered triangles: 4-cliques on the triangle
  Wide triangle_pairs = 0;    // over ordered triangles: choose(4-cliques, 2)
  Wide clique_tails = 0;      // over u: 3 times its 4-cliques, times (d - 3)
  Wide clique_ears = 0;       // over ordered edges: twice its 4-cliques, times (t - 2)
  Wide wheels = 0;            // over ordered rim pairs and hubs
  Wide open_wheels = 0;       // over ordered chords and ordered tips of diamonds: c of the tips, minus 2

  Sums& operator+=(const Sums& o) {
    four_cycles += o.four_cycles, banners += o.banners, roofs += o.roofs, bicliques += o.bicliques;
    five_walks += o.five_walks, triangle_cliques += o.triangle_cliques, triangle_pairs += o.triangle_pairs;
    clique_tails += o.clique_tails, clique_ears += o.clique_ears, wheels += o.wheels, open_wheels += o.open_wheels;
    return *this;
  }
};

/// The sums of one thread, row by row.
class Rows {
 public:
  Rows(const OrderedGraph& graph, const EdgeIndex& index)
      : graph_(graph),
        index_(index),
        common_(graph.vertices(), 0),
        on_chord_(graph.vertices(), 0),
        seen_(graph.vertices(), 0),
        two_step_paths_(graph.vertices()) {}

  void run(VertexId u) {
    squares(u);
    diamonds(u);
    for_each_two_steps(u, [&](VertexId, VertexId v) { common_[v] = 0; });
    pentagons(u);
  }

  Sums sums;

 private:
  /// Calls visit(index of the neighbour, v) for each path of two steps from u to another vertex v.
  template <class Visit>
  void for_each_two_steps(VertexId u, Visit&& visit) const {
    const auto list = graph_.neighbours(u);
    for (VertexId i = 0; i < list.size(); ++i) {
      for (const VertexId v : graph_.neighbours(list[i])) {
        if (v != u) visit(i, v);
      }
    }
  }

  /// Leaves in common_ the number of common neighbours of u and every other vertex.
  void squares(VertexId u) {
    Wide cycles = 0;
    Wide bicliques = 0;
    for_each_two_steps(u, [&](VertexId, VertexId v) {
      const std::uint64_t c = common_[v]++;
      cycles += c;
      bicliques += c * (c - 1) / 2;
    });
    sums.four_cycles += cycles;
    sums.bicliques += bicliques;
    sums.banners += cycles * (Wide{graph_.degree(u)} - 2);
    const auto edges = index_.edges_of(u);
    for_each_two_steps(
        u, [&](VertexId i, VertexId v) { sums.roofs += std::uint64_t{index_.triangles(edges[i])} * (common_[v] - 1U); });
  }

  /// Here u is a tip of diamonds. The chord joins its neighbour x to y, and the other tip is v.
  void diamonds(VertexId u) {
    Wide cliques_of_u = 0;
    for (const EdgeId ux : index_.edges_of(u)) {
      const VertexId x = index_.other(ux, u);
      const bool x_first = x < u;
      const auto thirds = index_.thirds(ux);
      const auto sides = index_.sides(ux);
      for (const VertexId y : thirds) on_chord_[y] = 1;
      Wide cliques = 0;
      for (std::size_t i = 0; i < thirds.size(); ++i) {
        std::uint64_t of_triangle = 0;
        for (const VertexId v : index_.thirds(x_first ? sides[i].of_lesser : sides[i].of_greater)) {
          if (v == u) continue;
          of_triangle += on_chord_[v];
          sums.wheels += seen_[v]++;
          sums.open_wheels += common_[v] - 2U;
        }
        cliques += of_triangle;
        sums.triangle_pairs += choose2(static_cast<Wide>(of_triangle));
      }
      for (const auto& side : sides) {
        for (const VertexId v : index_.thirds(x_first ? side.of_lesser : side.of_greater)) seen_[v] = 0;
      }
      for (const VertexId y : thirds) on_chord_[y] = 0;
      sums.clique_ears += cliques * (static_cast<Wide>(thirds.size()) - 2);
      cliques_of_u += cliques;
    }
    sums.triangle_cliques += cliques_of_u;
    sums.clique_tails += cliques_of_u / 2 * (Wide{graph_.degree(u)} - 3);
  }

  /// Here u is the earliest of five vertices: two paths of two steps from u meet in an edge {v, w}. Paths through the edge's
  /// other end do not count.
  void pentagons(VertexId u) {
    const auto later = graph_.later(u);
    const auto each = [&](auto&& visit) {
      for (const VertexId w : later) {
        const auto list = graph_.neighbours(w);
        for (const VertexId* v = list.data() + list.size(); v[-1] > u;) visit(*--v);
      }
    };
    each([&](VertexId v) {
      if (two_step_paths_[v].ways++ == 0) touched_.push_back(v);
    });
    for (const VertexId w : later) two_step_paths_[w].joined = 1;
    for (const VertexId v : touched_) {
      const auto [ways, joined] = two_step_paths_[v];
      Wide walks = 0;
      for (const VertexId w : graph_.later(v)) {
        walks += (std::int64_t{ways} - two_step_paths_[w].joined) * (std::int64_t{two_step_paths_[w].ways} - joined);
      }
      sums.five_walks += walks;
    }
    for (const VertexId v : touched_) two_step_paths_[v].ways = 0;
    for (const VertexId w : later) two_step_paths_[w].joined = 0;
    touched_.clear();
  }

  struct TwoStepPaths {
    VertexId ways = 0;  // number of paths of two steps from u
    VertexId joined = 0;
  };

  const OrderedGraph& graph_;
  const EdgeIndex& index_;
  std::vector<VertexId> common_;
  std::vector<std::uint8_t> on_chord_;
  std::vector<VertexId> seen_;
  std::vector<TwoStepPaths> two_step_paths_;
  std::vector<VertexId> touched_;
};

Sums sum_rows(const OrderedGraph& graph, const EdgeIndex& index, Workers& workers, RunControl& control) {
  std::vector<Rows> rows(workers.size(), Rows(graph, index));
  workers.for_each(graph.vertices(), 4, [&](unsigned worker, std::size_t begin, std::size_t end) {
    control.set_share(static_cast<double>(begin) / graph.vertices());
    for (std::size_t u = begin; u < end && !control.check(worker); ++u) rows[worker].run(static_cast<VertexId>(u));
  });
  Sums sums;
  for (const Rows& row : rows) sums += row.sums;
  return sums;
}

/// The sums over vertices, edges and triangles.
struct LightSums {
  Wide stars = 0, forks = 0, path_middles = 0, path_turns = 0;
  Wide crickets = 0, bulls = 0, lollipops = 0;
  Wide diamonds = 0, bowties = 0, darts = 0, kites = 0;
  Wide books = 0, gems = 0, pentagon_turns = 0;
};

void add_vertices(const OrderedGraph& graph, const EdgeIndex& index, std::vector<Wide>& two_steps, LightSums& sums) {
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    const Wide d = graph.degree(v);
    Wide squares = 0;
    Wide t = 0;
    for (const VertexId u : graph.neighbours(v)) {
      two_steps[v] += graph.degree(u) - 1;
      squares += Wide{graph.degree(u) - 1} * (graph.degree(u) - 1);
    }
    for (const EdgeId e : index.edges_of(v)) t += index.triangles(e);
    t /= 2;
    sums.stars += static_cast<Wide>(checked_binomial(graph.degree(v), 4));
    sums.path_middles += (two_steps[v] * two_steps[v] - squares) / 2;
    sums.crickets += t * choose2(d - 2);
    sums.bowties += choose2(t);
  }
}

void add_edges(const OrderedGraph& graph, const EdgeIndex& index, LightSums& sums) {
  for (EdgeId e = 0; e < index.edges(); ++e) {
    const Wide a = graph.degree(index.lesser(e));
    const Wide b = graph.degree(index.greater(e));
    const Wide t = index.triangles(e);
    sums.forks += choose2(a - 1) * (b - 1) + choose2(b - 1) * (a - 1) - t * (a + b - 4);
    sums.diamonds += choose2(t);
    sums.darts += choose2(t) * (a + b - 6);
    sums.books += choose3(t);
  }
}

void add_triangles(const OrderedGraph& graph, const EdgeIndex& index, const std::vector<Wide>& two_steps, RunControl& control,
                   LightSums& sums) {
  std::vector<EdgeId> mark(graph.vertices(), 0);
  PeriodicCheck check(control, 0);
  for (VertexId c = 0; c < graph.vertices() && !control.stopped(); ++c) {
    index.for_each_triangle(graph, c, mark, check, [&](EdgeId ab, EdgeId ac, EdgeId bc) {
      const VertexId a = index.lesser(ab);
      const VertexId b = index.greater(ab);
      const Wide da = graph.degree(a);
      const Wide db = graph.degree(b);
      const Wide dc = graph.degree(c);
      const Wide tab = Wide{index.triangles(ab)} - 1;
      const Wide tac = Wide{index.triangles(ac)} - 1;
      const Wide tbc = Wide{index.triangles(bc)} - 1;
      sums.path_turns += 2 * (da + db + dc) - 9;
      sums.bulls += (da - 2) * (db - 2) + (da - 2) * (dc - 2) + (db - 2) * (dc - 2) - tab - tac - tbc;
      sums.lollipops += two_steps[a] + two_steps[b] + two_steps[c] - 2 * (da + db + dc - 3) - 2 * (tab + tac + tbc);
      sums.kites += tab * (dc - 2) + tac * (db - 2) + tbc * (da - 2);
      sums.gems += tab * tac + tab * tbc + tac * tbc;
      // vertices before a that are joined to one of the three
      sums.pentagon_turns +=
          static_cast<Wide>(graph.earlier(a).size()) + (ab - index.first_earlier(b)) + (ac - index.first_earlier(c));
    });
  }
}

}  // namespace

Key key_of_edges(unsigned vertices, std::string_view edges) {
  Key key = 0;
  for (std::size_t at = 0; at + 1 < edges.size(); at += 3) {
    const auto i = static_cast<unsigned>(edges[at] - '0');
    const auto j = static_cast<unsigned>(edges[at + 1] - '0');
    key |= Key{1} << (pairs_of(std::max(i, j)) + std::min(i, j));
  }
  return canonical_form(vertices, key).key;
}

Spanning five_vertices(const SimpleGraph& whole, const OrderedGraph& graph, const EdgeIndex& index, Workers& workers,
                       RunControl& control) {
  LightSums s;
  std::vector<Wide> two_steps(graph.vertices(), 0);
  add_vertices(graph, index, two_steps, s);
  add_edges(graph, index, s);
  add_triangles(graph, index, two_steps, control, s);
  const Sums rows = sum_rows(graph, index, workers, control);
  const auto cliques = clique_counts(whole, 5, workers, control);
  const Wide four_cycles = rows.four_cycles / 4;
  const Wide four_cliques = rows.triangle_cliques / 24;
  const auto count = [](std::string_view edges, Wide n) { return SpanningCount{key_of_edges(5, edges), n}; };
  return {
      count("01 02 03 04", s.stars),
      count("01 02 03 34", s.forks),
      count("01 12 23 34", s.path_middles - s.path_turns - 4 * four_cycles),
      count("01 12 23 34 04", rows.five_walks - s.pentagon_turns),
      count("01 12 23 03 04", rows.banners - 2 * s.diamonds),
      count("01 02 12 03 04", s.crickets),
      count("01 02 12 03 14", s.bulls),
      count("01 02 12 03 34", s.lollipops),
      count("01 02 12 03 04 34", s.bowties - 2 * s.diamonds),
      count("01 02 12 03 13 04", s.darts),
      count("01 02 12 03 13 24", s.kites - 12 * four_cliques),
      count("01 12 23 03 04 14", rows.roofs / 2 - 4 * s.diamonds),
      count("02 03 04 12 13 14", rows.bicliques / 2),
      count("01 02 03 04 12 13 14", s.books),
      count("01 02 03 12 13 23 04", rows.clique_tails / 3),
      count("01 02 03 04 12 23 34", s.gems - 12 * four_cliques),
      count("01 02 03 04 12 13 24 34", rows.wheels / 4),
      count("01 02 12 03 13 24 34", rows.open_wheels / 4),
      count("01 02 03 12 13 23 04 14", rows.clique_ears / 4),
      count("01 02 03 04 12 13 14 23 24", rows.triangle_pairs / 6),
      count("01 02 03 04 12 13 14 23 24 34", cliques.size() > 5 ? static_cast<Wide>(cliques[5]) : 0),
  };
}

}  // namespace deltamatch::mine
