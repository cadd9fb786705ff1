#include "query/fingerprint.hpp"

#include <set>

#include "unit/query/graphs.hpp"

namespace deltamatch::query {
namespace {

Fingerprint of(std::string_view pattern, MatchMode mode = MatchMode::isomorphism, CountMode count = CountMode::subgraphs) {
  return fingerprint(parse_pattern(pattern, "q"), mode, count);
}

TEST(QueryFingerprint, IsTheSameForEverySpelling) {
  const Fingerprint expected = of("(a:A)-[:T]->(b:B|C), (b)--(c), (a)-->(c)");
  EXPECT_EQ(of("MATCH ( x : A ) -[ :`T` ]-> (y:C|B|C) // text\n, (x)-->(z), (z)--(y:B|C)"), expected);
  EXPECT_EQ(of("(a:A), (b:B|C), (c), (c)--(b), (c)<--(a), (b)<-[:T]-(a)"), expected);
}

// A match id must survive restarts and new versions: the bytes are part of the format.
TEST(QueryFingerprint, IsPinned) {
  const Fingerprint triangle = of("(a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)");
  EXPECT_EQ(triangle.high, 17403869062460065753U);
  EXPECT_EQ(triangle.low, 8841895619146590270U);
}

TEST(QueryFingerprint, DiffersWithEveryPartOfTheQuery) {
  std::set<Fingerprint> seen;
  std::size_t expected = 0;
  for (const auto* pattern : {"(a)-->(b)", "(a)<--(b)", "(a)--(b)", "(a:A)-->(b)", "(a)-->(b:A)", "(a:``)-->(b)",
                              "(a:A|B)-->(b)", "(a:AB)-->(b)", "(a)-[:A]->(b)", "(a)-[:``]->(b)", "(a)-->(b)-->(c)",
                              "(a)-->(b)<--(c)", "(a)-->(b)-->(a)", "(a)-->(b), (a)-[:A]->(b)"}) {
    for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
      for (const CountMode count : {CountMode::subgraphs, CountMode::embeddings}) {
        seen.insert(of(pattern, mode, count));
        ++expected;
      }
    }
  }
  EXPECT_EQ(seen.size(), expected);
}

RC_GTEST_PROP(FingerprintProperty, IgnoresNamesOrderOfEdgesAndEndsOfUndirectedOnes, ()) {
  const Query query = *any_query(8);
  Query other = query;
  other.name = "another";
  for (QueryVertex& vertex : other.vertices) vertex.name += "'";
  for (QueryEdge& edge : other.edges) {
    if (!edge.directed) std::swap(edge.source, edge.target);
  }
  std::reverse(other.edges.begin(), other.edges.end());
  RC_ASSERT(fingerprint(query, MatchMode::homomorphism, CountMode::embeddings) ==
            fingerprint(other, MatchMode::homomorphism, CountMode::embeddings));
  const auto order = canonical_edge_order(query);
  const auto other_order = canonical_edge_order(other);
  RC_ASSERT(order.size() == query.edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) RC_ASSERT(order[i] == query.edges.size() - 1 - other_order[i]);
}

}  // namespace
}  // namespace deltamatch::query
