// Conditional queries whose lists must be brought to the state of the graph anew. That is so after failed batches and for
// queries that come later.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

constexpr Timestamp second = 1'000'000;

/// A batch of payments, each "who pays whom at which second".
struct Payment {
  std::int64_t from;
  std::int64_t to;
  std::int64_t at;
};
UpdateBatch batch_of(const std::vector<Payment>& payments, UpdateKind kind = UpdateKind::insert_edge) {
  UpdateBatch batch;
  for (const Payment& payment : payments)
    batch.add({.kind = kind, .source = Id(payment.from), .target = Id(payment.to), .time = payment.at * second});
  return batch;
}

Query chain() { return parse_pattern("(a)-[t1]->(b)-[t2]->(c) WHERE t1.time < t2.time WITHIN 10s", "chain"); }

/// Fails when a batch is to be committed.
class FailingSink final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& /*match*/) override {}
  void commit() override { throw Error("sink", "the disk is full", "free some room"); }
  void abort() noexcept override {}
};

class TimeOrderTest : public testing::Test {
 protected:
  TimeOrderTest() : engine_({.threads = 1, .schema = {EdgeModel::events, {}, {}}}) {}
  Count added(const std::vector<Payment>& payments) { return engine_.process(batch_of(payments)).queries.at(0).added; }
  Count removed(const std::vector<Payment>& payments) {
    return engine_.process(batch_of(payments, UpdateKind::delete_edge)).queries.at(0).removed;
  }

  Engine engine_;
};

TEST_F(TimeOrderTest, ABatchThatFailedCanBeGivenAgain) {
  engine_.add_query(chain(), {.list = true});
  EXPECT_EQ(added({{1, 2, 1}, {2, 3, 2}}), 1);
  FailingSink sink;
  const std::vector<Payment> next = {{3, 4, 3}, {2, 5, 4}, {4, 6, 5}};
  for (int turn = 0; turn < 2; ++turn) EXPECT_THROW(engine_.process(batch_of(next), OnReject::stop, &sink), Error);
  EXPECT_EQ(added(next), 3);  // 2-3-4, 1-2-5, 3-4-6
  EXPECT_EQ(removed({{2, 3, 9}}), 2);
  EXPECT_EQ(added({{5, 7, 6}}), 1);
}

TEST_F(TimeOrderTest, AQueryThatComesLaterMeetsWhatIsThere) {
  const QueryId first = engine_.add_query(chain(), {});
  EXPECT_EQ(added({{1, 2, 1}, {2, 3, 2}}), 1);
  engine_.remove_query(first);
  engine_.process(batch_of({{3, 4, 3}}));
  engine_.add_query(chain(), {});
  EXPECT_EQ(added({{4, 5, 4}}), 1);
  EXPECT_EQ(added({{3, 6, 5}}), 1);
}

TEST_F(TimeOrderTest, EdgesThatHaveAgedAreMetNoMore) {
  engine_.add_query(chain(), {});
  EXPECT_EQ(added({{1, 2, 1}}), 0);
  UpdateBatch vertices;  // moves the watermark, so the edge leaves with a batch that has no other change
  vertices.add({.kind = UpdateKind::insert_vertex, .source = Id(50), .time = 30 * second});
  engine_.process(vertices);
  engine_.process(vertices);
  EXPECT_EQ(engine_.graph().edges, 0U);
  EXPECT_EQ(added({{2, 3, 31}, {7, 2, 31}, {2, 8, 32}}), 1);
}

TEST_F(TimeOrderTest, LateEdgesTakeTheirPlace) {
  engine_.add_query(chain(), {});
  EXPECT_EQ(added({{2, 3, 5}, {4, 5, 9}}), 0);
  EXPECT_EQ(added({{1, 2, 4}, {3, 6, 3}}), 1);  // 1-2-3; 3-6 is older than 2-3
  EXPECT_EQ(added({{1, 2, 5}}), 0);             // not older than 2-3
}

TEST_F(TimeOrderTest, TwoQueriesAndStaticMatchesShareTheLists) {
  engine_.add_query(chain(), {});
  engine_.add_query(parse_pattern("(a)-[t1]->(b)-[t2]->(a) WHERE t1.time < t2.time WITHIN 5s", "back"), {});
  const BatchResult result = engine_.process(batch_of({{1, 2, 1}, {2, 1, 2}, {1, 3, 3}}));
  EXPECT_EQ(result.queries.at(0).added, 1);  // 2-1-3
  EXPECT_EQ(result.queries.at(1).added, 1);
  EXPECT_EQ(engine_.match(chain(), StaticOptions{}).matches, 1);
  EXPECT_EQ(engine_.process(batch_of({{3, 9, 4}})).queries.at(0).added, 1);
}

}  // namespace
}  // namespace deltamatch
