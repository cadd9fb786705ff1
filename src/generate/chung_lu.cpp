#include "generate/chung_lu.hpp"

#include <algorithm>
#include <numeric>

#include "generate/distinct_edges.hpp"

namespace deltamatch::generate {
namespace {

constexpr std::string_view where = "generate chung-lu";

void validate(const ChungLuOptions& options) {
  const auto fail = [](std::string_view what, std::string_view remedy) { throw Error(ErrorKind::usage, where, what, remedy); };
  if (options.vertices < 2 || options.vertices > std::uint32_t{1} << 31)
    fail("the number of vertices is out of range", "give 2 to 2^31");
  if (!(options.exponent > 2 && options.exponent <= 10)) fail("the exponent is out of range", "give more than 2, at most 10");
  if (options.vertex_labels == 0) fail("the number of vertex labels is 0", "give 1 for an unlabelled graph");
  if (options.max_degree >= options.vertices)
    fail("the largest degree is out of range", "give less than the number of vertices");
  check_edge_count(options.edges, options.vertices, false, where);
  if (static_cast<double>(options.max_degree) * options.vertices < 2.0 * static_cast<double>(options.edges))
    fail("the largest degree is below the average degree", "raise it or ask for fewer edges");
}

// Finds the offset at which max_degree is the expected degree of the heaviest vertex. The weight of rank r is (r +
// offset)^-power, so a larger offset flattens the head. With the vertex's share of the weight as an integral over the ranks,
// the offset is vertices * ratio^(exponent - 1). Here ratio = (average degree / max degree) * (exponent - 2) / (exponent - 1).
std::uint32_t find_offset(const ChungLuOptions& options) {
  const double average = 2.0 * static_cast<double>(options.edges) / options.vertices;
  if (average == 0) return 1;
  const double inverse = options.max_degree / average * (options.exponent - 1) / (options.exponent - 2);
  const double bounded = std::min(inverse, 1099511627776.0);  // 2^40: far beyond the values that make the offset 1
  const std::uint64_t log = log2_fixed(static_cast<std::uint64_t>(bounded * 1048576.0)) - (std::uint64_t{20} << 32);
  const auto exponent = static_cast<std::uint64_t>(static_cast<double>(log) * (options.exponent - 1));
  const auto offset = std::uint64_t{options.vertices} * exp2_negative_fixed(exponent) >> 32;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, offset));
}

}  // namespace

Graph chung_lu(const ChungLuOptions& options) {
  validate(options);
  const double power = 1 / (options.exponent - 1);
  Graph graph;
  graph.vertices = options.vertices;
  Random random(options.seed);
  graph.labels.resize(graph.vertices);
  for (auto& label : graph.labels) label = static_cast<std::uint32_t>(random.below(options.vertex_labels));
  std::vector<std::uint32_t> numbers(graph.vertices);
  std::iota(numbers.begin(), numbers.end(), 0U);
  random.shuffle(std::span(numbers));

  const AliasTable draw(power_law_weights(graph.vertices, find_offset(options), power));
  graph.edges = distinct_edges(options.edges, false, where, [&] {
    const std::uint32_t u = numbers[draw(random)];  // in two statements: the order of evaluation changes the result
    const std::uint32_t v = numbers[draw(random)];
    return Edge{u, v};
  });
  return graph;
}

}  // namespace deltamatch::generate
