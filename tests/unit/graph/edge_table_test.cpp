// Slots and ordinals of edges with an identity.
#include "graph/edge_table.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "graph/data_graph.hpp"

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Schema events{EdgeModel::events, {{"channel", {AttributeType::Kind::symbol}}}, {}};
const Schema keyed{EdgeModel::keyed, {{"channel", {AttributeType::Kind::symbol}}}, {}};

class EdgeTableTest : public testing::TestWithParam<EdgeModel> {
 protected:
  Slot create(VertexId tail, VertexId head, std::optional<Timestamp> time = {}, std::string_view channel = {}) {
    std::vector<Word> words;
    table_.values().read(std::vector<AttributeValue>{channel.empty() ? AttributeValue() : AttributeValue(channel)}, words);
    return table_.create({.tail = tail, .head = head, .label = 3, .time = time, .key = Id(next_key_++)}, words);
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
  const EdgeTable::Mark before = table_.mark();
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

TEST_P(EdgeTableTest, SlotsAreAlikeIfAllButEndsAndKeyIsEqual) {
  const Slot a = create(1, 2, 5, "web");
  EXPECT_TRUE(table_.alike(a, create(1, 3, 5, "web")));
  EXPECT_FALSE(table_.alike(a, create(1, 2, 6, "web")));
  EXPECT_FALSE(table_.alike(a, create(1, 2, {}, "web")));
  EXPECT_FALSE(table_.alike(a, create(1, 2, 5, "atm")));
}

TEST_P(EdgeTableTest, DroppedSlotsAreMarkedUntilTheBatchEnds) {
  const Slot kept = create(1, 2);
  commit({kept});
  const EdgeTable::Mark before = table_.mark();
  table_.drop(kept);
  EXPECT_TRUE(table_.is_dropped(kept));
  EXPECT_TRUE(table_.live(kept));
  table_.take_back(before);
  EXPECT_FALSE(table_.is_dropped(kept));
  table_.drop(kept);
  commit({});  // it was kept after all
  EXPECT_FALSE(table_.is_dropped(kept));
}

}  // namespace
}  // namespace deltamatch::graph
