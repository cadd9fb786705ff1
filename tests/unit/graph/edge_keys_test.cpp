// Keys of edges, and the versions that a batch makes of them.
#include "graph/edge_keys.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "graph/data_graph.hpp"

namespace deltamatch::graph {
namespace {

using namespace std::string_view_literals;

const Schema keyed{EdgeModel::keyed, {}, {}};

class EdgeKeysTest : public testing::Test {
 protected:
  Slot insert(const Id& key, VertexId tail = 1, VertexId head = 2) {
    const Slot slot = table_.create({.tail = tail, .head = head, .time = {}, .key = key}, {});
    keys().touch(keys().find(key), slot, true);
    return slot;
  }
  void remove(const Id& key) { keys().touch(keys().find(key), no_slot, true); }
  [[nodiscard]] Slot now(const Id& key) { return keys().now(keys().find(key)); }
  [[nodiscard]] bool known(const Id& key) { return keys().find(key).entry != nullptr; }
  [[nodiscard]] EdgeKeys& keys() { return table_.keys(); }
  void commit(const std::vector<Edge>& inserted, const std::vector<Edge>& removed = {}) { table_.commit(inserted, removed); }

  SymbolTable symbols_;
  EdgeTable table_{keyed, symbols_};
};

TEST_F(EdgeKeysTest, LeadToTheEdge) {
  EXPECT_EQ(now("tx-7"sv), no_slot);
  const Slot slot = insert("tx-7"sv);
  EXPECT_EQ(now("tx-7"sv), slot);
  commit({{1, 2, slot}});
  EXPECT_EQ(now("tx-7"sv), slot);
  EXPECT_EQ(table_.external_key(slot), Id("tx-7"sv));
  EXPECT_FALSE(known(Id(7)));
  EXPECT_TRUE(keys().versions().empty());
}

TEST_F(EdgeKeysTest, ACorrectionIsANewVersionWithTheSameKey) {
  for (const Id& key : {Id(7), Id("seven"sv)}) {
    const Slot before = insert(key);
    commit({{1, 2, before}});
    const Slot after = insert(key, 3, 4);
    ASSERT_EQ(keys().versions().size(), 1U);
    EXPECT_EQ(keys().versions()[0].before, before);
    EXPECT_EQ(keys().versions()[0].now, after);
    EXPECT_EQ(table_.external_key(before), key);
    EXPECT_EQ(table_.external_key(after), key);
    commit({{3, 4, after}}, {{1, 2, before}});
    EXPECT_EQ(now(key), after);
    commit({}, {{3, 4, after}});
  }
}

TEST_F(EdgeKeysTest, AVersionCountsRecordsAndSaysWhetherTheLastDeletes) {
  insert(Id(7));
  remove(Id(7));
  EXPECT_EQ(now(Id(7)), no_slot);
  EXPECT_TRUE(known(Id(7)));
  EXPECT_EQ(keys().versions()[0].records, 2U);
  EXPECT_TRUE(keys().versions()[0].deleted);
  const Slot last = insert(Id(7));
  keys().touch(keys().find(Id(7)), no_slot, false);  // not by a record of the key
  EXPECT_EQ(keys().versions()[0].records, 3U);
  EXPECT_FALSE(keys().versions()[0].deleted);
  EXPECT_EQ(now(Id(7)), no_slot);
  EXPECT_EQ(keys().versions().size(), 1U);
  EXPECT_EQ(last, 1U);
}

TEST_F(EdgeKeysTest, AreForgottenWithTheirLastVersion) {
  const Slot slot = insert(Id(7));
  commit({{1, 2, slot}});
  remove(Id(7));
  commit({}, {{1, 2, slot}});
  EXPECT_FALSE(known(Id(7)));
  insert("a"sv);
  insert("a"sv);
  commit({});  // neither lasts
  EXPECT_FALSE(known("a"sv));
  const Slot expiring = insert(Id(8));
  commit({{1, 2, expiring}});
  commit({}, {{1, 2, expiring}});  // no update names the key
  EXPECT_FALSE(known(Id(8)));
}

TEST_F(EdgeKeysTest, AVersionThatDoesNotLastLeavesTheOldOne) {
  const Slot before = insert(Id(7));
  commit({{1, 2, before}});
  insert(Id(7));
  commit({});  // equal to the old one
  EXPECT_EQ(now(Id(7)), before);
}

TEST_F(EdgeKeysTest, UndoTakesVersionsBack) {
  const Slot before = insert(Id(7));
  commit({{1, 2, before}});
  insert(Id(7), 3, 4);
  insert("a"sv);
  remove(Id(7));
  table_.undo();
  EXPECT_EQ(now(Id(7)), before);
  EXPECT_FALSE(known("a"sv));
  EXPECT_TRUE(table_.settled(before, 1, 2));
  EXPECT_EQ(table_.external_key(before), Id(7));
}

TEST_F(EdgeKeysTest, ARecordIsTakenBackAlone) {
  const Slot before = insert(Id(7));
  commit({{1, 2, before}});
  const Slot first = insert(Id(7));
  const EdgeTable::Mark mark = table_.mark();
  insert(Id(7));
  remove(Id(7));
  insert(Id(8));
  table_.take_back(mark);
  EXPECT_EQ(now(Id(7)), first);
  EXPECT_FALSE(known(Id(8)));
  ASSERT_EQ(keys().versions().size(), 1U);
  EXPECT_EQ(keys().versions()[0].records, 1U);
}

TEST_F(EdgeKeysTest, ManyKeysComeAndGo) {
  constexpr std::int64_t count = 3000;
  for (std::int64_t round = 0; round < 3; ++round) {
    std::vector<Edge> edges;
    for (std::int64_t key = 0; key < count; ++key) {
      const std::string text = std::to_string(key);
      edges.push_back({1, 2, insert(key % 2 == 0 ? Id(key) : Id(std::string_view(text)))});
    }
    commit(edges);
    for (std::int64_t key = 0; key < count; ++key) {
      const std::string text = std::to_string(key);
      ASSERT_EQ(now(key % 2 == 0 ? Id(key) : Id(std::string_view(text))), edges[static_cast<std::size_t>(key)].which);
    }
    commit({}, edges);
  }
  for (std::int64_t key = 0; key < count; ++key) ASSERT_FALSE(known(Id(key)));
}

}  // namespace
}  // namespace deltamatch::graph
