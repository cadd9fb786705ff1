#include <gmock/gmock.h>

#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch {
namespace {

using testing::StartsWith;

std::string refusal(const Query& query) {
  try {
    validate(query, "the query");
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
    return error.what();
  }
}

/// A directed path of n vertices.
Query path(std::uint32_t n) {
  Query query;
  for (std::uint32_t v = 0; v < n; ++v) query.vertices.push_back({"v" + std::to_string(v), {}});
  for (std::uint32_t v = 1; v < n; ++v) query.edges.push_back({v - 1, v, {}, true});
  return query;
}

TEST(Validate, TakesTwoTo32Vertices) {
  EXPECT_EQ(refusal(path(2)), "accepted");
  EXPECT_EQ(refusal(path(31)), "accepted");
  EXPECT_EQ(refusal(path(32)), "accepted");
  EXPECT_EQ(refusal({}), "the query: the query has 0 vertices; write a query of 2 to 32 vertices");
  EXPECT_EQ(refusal(path(1)),
            "the query: the query has 1 vertex; write a query of 2 to 32 vertices, or let its condition count");
  EXPECT_EQ(refusal(path(33)), "the query: the query has 33 vertices; write a query of 2 to 32 vertices");
}

TEST(Validate, WantsDistinctNames) {
  Query query = path(3);
  query.vertices[2].name = "v0";
  EXPECT_EQ(refusal(query), "the query: two vertices have the name 'v0'; give each vertex its own name");
  query.vertices[2].name = "";
  EXPECT_EQ(refusal(query), "the query: vertex 2 has no name; name every vertex");
}

TEST(Validate, WantsSortedDistinctLabels) {
  Query query = path(3);
  query.vertices[1].labels = {"", "A", "B"};
  query.edges[1].labels = {"", "A", "B"};
  EXPECT_EQ(refusal(query), "accepted");
  query.vertices[1].labels = {"B", "A"};
  EXPECT_THAT(refusal(query), StartsWith("the query: the labels of vertex 'v1' are not sorted and distinct; sort them"));
  query.vertices[1].labels = {"A", "A"};
  EXPECT_THAT(refusal(query), StartsWith("the query: the labels of vertex 'v1' are not sorted and distinct; sort them"));
  query.vertices[1].labels = {};
  query.edges[1].labels = {"A", "A"};
  EXPECT_THAT(refusal(query),
              StartsWith("the query: the labels of the edge from 'v1' to 'v2' are not sorted and distinct; sort"));
}

TEST(Validate, WantsEndsInRange) {
  Query query = path(3);
  query.edges[1].target = 3;
  EXPECT_EQ(refusal(query), "the query: edge 1 joins the vertices 1 and 3, but there are 3; number vertices from 0");
  query.edges[1].target = 0xffffffff;
  EXPECT_EQ(refusal(query), "the query: edge 1 joins the vertices 1 and 4294967295, but there are 3; number vertices from 0");
}

TEST(Validate, TakesSelfLoopsWhoseVerticesCountTwice) {
  Query query = path(1);
  query.edges.push_back({0, 0, {}, false});
  EXPECT_EQ(refusal(query), "accepted");
  query.edges.push_back({0, 0, {}, true});
  EXPECT_THAT(refusal(query), StartsWith("the query: the edge from 'v0' to 'v0' occurs twice"));
  query.edges.back().labels = {"A"};
  EXPECT_EQ(refusal(query), "accepted");
  query = path(32);
  query.edges.push_back({0, 0, {}, true});
  EXPECT_THAT(refusal(query), StartsWith("the query: the query has 32 vertices, of which 1 have self-loops and count twice; "));
}

TEST(Validate, WantsCanonicalTerms) {
  Query query = path(2);
  query.vertices[0].labels = {"A\037B"};
  EXPECT_EQ(refusal(query), "accepted");
  query.vertices[0].labels = {"B\037A"};
  EXPECT_THAT(refusal(query), StartsWith("the query: the labels of vertex 'v0' are not sorted and distinct"));
}

TEST(Validate, RefusesTheSameEdgeTwice) {
  Query query = path(3);
  query.edges.push_back({0, 1, {}, true});
  EXPECT_THAT(refusal(query), StartsWith("the query: the edge from 'v0' to 'v1' occurs twice"));
  for (const QueryEdge& other : {QueryEdge{1, 0, {}, true}, QueryEdge{0, 1, {"A"}, true}, QueryEdge{0, 1, {}, false}}) {
    query.edges.back() = other;
    EXPECT_EQ(refusal(query), "accepted");
  }
  query.edges.push_back({1, 0, {}, false});  // the reverse of the undirected one
  EXPECT_THAT(refusal(query), StartsWith("the query: the undirected edge between 'v1' and 'v0' occurs twice"));
}

TEST(Validate, RefusesDisconnectedQueries) {
  Query query = path(5);
  query.edges.erase(query.edges.begin() + 2);
  EXPECT_THAT(refusal(query),
              StartsWith("the query: the query is disconnected: no edge joins the vertices {v0,v1,v2} and {v3,v4}"));
  query.edges.push_back({4, 0, {}, true});
  EXPECT_EQ(refusal(query), "accepted");
}

}  // namespace
}  // namespace deltamatch
