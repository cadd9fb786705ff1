// Edges without times, as a file and as a service tell of them.
#include "ingest/batch/absent_times.hpp"

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

/// `count` insertions of edges, with this time.
void add(AbsentTimes& times, std::uint64_t count, std::optional<Timestamp> time) {
  UpdateBatch batch;
  for (std::uint64_t i = 0; i < count; ++i) {
    Update update;
    update.kind = UpdateKind::insert_edge;
    update.source = 1;
    update.target = static_cast<std::int64_t>(i);
    update.time = time;
    batch.add(update);
  }
  times.add(batch.updates());
}

TEST(AbsentTimes, OneEdgeWithATimeIsEnough) {
  AbsentTimes times;
  EXPECT_FALSE(times.warning("x", "name it"));
  add(times, 2, std::nullopt);
  const auto warning = times.warning("x", "name it");
  ASSERT_TRUE(warning);
  EXPECT_EQ(to_string(*warning), "x: no edge has a time, but a query reads times (2 in all); name it");
  EXPECT_FALSE(times.warning("x", "")) << "the options say that there is none";
  add(times, 1, 0);
  EXPECT_FALSE(times.warning("x", "name it"));
}

TEST(AbsentTimes, OtherUpdatesNeedNone) {
  AbsentTimes times;
  UpdateBatch batch;
  for (const UpdateKind kind : {UpdateKind::delete_edge, UpdateKind::insert_vertex, UpdateKind::delete_vertex}) {
    Update update;
    update.kind = kind;
    update.source = 1;
    batch.add(update);
  }
  times.add(batch.updates());
  EXPECT_FALSE(times.warning("x", "name it"));
}

TEST(AbsentTimes, AnInputWithoutAnEndIsWarnedOfOnceAtAHundredEdges) {
  AbsentTimes times;
  add(times, 99, std::nullopt);
  EXPECT_FALSE(times.due());
  add(times, 1, std::nullopt);
  ASSERT_TRUE(times.due());
  EXPECT_EQ(times.give("x", "name it")->count, 100);
  add(times, 100, std::nullopt);
  EXPECT_FALSE(times.due());
  AbsentTimes late;
  add(late, 99, std::nullopt);
  add(late, 2, 5);
  EXPECT_FALSE(late.due());
}

TEST(AbsentTimes, QueriesReadTimesByWithinAndByConditions) {
  const auto reads = [](std::string_view pattern) { return reads_times(parse_pattern(pattern, "q")); };
  EXPECT_TRUE(reads("(a)-->(b)-->(c) WITHIN 1h"));
  EXPECT_FALSE(reads("(a)-->(b) WITHIN 1h")) << "an edge is always within 1h of itself";
  EXPECT_TRUE(reads("(a)-[t]->(b) WHERE t.amount > 5 AND (t.x = 1 OR NOT t.time > datetime('2026-01-31'))"));
  EXPECT_FALSE(reads("(a)-[t]->(b) WHERE t.amount > 5 AND a.time = 5")) << "this is an attribute of a vertex";
  EXPECT_FALSE(reads("(a)-->(b)"));
}

}  // namespace
}  // namespace deltamatch::ingest
