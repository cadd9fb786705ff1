// The progress that is reported during a static match.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "deltamatch/engine.hpp"
#include "engine/whole/progress_reporter.hpp"

namespace deltamatch {
namespace {

double processor_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) std::abort();
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Joins each vertex to some earlier ends of edges, so that a few vertices get most edges. Also joins it to some vertices with
/// near numbers.
void add_edges_with_hubs(Engine& engine, std::int64_t vertices, std::size_t each) {
  std::mt19937 random(7);
  std::vector<std::int64_t> ends{0};
  UpdateBatch batch;
  for (std::int64_t v = 1; v < vertices; ++v) {
    for (std::size_t i = 0; i < each; ++i) {
      const std::int64_t other = ends[random() % ends.size()];
      if (other == v) continue;
      Update update;
      update.source = Id(v);
      update.target = Id(other);
      batch.add(update);
      ends.insert(ends.end(), {v, other});
    }
  }
  engine.load(batch, OnReject::skip);
}

struct Told {
  double seconds;
  double fraction;
};

struct Course {
  std::vector<Told> told;
  double end = 0;
};

Course follow(const std::string& query, unsigned threads, bool list = false, std::int64_t vertices = 4'000) {
  Engine engine({.directed = false, .threads = threads});
  add_edges_with_hubs(engine, vertices, 6);
  Course course;
  StaticOptions how;
  how.query.list = list;
  how.progress = [&](const StaticProgress& so_far) { course.told.push_back({processor_seconds(), so_far.fraction}); };
  (void)engine.match(parse_pattern(query, "q"), how);
  course.end = processor_seconds();
  return course;
}

void check_steady(const Course& course) {
  ASSERT_FALSE(course.told.empty());
  double last = 0;
  for (const Told& told : course.told) {
    EXPECT_GE(told.fraction, last);
    EXPECT_LE(told.fraction, 1);
    last = told.fraction;
  }
  EXPECT_NEAR(last, 1, 1e-9);
}

TEST(Progress, FollowsTheTimeThatMatchingTakesAmongHubs) {
  for (const char* query :
       {"(a)--(b)--(c)--(d)--(e)--(a)", "(a)--(b)--(c)--(d)--(a)--(e)--(b)", "(a)--(b)--(c)--(d)--(e)--(f)--(a)"}) {
    const Course course = follow(query, 1, false, 30'000);
    check_steady(course);
    double most = 0;  // before the first report, plans are made and vertices numbered
    const double start = course.told.front().seconds;
    for (const Told& told : course.told) {
      most = std::max(most, std::abs(told.fraction - (told.seconds - start) / (course.end - start)));
    }
    EXPECT_LE(most, 0.35) << query << ", " << course.told.size() << " times told in " << course.end - start << " s";
    RecordProperty("farthest_off", std::to_string(most));
  }
}

TEST(Progress, NeverGoesBackWithThreadsNorInListings) {
  check_steady(follow("(a)--(b)--(c)--(d)--(e)--(a)", 3));
  check_steady(follow("(a)--(b)--(c)--(a)", 1, true));
  check_steady(follow("(a)--(b)--(c)--(a)", 3, true));
}

TEST(Progress, FollowsTheLimit) {
  Engine engine({.directed = false, .threads = 1});
  add_edges_with_hubs(engine, 30'000, 6);
  StaticOptions how;
  how.query.list = true;
  how.limit = 200'000;
  double last = 0;
  how.progress = [&](const StaticProgress& so_far) {
    EXPECT_GE(so_far.fraction, static_cast<double>(so_far.matches.value_or(0)) / 200'000);
    last = so_far.fraction;
  };
  EXPECT_EQ(engine.match(parse_pattern("(a)--(b)--(c)--(d)--(e)--(f)--(a)", "q"), how).shortfall, Shortfall::limit);
  EXPECT_GT(last, 0.9);
}

TEST(ProgressReporter, TellsWithinPortions) {
  std::vector<double> told;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress& so_far) { told.push_back(so_far.fraction); };
  engine::ProgressReporter teller(tell, {}, std::chrono::seconds(0));
  teller.expect(10);
  teller.end_portion(0);
  const auto& begins = *teller.portion({1, 3, 4});
  begins(2);
  begins(1);  // the later report of another thread: the share does not decrease
  teller.found(5);
  teller.end_portion(9);
  teller.expect(20);  // all of them again
  (void)teller.portion({12});
  teller.end_portion(9);
  (void)teller.portion({9});
  teller.end_portion(9);
  EXPECT_EQ(told, (std::vector<double>{0, 0.4, 0.4, 0.4, 0.8, 0.8, 1}));
}

TEST(ProgressReporter, TellsTheShareOfALimit) {
  std::vector<double> told;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress& so_far) { told.push_back(so_far.fraction); };
  engine::ProgressReporter teller(tell, 10, std::chrono::seconds(0));
  teller.expect(100);
  const auto& begins = *teller.portion({10, 10, 10, 20});
  teller.found(2);
  begins(3);
  teller.found(5);
  teller.end_portion(9, 10);
  (void)teller.portion({10});
  teller.end_portion(9);
  teller.found(12);
  EXPECT_EQ(told, (std::vector<double>{0.2, 0.3, 0.5, 0.9, 0.9, 1}));
}

TEST(ProgressReporter, WhatWasLeftIsStillToBeDone) {
  std::vector<double> told;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress& so_far) { told.push_back(so_far.fraction); };
  engine::ProgressReporter teller(tell);
  teller.expect(10);
  (void)teller.portion({4, 6});
  teller.end_portion(0, 6);
  (void)teller.portion({6});
  teller.end_portion(0);
  EXPECT_EQ(told, (std::vector<double>{0.4, 1}));
}

TEST(ProgressReporter, TellsNoCountThatIsOld) {
  std::vector<std::optional<Count>> told;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress& so_far) { told.push_back(so_far.matches); };
  engine::ProgressReporter teller(tell, {}, std::chrono::seconds(0));
  teller.expect(10);
  const auto& begins = *teller.portion({4, 3});
  begins(1);  // counts are added up at the portion's end
  teller.end_portion(7);
  const auto& listing = *teller.portion({2, 1});
  teller.found(8);
  listing(1);
  EXPECT_EQ(told, (std::vector<std::optional<Count>>{std::nullopt, 7, 8, 8}));
}

TEST(ProgressReporter, LeavesAPauseBetweenBeginnings) {
  unsigned told = 0;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress&) { ++told; };
  engine::ProgressReporter teller(tell, {}, std::chrono::hours(1));
  teller.expect(8);
  const auto& begins = *teller.portion({1, 3, 4});
  begins(1);
  begins(2);
  EXPECT_EQ(told, 0);
  teller.end_portion(9);
  EXPECT_EQ(told, 1);
}

TEST(ProgressReporter, TellsAllWhereNothingIsToBeDone) {
  double told = 0;
  const engine::ProgressReporter::Tell tell = [&](const StaticProgress& so_far) { told = so_far.fraction; };
  engine::ProgressReporter teller(tell);
  teller.expect(0);
  teller.end_portion(0);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace deltamatch
