#include "generate/rmat.hpp"

#include <array>
#include <numeric>

#include "generate/distinct_edges.hpp"

namespace deltamatch::generate {
namespace {

constexpr std::string_view where = "generate rmat";

void validate(const RmatOptions& options) {
  const auto fail = [](std::string_view what, std::string_view remedy) { throw Error(ErrorKind::usage, where, what, remedy); };
  if (options.scale < 1 || options.scale > 30) fail("the scale is out of range", "give 1 to 30");
  if (!(options.edge_factor >= 0 && options.edge_factor <= 4096)) fail("the edge factor is out of range", "give 0 to 4096");
  const double d = 1 - options.a - options.b - options.c;
  if (!(options.a >= 0 && options.b >= 0 && options.c >= 0 && d >= -1e-9))
    fail("the probabilities of quadrants are out of range", "give a, b and c of at least 0, at most 1 together");
  if (options.vertex_labels == 0) fail("the number of vertex labels is 0", "give 1 for an unlabelled graph");
}

// Chooses one quadrant per level, from 32 random bits each.
class Quadrants {
 public:
  explicit Quadrants(const RmatOptions& options)
      : scale_(options.scale),
        bounds_{fixed(options.a), fixed(options.a + options.b), fixed(options.a + options.b + options.c)} {}

  Edge operator()(Random& random) const noexcept {
    Edge edge{0, 0};
    std::uint64_t bits = 0;
    for (unsigned level = 0; level < scale_; ++level) {
      bits = level % 2 == 0 ? random.next() : bits >> 32;
      const std::uint64_t place = bits & 0xFFFFFFFF;
      const bool lower = place >= bounds_[1];                                     // c or d: high source
      const bool right = place >= bounds_[2] || (place >= bounds_[0] && !lower);  // b or d: high target
      edge.first = edge.first << 1 | (lower ? 1U : 0U);
      edge.second = edge.second << 1 | (right ? 1U : 0U);
    }
    return edge;
  }

 private:
  static std::uint64_t fixed(double share) { return static_cast<std::uint64_t>(share * 4294967296.0); }
  unsigned scale_;
  std::array<std::uint64_t, 3> bounds_;
};

}  // namespace

Graph rmat(const RmatOptions& options) {
  validate(options);
  Graph graph;
  graph.vertices = std::uint32_t{1} << options.scale;
  graph.directed = options.directed;
  const auto count = static_cast<std::uint64_t>(options.edge_factor * graph.vertices);
  check_edge_count(count, graph.vertices, options.directed, where);

  Random random(options.seed);
  graph.labels.resize(graph.vertices);
  for (auto& label : graph.labels) label = static_cast<std::uint32_t>(random.below(options.vertex_labels));
  std::vector<std::uint32_t> numbers(graph.vertices);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (options.shuffle) random.shuffle(std::span(numbers));

  const Quadrants quadrants(options);
  graph.edges = distinct_edges(count, options.directed, where, [&] {
    const Edge edge = quadrants(random);
    return Edge{numbers[edge.first], numbers[edge.second]};
  });
  return graph;
}

}  // namespace deltamatch::generate
