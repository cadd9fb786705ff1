// What sinks, planners and other callbacks may do with the engine that calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/planner.hpp"

namespace deltamatch {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr const char* refusal = "engine: a sink, a planner, another callback or another thread called it during a call; call";

enum class Moment : std::uint8_t { begin, write, commit };

/// Does something once, at one moment of a batch.
class ActingSink final : public MatchSink {
 public:
  ActingSink(Moment moment, std::function<void()> act) : moment_(moment), act_(std::move(act)) {}
  void begin(std::uint64_t /*batch*/) override { reach(Moment::begin); }
  void write(const Match& match) override {
    reach(Moment::write);
    names_.emplace_back(match.query);  // reads what an unguarded call would have freed
    ++written;
  }
  void commit() override { reach(Moment::commit); }
  void abort() noexcept override { ++aborted; }

  int written = 0;
  int aborted = 0;

 private:
  void reach(Moment moment) {
    if (moment == moment_ && act_) std::exchange(act_, nullptr)();
  }
  Moment moment_;
  std::function<void()> act_;
  std::vector<std::string> names_;
};

const Query triangle = parse_pattern("(a)-->(b)-->(c)-->(a)", "a name too long to be stored within the string");
const Query square = parse_pattern("(a)-->(b)-->(c)-->(d)-->(a)", "square");

UpdateBatch triangles(int count, int first = 0) {
  UpdateBatch batch;
  for (int i = first; i < first + count; ++i) {
    batch.add({.source = 3 * i, .target = 3 * i + 1});
    batch.add({.source = 3 * i + 1, .target = 3 * i + 2});
    batch.add({.source = 3 * i + 2, .target = 3 * i});
  }
  return batch;
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return {};
}

/// Every call that is not allowed, by name.
std::map<std::string, std::function<void(Engine&)>> forbidden(QueryId query) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "deltamatch-callback-test.snapshot";
  return {
      {"add_query", [](Engine& engine) { engine.add_query(square); }},
      {"remove_query", [=](Engine& engine) { engine.remove_query(query); }},
      {"replace_queries", [=](Engine& engine) { engine.replace_queries(std::vector{query}, {}); }},
      {"load", [](Engine& engine) { engine.load(triangles(1, 100)); }},
      {"process", [](Engine& engine) { engine.process(triangles(1, 100)); }},
      {"process with options", [](Engine& engine) { static_cast<void>(engine.process(triangles(1, 100), BatchOptions{})); }},
      {"absorb", [](Engine& engine) { engine.absorb(triangles(1, 100)); }},
      {"waiting", [=](Engine& engine) { static_cast<void>(engine.waiting(query)); }},
      {"budget", [=](Engine& engine) { engine.budget(query, {}); }},
      {"spool", [](Engine& engine) { engine.spool({}); }},
      {"limit_labels", [](Engine& engine) { engine.limit_labels(7); }},
      {"retain", [](Engine& engine) { engine.retain(7); }},
      {"watch_vertices", [](Engine& engine) { engine.watch_vertices(true); }},
      {"begin_digest", [](Engine& engine) { engine.begin_digest(); }},
      {"match", [](Engine& engine) { engine.match(square); }},
      {"sample", [](Engine& engine) { engine.sample(square); }},
      {"explain", [](Engine& engine) { static_cast<void>(engine.explain(square)); }},
      {"explain a standing query", [=](Engine& engine) { static_cast<void>(engine.explain(query)); }},
      {"explain a whole graph", [](Engine& engine) { static_cast<void>(engine.explain(square, StaticOptions{})); }},
      {"analyze", [](Engine& engine) { engine.analyze(true); }},
      {"for_each", [](Engine& engine) { engine.for_each([](const Update&) {}); }},
      {"save", [=](Engine& engine) { engine.save(path); }},
  };
}

TEST(Callbacks, ASinkOfABatchMayNotCallItsEngine) {
  for (const auto& [name, call] : forbidden(QueryId{0})) {
    for (const Moment moment : {Moment::begin, Moment::write, Moment::commit}) {
      SCOPED_TRACE(name + " at moment " + std::to_string(static_cast<int>(moment)));
      Engine engine;
      engine.add_query(triangle, {.list = true});
      const RunningDigest before = engine.digest();
      ActingSink sink(moment, [&] { call(engine); });
      EXPECT_THAT(refusal_of([&] { engine.process(triangles(5), OnReject::stop, &sink); }), StartsWith(refusal));
      EXPECT_EQ(sink.aborted, 1);
      EXPECT_EQ(engine.batch(), 0U);
      EXPECT_EQ(engine.graph().edges, 0U);
      EXPECT_EQ(engine.digest(), before);
      const BatchResult again = engine.process(triangles(5), OnReject::stop, &sink);
      EXPECT_EQ(to_string(again.queries.at(0).added), "5") << "the engine goes on";
    }
  }
}

TEST(Callbacks, ASinkMayCatchTheRefusalAndAskForWhatIsConst) {
  Engine engine;
  engine.add_query(triangle, {.list = true});
  ActingSink sink(Moment::write, [&] {
    for (const auto& [name, call] : forbidden(QueryId{0}))
      EXPECT_THAT(refusal_of([&, &act = call] { act(engine); }), StartsWith(refusal)) << name;
    EXPECT_EQ(engine.batch(), 0U);
    EXPECT_EQ(engine.retention(), 0);
    EXPECT_FALSE(engine.options().self_loops == SelfLoops::keep);
    EXPECT_EQ(engine.backend_statistics().backend, "cpu");
    static_cast<void>(engine.graph());
  });
  EXPECT_EQ(to_string(engine.process(triangles(5), OnReject::stop, &sink).queries.at(0).added), "5");
  EXPECT_EQ(sink.written, 5);
  EXPECT_EQ(engine.batch(), 1U);
  EXPECT_EQ(engine.graph().edges, 15U);
}

TEST(Callbacks, AnotherThreadMayNotCallTheEngineDuringACall) {
  Engine engine;
  engine.add_query(triangle, {.list = true});
  std::string refused;
  ActingSink sink(Moment::write,
                  [&] { std::thread([&] { refused = refusal_of([&] { engine.process(triangles(1, 100)); }); }).join(); });
  EXPECT_EQ(to_string(engine.process(triangles(5), OnReject::stop, &sink).queries.at(0).added), "5");
  EXPECT_THAT(refused, StartsWith(refusal));
  EXPECT_THAT(refused, EndsWith("threads that share it lock a mutex around each call"));
  EXPECT_EQ(engine.batch(), 1U);
}

TEST(Callbacks, ASinkOfAWholeGraphMayNotCallItsEngine) {
  for (const auto& [name, call] : forbidden(QueryId{0})) {
    SCOPED_TRACE(name);
    Engine engine;
    engine.load(triangles(2000));
    engine.add_query(square);
    ActingSink sink(Moment::write, [&] { call(engine); });
    EXPECT_THAT(refusal_of([&] { engine.match(triangle, {.query = {.list = true}}, &sink); }), StartsWith(refusal));
    EXPECT_EQ(engine.graph().edges, 6000U);
    EXPECT_EQ(to_string(engine.match(triangle, {.query = {.list = true}}, &sink).matches), "2000");
  }
}

TEST(Callbacks, APlannerMayNotCallItsEngine) {
  struct Acting final : Planner {
    [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
      act();
      return default_planner().order(request);
    }
    std::function<void()> act;
  };
  for (const auto& [name, call] : forbidden(QueryId{0})) {
    SCOPED_TRACE(name);
    Acting planner;
    Engine engine;
    engine.add_query(triangle, {.planner = &planner});
    planner.act = [&] { call(engine); };
    EXPECT_THAT(refusal_of([&] { engine.process(triangles(5)); }), StartsWith(refusal));
    EXPECT_THAT(refusal_of([&] { engine.match(square, {.query = {.list = true, .planner = &planner}}); }), StartsWith(refusal));
    EXPECT_THAT(refusal_of([&] { static_cast<void>(engine.explain(triangle, {.planner = &planner})); }), StartsWith(refusal));
    EXPECT_EQ(engine.batch(), 0U);
    planner.act = [] {};
    EXPECT_EQ(to_string(engine.process(triangles(5)).queries.at(0).added), "5") << "the engine goes on";
  }
}

TEST(Callbacks, WhatTakesTheUpdatesOfAGraphMayNotCallItsEngine) {
  Engine engine;
  engine.load(triangles(5));
  EXPECT_THAT(refusal_of([&] { engine.for_each([&](const Update&) { engine.load(triangles(1, 100)); }); }),
              StartsWith(refusal));
  EXPECT_EQ(engine.load(triangles(1, 100)).inserted, 3U);
}

TEST(Callbacks, ASinkMayReplaceMoveOrDestroyTheEngine) {
  for (const Moment moment : {Moment::begin, Moment::write, Moment::commit}) {
    auto engine = std::make_unique<Engine>();
    engine->add_query(triangle, {.list = true});
    Engine kept;
    ActingSink replacing(moment, [&] { *engine = Engine(); });
    EXPECT_EQ(to_string(engine->process(triangles(5), OnReject::stop, &replacing).queries.at(0).added), "5");
    EXPECT_EQ(replacing.written, 5);
    EXPECT_EQ(engine->batch(), 0U) << "another engine is in its place";

    engine->add_query(triangle, {.list = true});
    ActingSink moving(moment, [&] { kept = std::move(*engine); });
    EXPECT_EQ(engine->process(triangles(5), OnReject::stop, &moving).batch, 1U);
    EXPECT_EQ(kept.batch(), 1U) << "the batch counts where the engine is now";

    *engine = Engine();
    engine->add_query(triangle, {.list = true});
    ActingSink destroying(moment, [&] { engine.reset(); });
    EXPECT_EQ(engine->process(triangles(5), OnReject::stop, &destroying).batch, 1U);
    EXPECT_EQ(destroying.written, 5);
  }
}

}  // namespace
}  // namespace deltamatch
