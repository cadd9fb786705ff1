#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "deltamatch/error.hpp"
#include "generate/chung_lu.hpp"
#include "generate/rmat.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

std::vector<std::uint32_t> degrees_of(const Graph& graph) {
  std::vector<std::uint32_t> degrees(graph.vertices);
  for (const auto& [u, v] : graph.edges) {
    ++degrees.at(u);
    ++degrees.at(v);
  }
  return degrees;
}

void expect_simple(const Graph& graph) {
  EXPECT_EQ(graph.labels.size(), graph.vertices);
  std::set<Edge> seen;
  for (const Edge& edge : graph.edges) {
    ASSERT_LT(std::max(edge.first, edge.second), graph.vertices);
    ASSERT_NE(edge.first, edge.second);
    if (!graph.directed) {
      ASSERT_LT(edge.first, edge.second);
    }
    ASSERT_TRUE(seen.insert(edge).second) << edge.first << ' ' << edge.second;
  }
}

std::uint64_t checksum(const Graph& graph) {
  test::Checksum sum;
  for (const auto& [u, v] : graph.edges) {
    sum.add(u);
    sum.add(v);
  }
  for (const auto label : graph.labels) sum.add(label);
  return sum.value();
}

template <typename Options, typename Make>
std::string refusal(Make make, const Options& options) {
  try {
    (void)make(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Rmat, HasTheEdgesAskedForAndNoOthers) {
  for (const bool directed : {false, true}) {
    const Graph graph = rmat({.scale = 10, .edge_factor = 8.5, .directed = directed, .vertex_labels = 3});
    EXPECT_EQ(graph.vertices, 1024U);
    EXPECT_EQ(graph.edges.size(), 8704U);
    EXPECT_THAT(graph.labels, testing::Each(testing::Lt(3U)));
    expect_simple(graph);
  }
}

TEST(Rmat, IsGolden) {
  EXPECT_EQ(checksum(rmat({.scale = 12, .edge_factor = 4, .vertex_labels = 5, .seed = 7})), 11034466902252834344U);
  EXPECT_NE(checksum(rmat({.scale = 12, .edge_factor = 4, .vertex_labels = 5, .seed = 8})),
            checksum(rmat({.scale = 12, .edge_factor = 4, .vertex_labels = 5, .seed = 7})));
}

TEST(Rmat, QuadrantsAreHitAsAsked) {
  const Graph graph = rmat({.scale = 16, .edge_factor = 0.5, .a = 0.5, .b = 0.2, .c = 0.1, .directed = true, .shuffle = false});
  std::vector<double> share(4);
  for (const auto& [u, v] : graph.edges) share[(u >> 15) * 2 + (v >> 15)] += 1.0 / static_cast<double>(graph.edges.size());
  EXPECT_THAT(share, testing::ElementsAre(testing::DoubleNear(0.5, 0.02), testing::DoubleNear(0.2, 0.02),
                                          testing::DoubleNear(0.1, 0.02), testing::DoubleNear(0.2, 0.02)));
}

TEST(Rmat, IsSkewedAndShuffledNumbersHideIt) {
  RmatOptions options{.scale = 14, .edge_factor = 8};
  const auto shuffled = degrees_of(rmat(options));
  options.shuffle = false;
  const auto plain = degrees_of(rmat(options));
  EXPECT_GT(*std::ranges::max_element(plain), 40 * 16U);  // the average is 16
  const auto half = [](const std::vector<std::uint32_t>& d) {
    double sum = 0;
    for (std::size_t v = 0; v < d.size() / 2; ++v) sum += d[v];
    return sum / (16.0 * static_cast<double>(d.size()));
  };
  EXPECT_GT(half(plain), 0.7);
  EXPECT_NEAR(half(shuffled), 0.5, 0.05);
}

TEST(Rmat, RefusesWhatCannotBe) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal(rmat, RmatOptions{.scale = 0}), HasSubstr("the scale is out of range; give 1 to 30"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.scale = 31}), HasSubstr("the scale is out of range"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.edge_factor = -1}), HasSubstr("edge factor"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.edge_factor = std::nan("")}), HasSubstr("edge factor"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.a = 0.9, .b = 0.2, .c = 0}), HasSubstr("probabilities"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.a = std::nan("")}), HasSubstr("probabilities"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.vertex_labels = 0}), HasSubstr("vertex labels"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.scale = 4, .edge_factor = 8}), HasSubstr("half of all pairs"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.scale = 30, .edge_factor = 4}), HasSubstr("2^31 edges"));
  EXPECT_THAT(refusal(rmat, RmatOptions{.scale = 10, .edge_factor = 100, .a = 1, .b = 0, .c = 0}),
              HasSubstr("too skewed for so many distinct edges"));
}

TEST(Rmat, OfNoEdges) { EXPECT_TRUE(rmat({.scale = 3, .edge_factor = 0}).edges.empty()); }

TEST(ChungLu, HasTheEdgesAskedForAndNoOthers) {
  const Graph graph = chung_lu({.vertices = 5'000, .edges = 40'000, .max_degree = 300});
  EXPECT_EQ(graph.vertices, 5'000U);
  EXPECT_EQ(graph.edges.size(), 40'000U);
  EXPECT_FALSE(graph.directed);
  expect_simple(graph);
}

TEST(ChungLu, IsGolden) {
  EXPECT_EQ(checksum(chung_lu({.vertices = 3'000, .edges = 20'000, .max_degree = 200, .seed = 7})), 2097596448618054856U);
}

TEST(ChungLu, LabelsAreUniform) {
  const Graph graph = chung_lu({.vertices = 60'000, .edges = 1'000, .max_degree = 100});
  std::vector<int> seen(6);
  for (const auto label : graph.labels) ++seen.at(label);
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
}

TEST(ChungLu, DegreesFollowThePowerLaw) {
  const auto degrees = degrees_of(chung_lu({.vertices = 50'000, .edges = 500'000, .max_degree = 1'000}));
  EXPECT_NEAR(*std::ranges::max_element(degrees), 1'000, 200);
  const auto at_least = [&](std::uint32_t bound) {
    return static_cast<double>(std::ranges::count_if(degrees, [&](std::uint32_t d) { return d >= bound; }));
  };
  // P(degree >= k) ~ k^-1.5: twice the degree, 0.354 of the vertices.
  EXPECT_NEAR(at_least(40) / at_least(20), 0.354, 0.06);
  EXPECT_NEAR(at_least(80) / at_least(40), 0.354, 0.06);
}

TEST(ChungLu, RefusesWhatCannotBe) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.vertices = 1, .edges = 0, .max_degree = 0}),
              HasSubstr("the number of vertices is out of range"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.exponent = 2}), HasSubstr("exponent"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.exponent = std::nan("")}), HasSubstr("exponent"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.max_degree = 19}), HasSubstr("below the average"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.vertices = 1'000, .edges = 10, .max_degree = 1'000}),
              HasSubstr("less than the number"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.vertices = 1'000, .edges = 300'000, .max_degree = 900}),
              HasSubstr("half of all pairs"));
  EXPECT_THAT(refusal(chung_lu, ChungLuOptions{.vertex_labels = 0}), HasSubstr("vertex labels"));
}

TEST(ChungLu, OfNoEdges) { EXPECT_TRUE(chung_lu({.vertices = 2, .edges = 0, .max_degree = 0}).edges.empty()); }

}  // namespace
}  // namespace deltamatch::generate
