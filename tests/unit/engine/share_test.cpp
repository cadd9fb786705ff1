// Which matches an engine reports that owns some of the slots. tests/property/share_test.cpp compares unions with the whole.
#include "deltamatch/share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

constexpr std::uint32_t slots = 5;

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Share, OwnsWhatItNames) {
  const Share whole;
  EXPECT_TRUE(whole.whole());
  EXPECT_EQ(whole.slots(), 1U);
  EXPECT_TRUE(whole.owns_hash(UINT64_MAX));
  const Share some(4, {0, 3});
  EXPECT_FALSE(some.whole());
  for (std::uint64_t hash = 0; hash < 12; ++hash) EXPECT_EQ(some.owns_hash(hash), hash % 4 == 0 || hash % 4 == 3) << hash;
  EXPECT_EQ(Share::part(4, 4), Share(4, {3}));
  EXPECT_TRUE(Share::part(1, 1).whole());
  EXPECT_TRUE(Share(3, {2, 0, 1}).whole());
  EXPECT_FALSE(Share(3, {}).owns(1));
}

TEST(Share, LiesWithinWhatOwnsMore) {
  EXPECT_TRUE(Share(4, {0}).within(Share(4, {0, 3})));
  EXPECT_TRUE(Share(4, {}).within(Share(4, {0})));
  EXPECT_TRUE(Share(4, {1}).within(Share()));
  EXPECT_TRUE(Share().within(Share(3, {0, 1, 2})));
  EXPECT_FALSE(Share(4, {1}).within(Share(4, {0, 3})));
  EXPECT_FALSE(Share(4, {0}).within(Share(8, {0, 4}))) << "other slots, even if these are the same hashes";
  EXPECT_FALSE(Share().within(Share(4, {0, 1, 2})));
}

TEST(Share, RefusesWhatIsNone) {
  EXPECT_THAT(refusal([] { (void)Share(0, {}); }), testing::HasSubstr("give a number of slots from 1 to 4096"));
  EXPECT_THAT(refusal([] { (void)Share(4097, {}); }), testing::HasSubstr("4097 slots"));
  EXPECT_THAT(refusal([] { (void)Share(3, {3}); }), testing::HasSubstr("slot 3 is not one of the slots"));
  EXPECT_THAT(refusal([] { (void)Share(3, {1, 1}); }), testing::HasSubstr("slot 1 is given twice"));
  for (const auto& [k, n] : {std::pair(0U, 3U), std::pair(4U, 3U), std::pair(1U, 0U)})
    EXPECT_THAT(refusal([k = k, n = n] { (void)Share::part(k, n); }), testing::HasSubstr("give a part from 1"));
}

struct Seen {
  std::map<std::string, MatchId> added;  // by vertices and keys, such as "1>2"
  std::map<std::string, MatchId> removed;
};

class Sink final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    std::string text;
    for (const Id& vertex : match.vertices) text += (text.empty() ? "" : ">") + std::to_string(vertex.number());
    (match.added ? seen.added : seen.removed).emplace(text, match.id);
  }
  void commit() override {}
  void abort() noexcept override {}
  Seen seen;
};

UpdateBatch batch_of(const std::vector<Update>& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

Seen feed(Engine& engine, const std::vector<Update>& updates) {
  Sink sink;
  engine.process(batch_of(updates), OnReject::stop, &sink);
  return std::move(sink.seen);
}

Update edge(std::int64_t source, std::int64_t target, std::optional<Timestamp> time = std::nullopt) {
  return {.source = Id(source), .target = Id(target), .label = "T", .time = time};
}

Update label(std::int64_t vertex, std::string_view label) {
  return {.kind = UpdateKind::insert_vertex, .source = Id(vertex), .source_label = label};
}

Engine engine_for(const char* pattern, const Share& share, EdgeModel model = EdgeModel::simple) {
  Engine engine({.threads = 1, .schema = {model, {}, {}}});
  engine.add_query(parse_pattern(pattern, "q"), {.list = true});
  engine.take_share(share);
  return engine;
}

/// The slot of an anchor, as deltamatch/share.hpp describes it.
std::uint32_t slot_of(std::uint32_t tail, std::uint32_t head, std::uint32_t which) {
  const std::array<std::uint32_t, 3> anchor{tail, head, which};
  return static_cast<std::uint32_t>(XXH3_64bits(anchor.data(), sizeof anchor) % slots);
}

TEST(Slots, AreThoseOfAnchors) {
  std::vector<Update> updates;
  for (std::int64_t i = 0; i < 60; ++i) updates.push_back(edge(i, i + 1));  // vertex i has number i
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    Engine engine = engine_for("(a)-->(b)", Share(slots, {slot}));
    const Seen seen = feed(engine, updates);
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::string match = std::to_string(i) + '>' + std::to_string(i + 1);
      EXPECT_EQ(seen.added.contains(match), slot_of(i, i + 1, 1) == slot) << match << " in slot " << slot;  // T has number 1
    }
  }
}

// These are numbers of a protocol: engines of different builds must agree on them.
TEST(Slots, StayTheSameInAllVersions) {
  const std::array<std::uint32_t, 3> anchor{1, 2, 3};
  EXPECT_EQ(XXH3_64bits(anchor.data(), sizeof anchor), 0x6bbf7429332bea48U);
}

TEST(Slots, OfTheLeastChangedEdgeCount) {
  Engine all = engine_for("(a)-->(b)-->(c)", Share());
  feed(all, {edge(0, 1), edge(3, 4)});
  EXPECT_EQ(feed(all, {edge(1, 2), edge(4, 5), edge(2, 0)}).added.size(), 4U);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    Engine engine = engine_for("(a)-->(b)-->(c)", Share(slots, {slot}));
    feed(engine, {edge(0, 1), edge(3, 4)});  // the vertices get the numbers 0 to 3, and 2 and 5 get 4 and 5
    const Seen seen = feed(engine, {edge(1, 2), edge(4, 5), edge(2, 0)});
    EXPECT_EQ(seen.added.contains("0>1>2"), slot_of(1, 4, 1) == slot);
    EXPECT_EQ(seen.added.contains("3>4>5"), slot_of(3, 5, 1) == slot);
    EXPECT_EQ(seen.added.contains("1>2>0"), slot_of(1, 4, 1) == slot);  // before 2 to 0, which is (4, 0)
    EXPECT_EQ(seen.added.contains("2>0>1"), slot_of(4, 0, 1) == slot);
  }
}

/// All matches that engines with one slot each report of the last batch.
std::vector<Seen> each_slot(const char* pattern, const std::vector<std::vector<Update>>& batches, EdgeModel model) {
  std::vector<Seen> seen;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    Engine engine = engine_for(pattern, Share(slots, {slot}), model);
    for (const std::vector<Update>& batch : batches) {
      Seen last = feed(engine, batch);
      if (&batch == &batches.back()) seen.push_back(std::move(last));
    }
  }
  return seen;
}

// The match stays, but the edges that lead to it before and after the batch are in different slots.
TEST(Slots, AreThoseOfIdsIfAVertexGetsAFreshNumber) {
  std::vector<Update> updates;
  for (std::int64_t i = 0; i < 40; ++i) updates.push_back(edge(i, 100 + i));
  std::vector<Update> change{edge(200, 201)};
  for (std::int64_t i = 0; i < 40; ++i) change.push_back(label(i, "New"));
  std::size_t matches = 0;
  const std::vector<Seen> seen = each_slot("(a)-->(b)", {updates, change}, EdgeModel::simple);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    EXPECT_TRUE(seen[slot].removed.empty());
    matches += seen[slot].added.size();
    for (const auto& [match, id] : seen[slot].added) EXPECT_EQ(id.low % slots, slot) << match;
  }
  EXPECT_EQ(matches, 1U) << "only the new edge is a new match";
}

// The path a>b>c exists only within the batch. The label of another vertex changes meanwhile.
TEST(Slots, OfWhatAppearsAndVanishesCountOnceIfAVertexGetsAFreshNumber) {
  std::vector<Update> change{label(50, "New"), edge(2, 3, 5), edge(70, 71, 12)};
  for (Update& update : change) {
    if (!update.time) update.time = 1;
  }
  for (const bool list : {false, true}) {
    Count added = 0;
    Count removed = 0;
    for (std::uint32_t slot = 0; slot <= slots; ++slot) {
      const bool whole = slot == slots;
      Engine engine({.threads = 1, .window = 10});
      engine.add_query(parse_pattern("(a)-->(b)-->(c)", "q"), {.list = list});
      if (!whole) engine.take_share(Share(slots, {slot}));
      engine.process(batch_of({edge(1, 2, 0), edge(50, 51, 9)}));
      BatchOptions options;
      options.record_by_record = true;
      const BatchResult result = engine.process(batch_of(change), options).value();
      EXPECT_EQ(result.consumed, change.size());
      EXPECT_EQ(result.expired, 1U);
      const QueryDelta& delta = result.queries.at(0);
      EXPECT_EQ(delta.added_digest != MatchDigest{}, list && delta.added > 0) << "a query that only counts has no digest";
      EXPECT_EQ(delta.removed_digest, delta.added_digest);
      if (whole) {
        EXPECT_TRUE(delta.added == added && delta.removed == removed);
        continue;
      }
      added += delta.added;
      removed += delta.removed;
    }
    EXPECT_TRUE(added == Count{1}) << to_string(added);
    EXPECT_TRUE(removed == Count{1}) << to_string(removed);
  }
}

TEST(Slots, AreThoseOfIdsIfOnlyACountTurns) {
  const char* const pattern = "(a)-[:T]->(b) WHERE NOT EXISTS { (b)-[:T]->(c) }";
  std::vector<Update> updates;
  std::vector<Update> change;
  for (std::int64_t i = 0; i < 40; ++i) {
    updates.push_back(edge(i, 100 + i, 1));
    change.push_back(edge(100 + i, 200, 2));
  }
  std::size_t matches = 0;
  const std::vector<Seen> seen = each_slot(pattern, {updates, change}, EdgeModel::events);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    matches += seen[slot].removed.size();
    for (const auto& [match, id] : seen[slot].removed) EXPECT_EQ(id.low % slots, slot) << match;
  }
  EXPECT_EQ(matches, 40U);
}

TEST(Slots, OfAlertsOnceAreThoseOfTheirBinding) {
  const char* const pattern = "(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h";
  std::vector<Update> updates;
  for (std::int64_t i = 0; i < 60; ++i) updates.push_back(edge(i, 1000 + i % 10, i));
  std::set<std::string> hubs;
  std::size_t alerts = 0;
  for (const Seen& seen : each_slot(pattern, {updates}, EdgeModel::events)) {
    alerts += seen.added.size();
    for (const auto& [match, id] : seen.added) hubs.insert(match.substr(match.find('>')));
  }
  EXPECT_EQ(alerts, 10U) << "one for each hub, and not one in each slot";
  EXPECT_EQ(hubs.size(), 10U);
}

TEST(Shares, MayBeEmptyAndStillFollow) {
  Engine all = engine_for("(a)-->(b)-->(c)", Share());
  Engine spare = engine_for("(a)-->(b)-->(c)", Share(slots, {}));
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::vector<Update> updates{edge(i, i + 1), edge(i + 1, i / 2)};
    feed(all, updates);
    const Seen seen = feed(spare, updates);
    EXPECT_TRUE(seen.added.empty());
    EXPECT_EQ(spare.digest(), all.digest());
    EXPECT_EQ(spare.graph().edges, all.graph().edges);
  }
  spare.take_share(Share());
  EXPECT_EQ(feed(spare, {edge(20, 3)}).added, feed(all, {edge(20, 3)}).added);
}

TEST(Shares, WithAlertOnceCanOnlyBeGivenUp) {
  Engine engine = engine_for("(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h", Share(slots, {0, 2}), EdgeModel::events);
  engine.take_share(Share(slots, {2}));
  EXPECT_EQ(engine.share(), Share(slots, {2}));
  EXPECT_THAT(refusal([&] { engine.take_share(Share(slots, {0})); }), testing::HasSubstr("only give up some of them"));
  EXPECT_EQ(engine.share(), Share(slots, {2}));
  // The memory of a query that is gone may still be taken up.
  feed(engine, {edge(1, 2, 3), edge(1, 3, 3), edge(1, 4, 3), edge(1, 5, 3), edge(1, 6, 3), edge(1, 7, 3)});
  const QueryId first{0};
  (void)engine.replace_queries(std::span(&first, 1), {});
  EXPECT_NE(refusal([&] { engine.take_share(Share(slots, {0})); }), "");
  engine.process({});
  engine.take_share(Share(slots, {0}));
}

TEST(Shares, AreNotSavedWithAPartOfAMemory) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-share-" + std::to_string(::getpid()) + ".dms");
  Engine engine = engine_for("(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h", Share(), EdgeModel::events);
  feed(engine, {edge(1, 2, 3), edge(1, 3, 3), edge(1, 4, 3)});
  engine.save(path);
  engine.take_share(Share(slots, {1, 2, 3, 4}));
  EXPECT_THAT(refusal([&] { engine.save(path); }), testing::HasSubstr("a share of what ALERT ONCE remembers"));
  // What the whole engine remembered serves every share.
  std::size_t alerts = 0;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    Engine restored = Engine::restore(path, 1);
    EXPECT_TRUE(restored.share().whole());
    restored.take_share(Share(slots, {slot}));
    restored.add_query(parse_pattern("(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h", "q"), {.list = true});
    alerts += feed(restored, {edge(8, 2, 4), edge(8, 3, 4), edge(8, 5, 4)}).added.size();
  }
  EXPECT_EQ(alerts, 1U) << "2 and 3 were reported within the hour";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace deltamatch
