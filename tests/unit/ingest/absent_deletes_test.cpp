// Deletions of what is not there, as a file and as a service tell of them.
#include "ingest/batch/absent_deletes.hpp"

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

Update edge(UpdateKind kind, std::int64_t source, std::int64_t target) {
  Update update;
  update.kind = kind;
  update.source = source;
  update.target = target;
  return update;
}

/// `absent` deletions of edges that are not there, and `present` of edges that are.
void add(AbsentDeletes& deletes, std::uint64_t absent, std::uint64_t present) {
  UpdateBatch batch;
  for (std::uint64_t i = 0; i < absent + present; ++i)
    batch.add(edge(UpdateKind::delete_edge, 1, static_cast<std::int64_t>(i)));
  Ignored ignored;
  ignored.absent_delete = absent;
  deletes.add(batch.updates(), ignored);
}

TEST(AbsentDeletes, MoreThanHalfAndThreeAreDoubtful) {
  AbsentDeletes deletes(true);
  add(deletes, 2, 0);
  EXPECT_FALSE(deletes.warning("x"));
  add(deletes, 1, 2);
  const auto warning = deletes.warning("x");
  ASSERT_TRUE(warning);
  EXPECT_EQ(to_string(*warning),
            "x: 3 of 5 deletions name edges or vertices that do not exist (3 in all); check that source and target are not "
            "swapped, and that labels and ids match the insertions, or load the start graph");
  add(deletes, 0, 1);
  EXPECT_FALSE(deletes.warning("x"));
}

TEST(AbsentDeletes, OfAnUndirectedGraphAreNotSwapped) {
  AbsentDeletes deletes(false);
  add(deletes, 3, 0);
  EXPECT_THAT(deletes.warning("x")->remedy, ::testing::StartsWith("check that labels and ids match"));
}

TEST(AbsentDeletes, OnesThatUndoAnInsertionOfTheirBatchAreNone) {
  AbsentDeletes deletes(true);
  UpdateBatch batch;
  for (std::int64_t i = 0; i < 4; ++i) {
    batch.add(edge(UpdateKind::insert_edge, i, i + 1));
    batch.add(edge(UpdateKind::delete_edge, i, i + 1));
  }
  Ignored ignored;
  ignored.absent_delete = 4;
  deletes.add(batch.updates(), ignored);
  EXPECT_FALSE(deletes.warning("x"));
}

TEST(AbsentDeletes, OfAServiceAreToldOnceThereAreEnough) {
  AbsentDeletes deletes(true);
  add(deletes, 99, 0);
  EXPECT_FALSE(deletes.fresh("x"));
  add(deletes, 1, 0);
  EXPECT_TRUE(deletes.fresh("x"));
  add(deletes, 1000, 0);
  EXPECT_FALSE(deletes.fresh("x"));  // told already
}

TEST(AbsentDeletes, OfAServiceAreJudgedAgainAtTwiceAsMany) {
  AbsentDeletes deletes(true);
  add(deletes, 0, 100);
  EXPECT_FALSE(deletes.fresh("x"));
  add(deletes, 99, 0);
  EXPECT_FALSE(deletes.fresh("x"));
  add(deletes, 2, 0);
  EXPECT_TRUE(deletes.fresh("x"));
}

}  // namespace
}  // namespace deltamatch::ingest
