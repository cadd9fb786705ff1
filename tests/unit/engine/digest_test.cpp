// What the running digest sees, and what it does not. tests/property/digest_test.cpp compares replicas over random streams.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <source_dir.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch::engine {
namespace {

using Kind = AttributeType::Kind;

EngineOptions options_of(EdgeModel model) {
  EngineOptions options{.threads = 1, .schema = {model, {}, {{"risk", {Kind::symbol, 0}}}}};
  if (model != EdgeModel::simple) options.schema.edges = {{"channel", {Kind::symbol, 0}}};
  return options;
}

struct Payment {
  std::int64_t from = 1;
  std::int64_t to = 2;
  std::string label = "PAYS";
  Timestamp time = 10;
  std::int64_t key = 7;
  std::string channel = "web";
};

void add(UpdateBatch& batch, const EngineOptions& options, const Payment& payment) {
  Update update;
  update.source = payment.from;
  update.target = payment.to;
  update.label = payment.label;
  update.time = payment.time;
  Properties properties;
  const std::vector<AttributeValue> row{std::string_view(payment.channel)};
  if (options.schema.model == EdgeModel::keyed) properties.key = Id(payment.key);
  if (!options.schema.edges.empty()) properties.attributes = row;
  update.properties = &properties;
  batch.add(update);
}

Hash128 after(Engine& engine, const std::vector<Payment>& payments) {
  UpdateBatch batch;
  for (const Payment& payment : payments) add(batch, engine.options(), payment);
  engine.process(batch);
  return engine.digest().now;
}

Hash128 after(const EngineOptions& options, const std::vector<Payment>& payments) {
  Engine engine(options);
  return after(engine, payments);
}

class Digest : public testing::TestWithParam<EdgeModel> {
 protected:
  const EngineOptions options_ = options_of(GetParam());
};

TEST_P(Digest, BeginsWithZeroAndFollowsBatches) {
  Engine engine(options_);
  EXPECT_EQ(engine.digest(), RunningDigest{});
  const Hash128 first = after(engine, {{}});
  EXPECT_NE(first, Hash128{});
  EXPECT_EQ(first, after(options_, {{}}));
  const Hash128 second = after(engine, {});
  EXPECT_NE(second, first);  // a batch without updates has a number, too
  EXPECT_EQ(engine.digest().begin, Hash128{});
}

TEST_P(Digest, SeesEveryPartOfAnEdge) {
  EngineOptions options = options_;
  options.window = 1000;  // so that simple edges have times
  std::set<Hash128> seen;
  std::size_t cases = 0;
  const auto differs = [&](const Payment& payment) {
    EXPECT_TRUE(seen.insert(after(options, {{.from = 4, .to = 5, .key = 1}, payment})).second) << cases;
    ++cases;
  };
  differs({});
  differs({.from = 3});
  differs({.to = 3});
  differs({.from = 2, .to = 1});
  differs({.label = "OWES"});
  differs({.label = ""});
  differs({.time = 9});
  if (GetParam() == EdgeModel::keyed) differs({.key = 8});
  if (GetParam() != EdgeModel::simple) differs({.channel = "atm"});
}

TEST_P(Digest, SeesTheOrderInWhichNumbersAreGiven) {
  EXPECT_NE(after(options_, {{.from = 1, .to = 2, .key = 1}, {.from = 3, .to = 4, .key = 2}}),
            after(options_, {{.from = 3, .to = 4, .key = 2}, {.from = 1, .to = 2, .key = 1}}));
}

TEST_P(Digest, EnginesWithOtherNumbersCompareNothingIfItBeginsAnew) {
  const auto loaded = [&](std::int64_t first, std::int64_t second) {
    Engine engine(options_);
    UpdateBatch batch;
    for (const std::int64_t id : {first, second}) {
      Update update;
      update.kind = UpdateKind::insert_vertex;
      update.source = id;
      batch.add(update);
    }
    engine.load(batch);
    EXPECT_EQ(engine.digest(), RunningDigest{});
    return engine;
  };
  Engine one = loaded(1, 2);
  Engine other = loaded(2, 1);
  Engine same = loaded(1, 2);
  for (Engine* engine : {&one, &other, &same}) after(*engine, {{}});
  EXPECT_TRUE(one.digest().contradicts(other.digest()));
  EXPECT_FALSE(one.digest().contradicts(same.digest()));
  for (Engine* engine : {&one, &other, &same}) {
    engine->begin_digest();
    EXPECT_EQ(engine->digest().begin, engine->digest().now);
    after(*engine, {{.key = 9}});
  }
  EXPECT_FALSE(one.digest().contradicts(other.digest()));
  EXPECT_NE(one.digest().begin, other.digest().begin);
  EXPECT_EQ(one.digest(), same.digest());
}

TEST_P(Digest, AnAbandonedBatchAndARefusedRecordLeaveItAlone) {
  Engine engine(options_);
  after(engine, {{}});
  const RunningDigest before = engine.digest();
  UpdateBatch batch;
  add(batch, options_, {.from = 8, .to = 9, .label = "NEW", .key = 3, .channel = "fresh"});
  EXPECT_FALSE(engine.process(batch, {.stop = [] { return true; }}));
  EXPECT_EQ(engine.digest(), before);

  UpdateBatch refused;
  Update relabelled;
  relabelled.kind = UpdateKind::insert_vertex;
  relabelled.source = 20;
  relabelled.source_label = "A";
  refused.add(relabelled);
  Update edge;
  edge.source = 1;
  edge.target = 2;
  edge.source_label = "B";  // 1 has an edge and no label: its first one is taken
  edge.time = 10;
  const Properties key{Id(30), {}};
  edge.properties = &key;
  refused.add(edge);
  edge.source_label = "C";  // and another label is refused
  edge.target = 99;
  const Properties next_key{Id(31), {}};
  edge.properties = &next_key;
  refused.add(edge);
  UpdateBatch accepted;
  accepted.add(refused.updates()[0]);
  accepted.add(refused.updates()[1]);
  Engine other(options_);
  after(other, {{}});
  EXPECT_EQ(engine.process(refused, OnReject::skip).rejects.size(), 1U);
  other.absorb(accepted);
  EXPECT_EQ(engine.digest(), other.digest());
}

TEST_P(Digest, IsKeptByASnapshot) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-digest-unit-" + std::to_string(::getpid()) + ".dms");
  Engine engine(options_);
  for (std::int64_t i = 0; i < 20; ++i) {
    after(engine, {{.from = i % 5, .to = 5 + i % 3, .label = i % 2 == 0 ? "A" : "B", .time = i, .key = i % 6}});
    engine.save(path);
    Engine restored = Engine::restore(path, 1);
    ASSERT_EQ(restored.digest(), engine.digest()) << i;
    UpdateBatch batch;
    Update gone;
    gone.kind = UpdateKind::delete_vertex;
    gone.source = i % 4;
    batch.add(gone);
    engine.process(batch);
    restored.process(batch);
    const std::vector<Payment> next{{.from = 100 + i, .to = 7, .key = 50 + i, .channel = "c" + std::to_string(i)}};
    ASSERT_EQ(after(restored, next), after(engine, next)) << i;
  }
  std::filesystem::remove(path);
}

TEST_P(Digest, IsKeptByASnapshotThatRemembersDeletions) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-digest-order-" + std::to_string(::getpid()) + ".dms");
  EngineOptions options = options_;
  options.window = 1000;
  options.order = EventOrder::time;
  const Payment payment{.from = 1, .to = 2, .time = 30};
  UpdateBatch deletion;
  Update update;
  Properties key;
  key.key = Id(payment.key);
  update.kind = UpdateKind::delete_edge;
  update.source = payment.from;
  update.target = payment.to;
  update.label = payment.label;
  update.time = 40;
  if (GetParam() == EdgeModel::keyed) update.properties = &key;
  deletion.add(update);
  Engine engine(options);
  engine.process(deletion);
  engine.save(path);
  Engine restored = Engine::restore(path, 1);
  std::filesystem::remove(path);
  ASSERT_EQ(restored.digest(), engine.digest());
  EXPECT_EQ(after(restored, {payment}), after(engine, {payment}));  // the deletion came first, so there is no edge
  EXPECT_EQ(engine.graph().edges, 0U);
  EXPECT_EQ(restored.graph().edges, 0U);
}

TEST_P(Digest, SeesWhichDeletionsAreRemembered) {
  EngineOptions options = options_;
  options.window = 1000;
  options.order = EventOrder::time;
  std::set<Hash128> digests;
  for (const std::int64_t to : {2, 3}) {
    for (const Timestamp time : {40, 41}) {
      Engine engine(options);
      UpdateBatch batch;
      Update update;
      Properties key;
      key.key = Id(to);
      update.kind = UpdateKind::delete_edge;
      update.source = 1;
      update.target = to;
      update.label = "PAYS";
      update.time = time;
      if (GetParam() == EdgeModel::keyed) update.properties = &key;
      batch.add(update);
      Update last = update;  // the watermark is the same in all
      last.target = 9;
      last.time = 50;
      key.key = Id(std::int64_t{9});
      batch.add(last);
      engine.process(batch);
      digests.insert(engine.digest().now);
    }
  }
  EXPECT_EQ(digests.size(), 4U);
}

TEST(DigestOfAnOlderSnapshot, BeginsAnewWithAHashOfItsNumbers) {
  const std::filesystem::path path = std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "tests/data/v0/snapshot.dms";
  const RunningDigest digest = Engine::restore(path, 1).digest();
  EXPECT_EQ(digest.begin, digest.now);
  EXPECT_NE(digest.now, Hash128{});
  EXPECT_EQ(Engine::restore(path, 1).digest(), digest);
}

INSTANTIATE_TEST_SUITE_P(All, Digest, testing::Values(EdgeModel::simple, EdgeModel::keyed, EdgeModel::events));

}  // namespace
}  // namespace deltamatch::engine
