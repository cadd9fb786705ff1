// Slots, keys and ordinals of edges with an identity.
#include "graph/edge_table.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "graph/data_graph.hpp"

namespace deltamatch::graph {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Schema events{EdgeModel::events, {{"channel", {AttributeType::Kind::symbol}}}, {}};
const Schema keyed{EdgeModel::keyed, {{"channel", {AttributeType::Kind::symbol}}}, {}};

class EdgeTableTest : public testing::TestWithParam<EdgeModel> {
 protected:
  Slot create(VertexId tail, VertexId head, std::optional<Timestamp> time = {}, std::string_view channel = {}) {
    std::vector<Word> words;
    table_.values().read(std::vector<AttributeValue>{channel.empty() ? AttributeValue() : AttributeValue(channel)}, words);
    const KeyId key = table_.keyed() ? table_.intern_key(Id(next_key_++)) : no_key;
    return table_.create({.tail = tail, .head = head, .label = 3, .time = time, .key = key}, words);
  }
  /// An edge of the table, as net batches name it.
  [[nodiscard]] Edge edge(Slot slot) const { return {table_.tail(slot), table_.head(slot), slot}; }
  void commit(const std::vector<Slot>& inserted, const std::vector<Slot>& removed = {}) {
    std::vector<Edge> in;
    std::vector<Edge> out;
    for (const Slot slot : inserted) in.push_back(edge(slot));
    for (const Slot slot : removed) out.push_back(edge(slot));
    table_.commit(in, out);
  }

  SymbolTable symbols_;
  EdgeTable table_{GetParam() == EdgeModel::keyed ? keyed : events, symbols_};
  std::int64_t next_key_ = 100;
};

INSTANTIATE_TEST_SUITE_P(Models, EdgeTableTest, testing::Values(EdgeModel::keyed, EdgeModel::events),
                         [](const auto& model) { return model.param == EdgeModel::keyed ? "keyed" : "events"; });

TEST_P(EdgeTableTest, KeepsWhatAnEdgeIs) {
  const Slot first = create(4, 5, 60, "web");
  const Slot second = create(4, 5);
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(second, 1U);
  EXPECT_EQ(table_.tail(first), 4U);
  EXPECT_EQ(table_.head(first), 5U);
  EXPECT_EQ(table_.label(first), 3U);
  EXPECT_EQ(table_.time(first), 60);
  EXPECT_EQ(table_.time(second), std::nullopt);
  EXPECT_EQ(table_.ordinal(first), 1U);
  EXPECT_EQ(table_.ordinal(second), 2U);
  EXPECT_EQ(table_.values().word(first, 0), symbols_.find("web"));
  EXPECT_EQ(table_.values().word(second, 0), std::nullopt);
  EXPECT_THAT(table_.created(), ElementsAre(first, second));
  EXPECT_FALSE(table_.settled(first, 4, 5));
  commit({first, second});
  EXPECT_THAT(table_.created(), IsEmpty());
  EXPECT_TRUE(table_.settled(first, 4, 5));
  EXPECT_FALSE(table_.settled(first, 5, 4));
  EXPECT_FALSE(table_.settled(7, 4, 5));
}

TEST_P(EdgeTableTest, TheLeastFreeSlotIsReusedFromTheNextBatchOn) {
  std::vector<Slot> slots;
  for (VertexId v = 0; v < 5; ++v) slots.push_back(create(v, v + 1));
  commit(slots);
  const Slot beside = create(8, 9);  // in the batch that frees 3 and 1: both states can be read
  EXPECT_EQ(beside, 5U);
  commit({beside}, {3, 1});
  EXPECT_EQ(create(10, 11), 1U);
  EXPECT_EQ(create(12, 13), 3U);
  EXPECT_EQ(create(14, 15), 6U);
  EXPECT_EQ(table_.ordinal(6), 9U);  // ordinals are never reused
}

TEST_P(EdgeTableTest, UndoTakesEverythingBack) {
  const Slot settled = create(1, 2, 5, "web");
  commit({settled});
  const Slot fresh = create(3, 4, 6, "atm");
  EXPECT_TRUE(table_.is_created(fresh));
  table_.undo();
  EXPECT_THAT(table_.created(), IsEmpty());
  EXPECT_EQ(symbols_.find("atm"), std::nullopt);
  EXPECT_TRUE(table_.settled(settled, 1, 2));
  const Slot again = create(5, 6);
  EXPECT_EQ(again, fresh);
  EXPECT_EQ(table_.ordinal(again), 2U);
}

TEST_P(EdgeTableTest, ARecordCanBeTakenBackAlone) {
  const Slot kept = create(1, 2);
  const std::size_t before = table_.created().size();
  static_cast<void>(create(3, 4));
  static_cast<void>(create(5, 6));
  table_.take_back(before);
  EXPECT_THAT(table_.created(), ElementsAre(kept));
  EXPECT_EQ(create(7, 8), 1U);
  EXPECT_EQ(table_.ordinal(1), 2U);
}

TEST_P(EdgeTableTest, EdgesThatDidNotLastAreFreed) {
  const Slot brief = create(1, 2, 5, "web");
  const Slot lasting = create(3, 4);
  commit({lasting});
  EXPECT_EQ(symbols_.count(), 0U);
  EXPECT_EQ(create(5, 6), brief);
}

TEST_P(EdgeTableTest, AnEdgeWhoseEndsGetOtherNumbersKeepsItsSlot) {
  const Slot slot = create(1, 2, 5, "web");
  commit({slot});
  table_.rename_ends(slot, 7, 8);  // not created by this batch
  EXPECT_EQ(table_.tail(slot), 1U);
  table_.commit(std::vector<Edge>{{9, 2, slot}}, std::vector<Edge>{{1, 2, slot}});
  EXPECT_TRUE(table_.settled(slot, 9, 2));
  EXPECT_EQ(table_.values().word(slot, 0), symbols_.find("web"));
  const Slot fresh = create(3, 4);
  table_.rename_ends(fresh, 7, 8);
  EXPECT_EQ(table_.tail(fresh), 7U);
}

TEST_P(EdgeTableTest, ManySlotsAreFreedAndReused) {
  std::vector<Slot> slots;
  for (VertexId v = 0; v < 1000; ++v) slots.push_back(create(v, v + 1, v));
  commit(slots);
  commit({}, slots);
  for (Slot slot = 0; slot < 1000; ++slot) ASSERT_EQ(create(1, 2), slot);
  EXPECT_EQ(table_.slots(), 1000U);
}

class EdgeKeys : public testing::Test {
 protected:
  Slot create(const Id& key, VertexId tail, VertexId head) {
    return table_.create({.tail = tail, .head = head, .time = {}, .key = table_.intern_key(key)}, {});
  }
  void commit(const std::vector<Edge>& inserted, const std::vector<Edge>& removed = {}) { table_.commit(inserted, removed); }

  SymbolTable symbols_;
  EdgeTable table_{keyed, symbols_};
};

TEST_F(EdgeKeys, LeadToTheSettledEdge) {
  const Slot slot = create("tx-7"sv, 1, 2);
  const KeyId key = table_.find_key("tx-7"sv);
  ASSERT_NE(key, no_key);
  EXPECT_EQ(table_.settled_slot(key), no_slot);
  commit({{1, 2, slot}});
  EXPECT_EQ(table_.settled_slot(key), slot);
  EXPECT_EQ(table_.external_key(slot), Id("tx-7"sv));
  EXPECT_EQ(table_.find_key(Id(7)), no_key);
}

TEST_F(EdgeKeys, ACorrectionIsANewVersionWithTheSameKey) {
  const Slot old_version = create(Id(7), 1, 2);
  commit({{1, 2, old_version}});
  const KeyId key = table_.find_key(Id(7));
  const Slot new_version = create(Id(7), 3, 4);
  EXPECT_EQ(table_.key(new_version), key);
  EXPECT_EQ(table_.settled_slot(key), old_version);
  commit({{3, 4, new_version}}, {{1, 2, old_version}});
  EXPECT_EQ(table_.settled_slot(key), new_version);
  EXPECT_EQ(table_.find_key(Id(7)), key);
  EXPECT_EQ(create(Id(8), 5, 6), old_version);
}

TEST_F(EdgeKeys, AreForgottenWithTheirLastVersion) {
  const Slot slot = create(Id(7), 1, 2);
  commit({{1, 2, slot}});
  commit({}, {{1, 2, slot}});
  EXPECT_EQ(table_.find_key(Id(7)), no_key);
  static_cast<void>(create("a"sv, 1, 2));
  table_.undo();
  EXPECT_EQ(table_.find_key("a"sv), no_key);
  const KeyId unused = table_.intern_key("b"sv);
  table_.forget_key(unused);
  EXPECT_EQ(table_.find_key("b"sv), no_key);
}

TEST_F(EdgeKeys, AnUndoneCorrectionLeavesTheOldVersion) {
  const Slot old_version = create(Id(7), 1, 2);
  commit({{1, 2, old_version}});
  static_cast<void>(create(Id(7), 3, 4));
  table_.undo();
  EXPECT_EQ(table_.settled_slot(table_.find_key(Id(7))), old_version);
  EXPECT_TRUE(table_.settled(old_version, 1, 2));
}

TEST_F(EdgeKeys, EdgesAreEqualIfAllOfThemIs) {
  const Slot a = create(Id(7), 1, 2);
  const Slot b = create(Id(7), 1, 2);
  const Slot moved = create(Id(7), 1, 3);
  const Slot other = create(Id(8), 1, 2);
  EXPECT_TRUE(table_.equal(a, b));
  EXPECT_FALSE(table_.equal(a, moved));
  EXPECT_TRUE(table_.equal_but_for_ends(a, moved));
  EXPECT_FALSE(table_.equal_but_for_ends(a, other));
}

}  // namespace
}  // namespace deltamatch::graph
