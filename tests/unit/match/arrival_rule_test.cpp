// Which changed matches of a pattern with WITHIN are reported.
#include "match/arrival_rule.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace deltamatch::match {
namespace {

constexpr Timestamp span = 10;
constexpr Timestamp never = std::numeric_limits<Timestamp>::max();

/// Edges from vertex i to i + 1 in slot i. Their times are given.
class ArrivalRuleTest : public testing::Test {
 protected:
  graph::Edge edge(std::optional<Timestamp> time) {
    const auto at = static_cast<VertexId>(table_.slots());
    return {at, at + 1, table_.create({.tail = at, .head = at + 1, .time = time}, {})};
  }
  /// Whether a match of these edges is reported.
  [[nodiscard]] bool admits(bool appears, const std::vector<graph::Edge>& changed, const std::vector<Timestamp>& marks,
                            const std::vector<graph::Edge>& match, Timestamp within = span) const {
    const ArrivalMarks arrivals(changed, marks, appears, table_);
    return ArrivalRule(arrivals, within).admits(match);
  }

  graph::SymbolTable symbols_;
  graph::EdgeTable table_{{EdgeModel::events, {}, {}}, symbols_};
};

TEST_F(ArrivalRuleTest, AMatchAppearsIfItsOldestEdgeIsYoungAtTheLastArrival) {
  const graph::Edge old_edge = edge(100);
  const graph::Edge fresh = edge(109);
  EXPECT_TRUE(admits(true, {fresh}, {109}, {old_edge, fresh}));
  EXPECT_FALSE(admits(true, {fresh}, {110}, {old_edge, fresh}));  // 100 + 10 is not later than 110
  EXPECT_TRUE(admits(true, {fresh}, {110}, {old_edge, fresh}, span + 1));
}

TEST_F(ArrivalRuleTest, TheLastOfSeveralArrivalsCounts) {
  const graph::Edge first = edge(100);
  const graph::Edge second = edge(101);
  EXPECT_TRUE(admits(true, {first, second}, {100, 109}, {second, first}));
  EXPECT_FALSE(admits(true, {first, second}, {100, 110}, {second, first}));
  EXPECT_FALSE(admits(true, {first, second}, {110, 100}, {second, first}));
}

TEST_F(ArrivalRuleTest, OtherChangesOfTheBatchDoNotCount) {
  const graph::Edge mine = edge(100);
  const graph::Edge other = edge(200);
  EXPECT_TRUE(admits(true, {mine, other}, {100, 200}, {mine}));
}

TEST_F(ArrivalRuleTest, AMatchVanishesIfItIsYoungAtTheFirstDeletion) {
  const graph::Edge old_edge = edge(100);
  const graph::Edge young = edge(105);
  EXPECT_TRUE(admits(false, {old_edge, young}, {109, 120}, {old_edge, young}));
  EXPECT_TRUE(admits(false, {old_edge, young}, {120, 109}, {old_edge, young}));
  EXPECT_FALSE(admits(false, {old_edge, young}, {110, 120}, {old_edge, young}));
}

TEST_F(ArrivalRuleTest, AnEdgeThatNoRecordDeletedHasAged) {
  const graph::Edge old_edge = edge(100);
  EXPECT_FALSE(admits(false, {old_edge}, {never}, {old_edge}));
  const graph::Edge recalled = edge(101);
  EXPECT_TRUE(admits(false, {old_edge, recalled}, {never, 105}, {old_edge, recalled}));
}

TEST_F(ArrivalRuleTest, AMatchOfEdgesWithoutTimeIsNotReported) {
  const graph::Edge timeless = edge({});
  EXPECT_FALSE(admits(true, {timeless}, {1'000'000}, {timeless}));
  EXPECT_FALSE(admits(false, {timeless}, {1'000'000}, {timeless}));
  EXPECT_FALSE(admits(false, {timeless}, {never}, {timeless}));
}

TEST_F(ArrivalRuleTest, TimesAtTheEndOfTheirRangeAreYoung) {
  const graph::Edge last = edge(never - 1);
  EXPECT_TRUE(admits(true, {last}, {never - 1}, {last}));
}

}  // namespace
}  // namespace deltamatch::match
