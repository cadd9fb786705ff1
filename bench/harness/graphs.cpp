#include "graphs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cmath>
#include <numeric>
#include <span>

#include "deltamatch/error.hpp"
#include "generate/random.hpp"

namespace deltamatch::bench {

namespace {

using generate::Random;

// Edges that one generator draws. This is the unit of work, so the result is the same for any number of threads.
constexpr std::size_t chunk = std::size_t{1} << 16;
constexpr std::size_t vertex_grain = std::size_t{1} << 14;
constexpr std::size_t buckets = 4096;

std::uint64_t key_of(const VertexPair& edge) noexcept { return std::uint64_t{edge.first} << 32 | edge.second; }

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) noexcept {
  return generate::mix(generate::mix(seed * 0x9E3779B97F4A7C15 + stream) + number);
}

double unit(Random& random) noexcept { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

// A bijection of [0, size) that looks random and needs no table.
class Renumbering {
 public:
  Renumbering(std::uint32_t size, std::uint64_t seed)
      : size_(size), bits_(std::max(2, static_cast<int>(std::bit_width(size - 1)))) {
    Random random(seed);
    for (auto& factor : factors_) factor = static_cast<std::uint32_t>(random.next()) | 1U;
    flip_ = static_cast<std::uint32_t>(random.next());
  }
  std::uint32_t operator()(std::uint32_t number) const noexcept {
    do {  // a cycle of the bijection of [0, 2^bits) leads back into the range
      number ^= flip_ & mask();
      for (const std::uint32_t factor : factors_) {
        number = number * factor & mask();
        number ^= number >> (bits_ / 2);
      }
    } while (number >= size_);
    return number;
  }

 private:
  [[nodiscard]] std::uint32_t mask() const noexcept { return 0xffffffffU >> (32 - bits_); }
  std::uint32_t size_;
  int bits_;
  std::array<std::uint32_t, 4> factors_{};
  std::uint32_t flip_ = 0;
};

// Fills an array with the edges of draw(random), without self-loops.
template <class Draw>
Edges draw_edges(std::uint64_t count, bool directed, std::uint64_t seed, Workers& workers, Draw&& draw) {
  Edges edges(count);
  const std::size_t chunks = (count + chunk - 1) / chunk;
  workers.for_each(chunks, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      Random random(seed_of(seed, 1, c));
      for (std::size_t i = c * chunk; i < std::min<std::size_t>((c + 1) * chunk, count); ++i) {
        VertexPair edge = draw(random);
        while (edge.first == edge.second) edge = draw(random);
        if (!directed && edge.first > edge.second) std::swap(edge.first, edge.second);
        edges[i] = edge;
      }
    }
  });
  return edges;
}

// Sorts edges and drops repeated ones. Edges go into buckets by their first end, and each bucket is sorted. Takes as much
// memory again.
void make_distinct(Edges& edges, std::uint32_t vertices, Workers& workers) {
  const auto bucket_of = [&](const VertexPair& edge) { return std::uint64_t{edge.first} * buckets / vertices; };
  const std::size_t parts = std::min<std::size_t>(4 * workers.size(), edges.size() / chunk + 1);
  const auto part_begin = [&](std::size_t part) { return edges.size() * part / parts; };
  std::vector<std::vector<std::uint64_t>> place(parts, std::vector<std::uint64_t>(buckets));
  workers.for_each(parts, 1, [&](unsigned, std::size_t begin, std::size_t) {
    for (std::size_t i = part_begin(begin); i < part_begin(begin + 1); ++i) ++place[begin][bucket_of(edges[i])];
  });
  std::vector<std::uint64_t> first(buckets + 1);
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    first[b] = sum;
    for (auto& own : place) sum += std::exchange(own[b], sum);
  }
  first[buckets] = sum;
  Edges parted(edges.size());
  workers.for_each(parts, 1, [&](unsigned, std::size_t begin, std::size_t) {
    for (std::size_t i = part_begin(begin); i < part_begin(begin + 1); ++i) {
      parted[place[begin][bucket_of(edges[i])]++] = edges[i];
    }
  });
  std::vector<std::uint64_t> kept(buckets + 1);
  workers.for_each(buckets, 1, [&](unsigned, std::size_t b, std::size_t) {
    VertexPair* const from = parted.data() + first[b];
    VertexPair* const to = parted.data() + first[b + 1];
    boost::sort::pdqsort_branchless(from, to, [](const VertexPair& x, const VertexPair& y) { return key_of(x) < key_of(y); });
    kept[b + 1] = static_cast<std::uint64_t>(std::unique(from, to) - from);
  });
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  workers.for_each(buckets, 1, [&](unsigned, std::size_t b, std::size_t) {
    std::copy_n(parted.data() + first[b], kept[b + 1] - kept[b], edges.data() + kept[b]);
  });
  edges.shrink(kept[buckets]);
}

// The weight of rank x is (x + offset)^-power. share(x) is the weight of all ranks below x.
class PowerLaw {
 public:
  PowerLaw(double count, double power, double offset)
      : rest_(1 - power), offset_(offset), low_(std::pow(offset, rest_)), high_(std::pow(count + offset, rest_)) {}
  [[nodiscard]] double share(double rank) const noexcept { return (std::pow(rank + offset_, rest_) - low_) / (high_ - low_); }
  [[nodiscard]] double rank(double share) const noexcept {
    return std::pow(low_ + share * (high_ - low_), 1 / rest_) - offset_;
  }

 private:
  double rest_;
  double offset_;
  double low_;
  double high_;
};

// The offset that gives the heaviest rank that share.
PowerLaw capped(double count, double power, double share) {
  double low = 1e-3;
  double high = 64 * count;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (PowerLaw(count, power, middle).share(1) > share ? low : high) = middle;
  }
  return {count, power, high};
}

double hardly_exceeded(double mean) { return mean + 6 * std::sqrt(mean); }

void require(bool holds, const char* what) {
  if (!holds) throw Error(ErrorKind::usage, "graph", what);
}

}  // namespace

Graph make_rmat(const RmatSettings& settings, std::uint64_t seed, Workers& workers) {
  require(settings.scale >= 1 && settings.scale <= 30, "scale is out of range: give 1 to 30");
  require(settings.a >= 0 && settings.b >= 0 && settings.c >= 0 && settings.a + settings.b + settings.c <= 1,
          "the quadrants' probabilities exceed 1");
  Graph graph;
  graph.name = "rmat-" + std::to_string(settings.scale);
  graph.vertices = std::uint32_t{1} << settings.scale;
  graph.directed = settings.directed;
  graph.drawn = settings.edges;
  const auto fixed = [](double share) { return static_cast<std::uint64_t>(share * 4294967296.0); };
  const std::uint64_t a = fixed(settings.a);
  const std::uint64_t ab = fixed(settings.a + settings.b);
  const std::uint64_t abc = fixed(settings.a + settings.b + settings.c);
  const Renumbering number(graph.vertices, seed_of(seed, 2, 0));
  graph.edges = draw_edges(settings.edges, settings.directed, seed, workers, [&](Random& random) {
    std::uint32_t tail = 0;
    std::uint32_t head = 0;
    std::uint64_t bits = 0;
    for (unsigned level = 0; level < settings.scale; ++level) {
      bits = level % 2 == 0 ? random.next() : bits >> 32;
      const std::uint64_t at = bits & 0xffffffff;
      const unsigned lower = at >= ab ? 1 : 0;
      const unsigned right = lower != 0 ? (at >= abc ? 1 : 0) : (at >= a ? 1 : 0);
      tail = tail << 1 | lower;
      head = head << 1 | right;
    }
    return VertexPair{number(tail), number(head)};
  });
  make_distinct(graph.edges, graph.vertices, workers);

  // A vertex with k ones in its number is the tail of an edge with probability (c+d)^k (a+b)^(scale-k).
  const auto edges = static_cast<double>(settings.edges);
  const double tail = settings.a + settings.b;
  const double head = settings.a + settings.c;
  for (unsigned ones = 0; ones <= settings.scale; ++ones) {
    const auto power = [&](double p) { return std::pow(p, settings.scale - ones) * std::pow(1 - p, ones); };
    graph.expected.mean.push_back(edges * (power(tail) + power(head)));
  }
  graph.expected.largest = hardly_exceeded(graph.expected.mean.front());
  graph.expected.place = [number](std::uint32_t i) {
    return std::pair{number(i), static_cast<std::uint32_t>(std::popcount(i))};
  };
  return graph;
}

Graph make_social(const SocialSettings& settings, std::uint64_t seed, Workers& workers) {
  require(settings.vertices >= 16, "too few vertices");
  require(settings.exponent > 2, "the exponent is out of range: give more than 2");
  const double vertices = settings.vertices;
  const auto edges = static_cast<double>(settings.edges);
  require(settings.max_degree > 2 * edges / vertices && settings.max_degree < vertices, "the largest degree is out of range");
  Graph graph;
  graph.name = "ldbc-" + std::to_string(settings.vertices);
  graph.vertices = settings.vertices;
  graph.directed = settings.directed;
  graph.drawn = settings.edges;
  // The tail of a local edge is drawn by weight. Its head is any vertex, with the same chance.
  const double by_weight = edges * (2 - settings.local);
  const double by_chance = edges * settings.local / vertices;
  const PowerLaw law = capped(vertices, 1 / (settings.exponent - 1), (settings.max_degree - by_chance) / by_weight);
  const Renumbering number(graph.vertices, seed_of(seed, 2, 0));
  const auto draw_rank = [&](Random& random) {
    const double rank = law.rank(unit(random));
    return static_cast<std::uint32_t>(std::clamp(rank, 0.0, vertices - 1));
  };
  graph.edges = draw_edges(settings.edges, settings.directed, seed, workers, [&](Random& random) {
    const std::uint32_t tail = number(draw_rank(random));
    if (unit(random) >= settings.local) return VertexPair{tail, number(draw_rank(random))};
    const std::uint64_t bits = random.next();
    const std::uint32_t inside = (1U << (4 + (bits >> 32) % 12)) - 1;  // a community of 16 to 32,768 vertices
    const std::uint32_t head = (tail & ~inside) | (static_cast<std::uint32_t>(bits) & inside);
    return VertexPair{tail, head < settings.vertices ? head : tail};  // beyond the last vertex: drawn again
  });
  make_distinct(graph.edges, graph.vertices, workers);

  // Classes are octaves of the rank.
  for (std::uint64_t low = 0; low < settings.vertices; low = std::max<std::uint64_t>(1, 2 * low)) {
    const auto from = static_cast<double>(low);
    const auto to = static_cast<double>(std::min<std::uint64_t>(std::max<std::uint64_t>(1, 2 * low), settings.vertices));
    graph.expected.mean.push_back(by_weight * (law.share(to) - law.share(from)) / (to - from) + by_chance);
  }
  graph.expected.largest = hardly_exceeded(settings.max_degree);
  graph.expected.place = [number](std::uint32_t i) {
    return std::pair{number(i), static_cast<std::uint32_t>(std::bit_width(i))};
  };
  return graph;
}

Graph make_grid(const GridSettings& settings, std::uint64_t seed, Workers& workers) {
  const std::uint64_t width = settings.width;
  const std::uint64_t height = settings.height;
  require(width >= 2 && height >= 2 && width * height < max_vertices, "the grid's sides are out of range");
  Graph graph;
  graph.name = "grid-" + std::to_string(width) + "x" + std::to_string(height);
  graph.vertices = static_cast<std::uint32_t>(width * height);
  const auto take_row = [&](std::uint64_t row, auto&& take) {
    Random random(seed_of(seed, 1, row));
    for (std::uint64_t column = 0; column < width; ++column) {
      const auto vertex = static_cast<std::uint32_t>(row * width + column);
      const bool right = random.chance(settings.street);
      const bool down = random.chance(settings.street);
      const bool diagonal = random.chance(settings.diagonal);
      if (right && column + 1 < width) take(VertexPair{vertex, vertex + 1});
      if (down && row + 1 < height) take(VertexPair{vertex, static_cast<std::uint32_t>(vertex + width)});
      if (diagonal && column + 1 < width && row + 1 < height) {
        take(VertexPair{vertex, static_cast<std::uint32_t>(vertex + width + 1)});
      }
    }
  };
  std::vector<std::uint64_t> first(height + 1);
  workers.for_each(height, 16, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) take_row(row, [&](const VertexPair&) { ++first[row + 1]; });
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  graph.edges = Edges(first[height]);
  graph.drawn = first[height];
  workers.for_each(height, 16, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::uint64_t at = first[row];
      take_row(row, [&](const VertexPair& edge) { graph.edges[at++] = edge; });
    }
  });

  // Vertices on the border have fewer streets.
  const auto w = static_cast<double>(width);
  const auto h = static_cast<double>(height);
  const double streets = settings.street * ((w - 1) * h + w * (h - 1)) + settings.diagonal * (w - 1) * (h - 1);
  graph.expected.mean = {2 * streets / (w * h)};
  graph.expected.largest = 6;
  graph.expected.place = [](std::uint32_t i) { return std::pair{i, std::uint32_t{0}}; };
  return graph;
}

std::vector<std::uint8_t> draw_labels(std::uint32_t vertices, unsigned labels, std::uint64_t seed, Workers& workers) {
  require(labels >= 1 && labels <= 256, "the number of labels is out of range: give 1 to 256");
  std::vector<std::uint8_t> drawn(vertices);
  workers.for_each(vertices, vertex_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) drawn[v] = static_cast<std::uint8_t>((seed_of(seed, 3, v) >> 32) * labels >> 32);
  });
  return drawn;
}

DegreeReport check_degrees(const Graph& graph, Workers& workers) {
  // If a class is small, or lost many repeated edges, its mean says nothing.
  constexpr double enough = 500;
  constexpr double tolerance = 0.05;  // apart from chance
  std::vector<std::uint32_t> degrees(graph.vertices);
  workers.for_each(graph.edges.size(), chunk, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::uint32_t vertex : {graph.edges[i].first, graph.edges[i].second}) {
        std::atomic_ref(degrees[vertex]).fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  struct Sums {
    std::vector<std::uint64_t> halves;
    std::vector<std::uint64_t> vertices;
    std::uint64_t linked = 0;
    std::uint32_t largest = 0;
  };
  const std::size_t classes = graph.expected.mean.size();
  std::vector<Sums> sums(workers.size());
  for (Sums& own : sums) {
    own.halves.resize(classes);
    own.vertices.resize(classes);
  }
  workers.for_each(graph.vertices, vertex_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    Sums& own = sums[worker];
    for (std::size_t i = begin; i < end; ++i) {
      const auto [vertex, at] = graph.expected.place(static_cast<std::uint32_t>(i));
      own.halves[at] += degrees[vertex];
      ++own.vertices[at];
      own.linked += degrees[vertex] > 0 ? 1 : 0;
      own.largest = std::max(own.largest, degrees[vertex]);
    }
  });
  DegreeReport report;
  for (const Sums& own : sums) {
    report.linked += own.linked;
    report.largest = std::max(report.largest, own.largest);
  }
  if (report.linked > 0) report.mean = 2 * static_cast<double>(graph.edges.size()) / static_cast<double>(report.linked);
  const double mean = 2 * static_cast<double>(graph.drawn) / graph.vertices;
  bool any = false;
  for (std::size_t at = 0; at < classes; ++at) {
    double halves = 0;
    double vertices = 0;
    for (const Sums& own : sums) {
      halves += static_cast<double>(own.halves[at]);
      vertices += static_cast<double>(own.vertices[at]);
    }
    const double expected = graph.expected.mean[at];
    if (expected * vertices < enough || expected > 2 * mean) continue;
    any = true;
    const double chance = 4 / std::sqrt(expected * vertices);
    report.worst = std::max(report.worst, std::abs(halves / vertices / expected - 1) - chance);
  }
  report.ok = any && report.worst <= tolerance && report.largest <= graph.expected.largest;
  return report;
}

std::vector<Change> draw_changes(Graph& graph, std::uint64_t count, std::uint64_t seed) {
  require(count <= graph.edges.size(), "more updates than edges: ask for fewer batches");
  Random random(seed_of(seed, 4, 0));
  std::vector<std::uint64_t> places;
  while (places.size() < count) {
    while (places.size() < count) places.push_back(random.below(graph.edges.size()));
    boost::sort::pdqsort_branchless(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  std::vector<Change> changes;
  changes.reserve(count);
  for (std::size_t i = places.size(); i-- > 0;) {  // from behind: the last edge takes the place of one that leaves
    const bool insert = random.chance(0.5);
    changes.push_back({graph.edges[places[i]], insert});
    if (!insert) continue;
    graph.edges[places[i]] = graph.edges[graph.edges.size() - 1];
    graph.edges.shrink(graph.edges.size() - 1);
  }
  random.shuffle(std::span(changes));
  return changes;
}

}  // namespace deltamatch::bench
