// Batches that expire edges as batches of one record each do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/batch_resolver.hpp"

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Update insert(Id source, Id target, Timestamp time, std::optional<std::string_view> source_label = {}) {
  Update update;
  update.source = source;
  update.target = target;
  update.time = time;
  update.source_label = source_label;
  return update;
}

/// A graph with a window of 100.
class WindowBatch : public testing::TestWithParam<EdgeModel> {
 protected:
  WindowBatch() : graph_(true, true, heap_slabs(), {.model = GetParam(), .edges = {}, .vertices = {}}) {
    resolver_.go_by_record(true);
  }

  /// Takes a batch in its parts. Returns the number of updates of each.
  std::vector<std::size_t> apply(const std::vector<Update>& updates) {
    batch_.clear();
    for (const Update& update : updates) batch_.add(update);
    std::vector<std::size_t> parts;
    rejects_.clear();
    late_ = 0;
    for (bool more = true; more;) {
      resolver_.mark_changes(true);
      const ResolvedBatch& result = resolver_.resolve(batch_, on_reject_, watermark_);
      parts.push_back(result.consumed);
      marks_ = result.inserted_marks;
      passed_.clear();
      for (const Expired& each : result.passed) passed_.push_back(each.time);
      for (const Reject& reject : result.rejects) rejects_.push_back(reject.reason);
      late_ += result.ignored.late;
      watermark_ = result.watermark;
      more = result.cut;
      if (more) batch_.drop_first(result.consumed);
      graph_.stage(result.net);
      graph_.settle(workers_);
      resolver_.commit();
    }
    return parts;
  }

  Workers workers_{1};
  DataGraph graph_;
  Window window_{100};
  BatchResolver resolver_{graph_, &window_, workers_};
  UpdateBatch batch_;
  OnReject on_reject_ = OnReject::skip;
  std::optional<Timestamp> watermark_;
  std::vector<Timestamp> marks_;   // of the edges that the last part inserted
  std::vector<Timestamp> passed_;  // times of the edges that expired in the last part
  std::vector<RejectReason> rejects_;
  std::uint64_t late_ = 0;
};

TEST_P(WindowBatch, EndsBeforeAnEdgeOfItExpires) {
  EXPECT_THAT(apply({insert(1, 2, 0), insert(2, 3, 50), insert(3, 4, 99), insert(4, 5, 100), insert(5, 6, 120)}),
              ElementsAre(3, 2));
  EXPECT_THAT(marks_, ElementsAre(100, 120));
  EXPECT_THAT(passed_, ElementsAre(0));
  EXPECT_EQ(graph_.edges(), 4U);
  EXPECT_EQ(late_, 0U);
}

TEST_P(WindowBatch, HoldsEdgesThatExpireIfAnEarlierBatchInsertedThem) {
  apply({insert(1, 2, 0), insert(2, 3, 50)});
  EXPECT_THAT(apply({insert(3, 4, 100), insert(4, 5, 140)}), ElementsAre(2));
  EXPECT_THAT(passed_, ElementsAre(0));
  EXPECT_THAT(marks_, ElementsAre(100, 140));
}

TEST_P(WindowBatch, AnEdgeIsLateIfItHasExpiredAtItsOwnRecord) {
  EXPECT_THAT(apply({insert(1, 2, 200), insert(2, 3, 100), insert(3, 4, 101), insert(4, 5, 250)}), ElementsAre(3, 1));
  EXPECT_EQ(late_, 1U);
  EXPECT_EQ(graph_.edges(), 2U);
}

TEST_P(WindowBatch, ABatchWithoutMarksHasNoneOfTheOneBefore) {
  apply({insert(1, 2, 0), insert(2, 3, 50)});
  EXPECT_THAT(marks_, ElementsAre(0, 50));
  batch_.clear();
  batch_.add(insert(3, 4, 60));
  resolver_.mark_changes(false);
  EXPECT_THAT(resolver_.resolve(batch_, OnReject::skip, watermark_).inserted_marks, IsEmpty());
  resolver_.undo();
}

TEST_P(WindowBatch, StatedWatermarksAndStepsRiseAsRecordsDo) {
  batch_.clear();
  apply({insert(1, 2, 0)});
  batch_.clear();
  for (const Timestamp time : {10, 20, 90}) batch_.add(insert(time, time + 1, time));
  batch_.set_watermark(115);
  batch_.set_steps({{1, 20}, {2, 115}});
  const ResolvedBatch& result = resolver_.resolve(batch_, OnReject::skip, watermark_);
  EXPECT_TRUE(result.cut);  // at 115 the edge of time 10 expires
  EXPECT_EQ(result.consumed, 2U);
  EXPECT_EQ(result.watermark, 20);
  batch_.drop_first(2);
  ASSERT_TRUE(batch_.steps());
  EXPECT_THAT(*batch_.steps(), ElementsAre(WatermarkStep{0, 115}));
  resolver_.undo();
}

INSTANTIATE_TEST_SUITE_P(Models, WindowBatch, testing::Values(EdgeModel::simple, EdgeModel::events));

using SimpleWindowBatch = WindowBatch;

TEST_P(SimpleWindowBatch, EndsBeforeAnExpiredEdgeIsInsertedAgain) {
  apply({insert(1, 2, 0), insert(2, 3, 90)});
  EXPECT_THAT(apply({insert(3, 4, 100), insert(1, 2, 101), insert(4, 5, 102)}), ElementsAre(1, 2));
  EXPECT_EQ(graph_.edges(), 4U);
}

TEST_P(SimpleWindowBatch, ARefreshBeforeItExpiresIsNoArrival) {
  apply({insert(1, 2, 0), insert(2, 3, 90)});
  EXPECT_THAT(apply({insert(1, 2, 95), insert(3, 4, 100), insert(1, 2, 190), insert(4, 5, 195)}), ElementsAre(3, 1));
  EXPECT_THAT(marks_, ElementsAre(195));
}

TEST_P(SimpleWindowBatch, AnEdgeThatExpiresKeepsItsLastTime) {
  apply({insert(1, 2, 0), insert(2, 3, 90)});
  EXPECT_THAT(apply({insert(1, 2, 20), insert(3, 4, 119), insert(4, 5, 120)}), ElementsAre(2, 1));
  EXPECT_THAT(passed_, ElementsAre(20));
}

TEST_P(SimpleWindowBatch, EndsBeforeAVertexThatLostItsLabelIsNamedAgain) {
  apply({insert(1, 2, 0, "A"), insert(2, 3, 90)});
  EXPECT_THAT(apply({insert(3, 4, 100), insert(1, 5, 101, "B")}), ElementsAre(1, 1));
  EXPECT_THAT(rejects_, IsEmpty());
  EXPECT_THAT(apply({insert(1, 6, 110, "C")}), ElementsAre(1));
  EXPECT_THAT(rejects_, ElementsAre(RejectReason::label_conflict));
}

TEST_P(SimpleWindowBatch, ALateRecordKeepsNoLabel) {
  EXPECT_THAT(apply({insert(1, 2, 200), insert(3, 4, 100, "A"), insert(3, 5, 150, "B")}), ElementsAre(2, 1));
  EXPECT_THAT(rejects_, IsEmpty());
  apply({insert(6, 7, 210, "A")});
  // It does not keep a vertex alive that loses its last edge.
  EXPECT_THAT(apply({insert(8, 9, 290), insert(6, 8, 100), insert(8, 9, 310), insert(6, 9, 311)}), ElementsAre(3, 1));
}

TEST_P(SimpleWindowBatch, EndsBeforeARecordThatWouldBeRefused) {
  apply({insert(1, 2, 0, "A"), insert(2, 3, 90)});
  on_reject_ = OnReject::stop;
  EXPECT_THAT(apply({insert(3, 4, 100), insert(1, 5, 101, "B")}), ElementsAre(1, 1));
  EXPECT_THAT(rejects_, IsEmpty());
}

TEST_P(SimpleWindowBatch, GoesOnIfTheVertexLives) {
  apply({insert(1, 2, 0, "A"), insert(1, 3, 90)});
  EXPECT_THAT(apply({insert(3, 4, 100), insert(1, 5, 101, "A"), insert(1, 6, 102, "B")}), ElementsAre(3));
  EXPECT_THAT(rejects_, ElementsAre(RejectReason::label_conflict));
}

INSTANTIATE_TEST_SUITE_P(Simple, SimpleWindowBatch, testing::Values(EdgeModel::simple));

}  // namespace
}  // namespace deltamatch::graph
