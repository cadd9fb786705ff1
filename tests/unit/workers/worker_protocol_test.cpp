// Single rules of a worker that no schedule needs to find.
#include "ingest/service/workers/worker_protocol.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace deltamatch::ingest::workers {
namespace {

/// The cut of a batch, whose only slot is a's.
Cut cut(std::uint64_t batch) {
  Cut cut{.mark = {}, .first = 1, .places = {{.worker = "a", .change = Change::none}}};
  cut.mark.batch = batch;
  return cut;
}

/// A worker that has a graph before the first of three cuts.
WorkerProtocol begun(const char* name) {
  WorkerProtocol worker(name, 1);
  EXPECT_EQ(worker.next()->kind, Step::Kind::read_all);
  for (const std::uint64_t batch : {1U, 2U, 3U}) worker.cut(cut(batch));
  worker.all_read();
  EXPECT_EQ(worker.next(), (Step{.kind = Step::Kind::restart}));
  EXPECT_FALSE(worker.next()) << "a second restart";
  worker.restarted(0, worker.cuts());
  return worker;
}

TEST(WorkerProtocol, ASpareStaysAtWhatAllHavePublished) {
  WorkerProtocol spare = begun("spare");
  EXPECT_FALSE(spare.next_batch());
  spare.progress(0, 2);
  EXPECT_EQ(spare.next_batch(), (Apply{.batch = 1}));
  spare.applied({.batch = 1}, {});
  spare.applied({.batch = 2}, {});
  EXPECT_FALSE(spare.next_batch());
  spare.lead(true);
  EXPECT_EQ(spare.next_batch(), (Apply{.batch = 3}));
}

TEST(WorkerProtocol, OneWithASlotGoesAhead) {
  WorkerProtocol worker = begun("a");
  EXPECT_EQ(worker.next_batch(), (Apply{.batch = 1, .slots = {0}}));
  worker.applied({.batch = 1, .slots = {0}}, {});
  EXPECT_EQ(worker.next_batch(), (Apply{.batch = 2, .slots = {0}}));
}

TEST(WorkerProtocol, WhatIsAppliedAfterARestartWasWantedCountsForNothing) {
  WorkerProtocol worker = begun("a");
  const Apply first = *worker.next_batch();
  Cut other = cut(4);
  worker.applied(first, {});
  worker.applied({.batch = 2}, {});
  worker.applied({.batch = 3}, {});
  worker.lead(true);
  worker.applied_ahead(other, {0});
  worker.lead(false);
  EXPECT_FALSE(worker.at());
  worker.applied({.batch = 4}, {});
  EXPECT_FALSE(worker.at());
  EXPECT_EQ(worker.next()->kind, Step::Kind::restart);
}

TEST(WorkerProtocol, WhatAnotherLeaderCutOtherwiseIsUndoneEvenIfItEndsAlike) {
  for (const Timestamp watermark : {5, 6}) {
    WorkerProtocol worker("a", 1);
    static_cast<void>(worker.next());
    worker.cut(cut(1));
    worker.all_read();
    static_cast<void>(worker.next());
    worker.restarted(0, worker.cuts());
    worker.applied(*worker.next_batch(), {});
    Cut mine = cut(2);
    mine.mark.watermark = 5;
    worker.applied_ahead(mine, {0});
    Cut committed = mine;
    committed.mark.watermark = watermark;
    worker.cut(committed);
    EXPECT_EQ(worker.at().has_value(), watermark == 5);
  }
}

TEST(WorkerProtocol, AnotherDigestEndsIt) {
  WorkerProtocol worker("a", 1);
  static_cast<void>(worker.next());
  Cut first = cut(1);
  first.mark.digest = RunningDigest{{}, {1, 2}};
  worker.cut(first);
  worker.all_read();
  static_cast<void>(worker.next());
  worker.restarted(0, worker.cuts());
  worker.applied(*worker.next_batch(), {{}, {1, 3}});
  EXPECT_FALSE(worker.at());
  const std::optional<Step> step = worker.next();
  EXPECT_EQ(step->kind, Step::Kind::exit);
  EXPECT_NE(step->why.find("batch 1"), std::string::npos) << step->why;
}

}  // namespace
}  // namespace deltamatch::ingest::workers
