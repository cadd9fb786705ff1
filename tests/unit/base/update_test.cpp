#include "deltamatch/update.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace deltamatch {
namespace {

Update edge(std::string_view source, std::string_view target, std::string_view label) {
  Update update;
  update.source = Id(source);
  update.target = Id(target);
  update.label = label;
  return update;
}

std::string numbered(char letter, int number) {
  std::string text(1, letter);
  text += std::to_string(number);
  return text;
}

TEST(UpdateBatch, OwnsItsText) {
  UpdateBatch batch;
  {
    std::string source = "acct-1";
    std::string label = "PAYS";
    std::string vertex_label = "Account";
    Update update = edge(source, "acct-2", label);
    update.source_label = vertex_label;
    update.target_label = "";
    update.time = 5;
    batch.add(update);
    source.assign(6, 'x');
    label.assign(4, 'x');
    vertex_label.assign(7, 'x');
  }
  const Update& update = batch.updates()[0];
  EXPECT_EQ(update.source, Id("acct-1"));
  EXPECT_EQ(update.target, Id("acct-2"));
  EXPECT_EQ(update.label, "PAYS");
  EXPECT_EQ(update.source_label, "Account");
  EXPECT_EQ(update.target_label, "");
  EXPECT_EQ(update.time, 5);
}

TEST(UpdateBatch, ViewsHoldWhileItGrowsAndWhenItMoves) {
  UpdateBatch batch;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i)
    batch.add(edge(numbered('s', i), numbered('t', i), std::string(static_cast<std::size_t>(i % 300), 'l')));
  const char* const first = batch.updates()[0].source.text().data();
  UpdateBatch moved = std::move(batch);
  EXPECT_EQ(moved.updates()[0].source.text().data(), first);
  UpdateBatch assigned;
  assigned.add(edge("old", "old", "old"));
  assigned = std::move(moved);
  ASSERT_EQ(assigned.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Update& update = assigned.updates()[static_cast<std::size_t>(i)];
    ASSERT_EQ(update.source.text(), numbered('s', i));
    ASSERT_EQ(update.target.text(), numbered('t', i));
    ASSERT_EQ(update.label.size(), static_cast<std::size_t>(i % 300));
  }
}

TEST(UpdateBatch, AMovedFromBatchCanBeUsedAgain) {
  UpdateBatch batch;
  batch.add(edge("a", "b", "c"));
  const UpdateBatch moved = std::move(batch);
  batch.clear();  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(batch.empty());
  batch.add(edge("d", "e", "f"));
  EXPECT_EQ(batch.updates()[0].source, Id("d"));
  EXPECT_EQ(moved.updates()[0].source, Id("a"));
}

TEST(UpdateBatch, ClearKeepsTheMemory) {
  UpdateBatch batch;
  batch.add(edge("first", "b", std::string(100000, 'x')));
  const char* const place = batch.updates()[0].source.text().data();
  batch.clear();
  EXPECT_EQ(batch.size(), 0u);
  batch.add(edge("other", "b", std::string(100000, 'y')));
  EXPECT_EQ(batch.updates()[0].source.text().data(), place);
  EXPECT_EQ(batch.updates()[0].label, std::string(100000, 'y'));
}

TEST(UpdateBatch, TakesAnElementOfItself) {
  UpdateBatch batch;
  batch.add(edge("a", "b", "c"));
  for (int i = 0; i < 100; ++i) batch.add(batch.updates()[0]);
  for (const Update& update : batch.updates()) EXPECT_EQ(update.source, Id("a"));
}

TEST(RejectName, IsDistinctForEveryReason) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < reject_reason_count; ++i) names.insert(reject_name(static_cast<RejectReason>(i)));
  EXPECT_EQ(names.size(), reject_reason_count);
  EXPECT_EQ(reject_name(RejectReason::malformed), "malformed");
  EXPECT_EQ(reject_name(RejectReason::label_limit), "label_limit");
}

}  // namespace
}  // namespace deltamatch
