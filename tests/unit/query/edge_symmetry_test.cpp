// Which alike edges can be exchanged, and how spellings of one condition compare.
#include "query/edge_symmetry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "query/automorphism.hpp"

namespace deltamatch::query {
namespace {

/// The names of two edges that can be exchanged, or nothing.
std::string exchange(const std::string& pattern) {
  const Query query = parse_pattern(pattern, "q");
  const auto edges = find_exchange(query);
  return edges ? query.edges[edges->first].name + ' ' + query.edges[edges->second].name : "";
}

const std::string two = "(a)-[t1:T]->(b), (a)-[t2:T]->(b) ";
const std::string three = two + ", (a)-[t3:T]->(b) ";
const std::string fork = "(a)-[t1:T]->(b), (a)-[t2:T]->(b), (a)-[t3:T]->(c), (a)-[t4:T]->(c) ";

TEST(EdgeSymmetry, OfTwoEdges) {
  EXPECT_EQ(exchange("(a)-[t1:T]->(b), (b)-[t2:T]->(a)"), "");  // not alike
  EXPECT_EQ(exchange(two), "t1 t2");
  EXPECT_EQ(exchange(two + "WHERE t1.x + t2.x > 5"), "t1 t2");
  EXPECT_EQ(exchange(two + "WHERE t1.time < t2.time"), "");
  EXPECT_EQ(exchange(two + "WHERE t1.x > 5"), "");
  EXPECT_EQ(exchange("(a)-[t1]-(b)-[t2]-(a)"), "t1 t2");
}

TEST(EdgeSymmetry, OfLaterEdgesOfMany) {
  EXPECT_EQ(exchange(three + "WHERE t1.x > 2"), "t2 t3");
  EXPECT_EQ(exchange(three + "WHERE t3.x > 2"), "t1 t2");
  EXPECT_EQ(exchange(three + "WHERE t1.time < t2.time AND t1.time < t3.time WITHIN 1h"), "t2 t3");
  EXPECT_EQ(exchange(three + "WHERE t1.time < t2.time < t3.time"), "");
  // Turned round, the condition is the same.
  EXPECT_EQ(exchange(three + "WHERE t1.x < t2.x + 5 AND t2.x < t3.x + 5 AND t3.x < t1.x + 5"), "t1 t2");
  std::string many = "(a)-[t0:T]->(b)";
  std::string chain = "t0.time";
  for (int i = 1; i < 12; ++i) {
    many += ", (a)-[t" + std::to_string(i) + ":T]->(b)";
    chain += " < t" + std::to_string(i) + ".time";
  }
  EXPECT_EQ(exchange(many + " WHERE " + chain), "");
}

TEST(EdgeSymmetry, AcrossVertices) {
  // Exchanging b and c maps t1 to t3, as automorphisms of the vertices do.
  EXPECT_EQ(exchange(fork + "WHERE t1.time < t2.time AND t3.time < t4.time"), "");
  EXPECT_EQ(exchange(fork + "WHERE t1.time < t2.time AND t4.time < t3.time"), "t1 t4");
  EXPECT_EQ(exchange(fork + "WHERE t1.time < t2.time AND t4.time < t3.time AND t1.time < t4.time"), "");
  EXPECT_EQ(exchange(fork + "WHERE t1.time < t2.time < t3.time < t4.time"), "");
}

TEST(EdgeSymmetry, AnAutomorphismOfTheVerticesIsNoExchange) {
  const Query query = parse_pattern(fork + "WHERE t1.time < t2.time AND t3.time < t4.time", "q");
  EXPECT_EQ(Group(query).order(), 2U);
}

// Two bounds on a difference are one condition, however they are written.
TEST(EdgeSymmetry, SpellingsOfABoundHaveOneGroup) {
  const std::string pair = "(a)-[t1:T]->(b)-[t2:T]->(a) WHERE ";
  for (const std::string where :
       {"-1h < t1.time - t2.time < 1h", "t1.time - t2.time < 1h AND t2.time - t1.time < 1h", "-5 < t1.x - t2.x < 5",
        "t1.x - t2.x < 5 AND t2.x - t1.x < 5", "1h > t1.time - t2.time > -1h"}) {
    EXPECT_EQ(Group(parse_pattern(pair + where, "q")).order(), 2U) << where;
  }
  EXPECT_EQ(Group(parse_pattern(pair + "-1h < t1.time - t2.time < 2h", "q")).order(), 1U);
}

}  // namespace
}  // namespace deltamatch::query
