// Labels of a vertex as one text.
#include <gtest/gtest.h>

#include "base/labels.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch {
namespace {

constexpr const char* ab = "A\037B";

TEST(LabelText, HasOneTextForASetOfLabels) {
  EXPECT_EQ(join_labels({"B", "A", "B", ""}), ab);
  EXPECT_EQ(join_labels({"A"}), "A");
  EXPECT_EQ(join_labels({}), "");
  EXPECT_EQ(canonical_labels("B\037A\037A"), ab);
  EXPECT_EQ(canonical_labels(""), "");
  EXPECT_TRUE(is_several_labels(ab));
  EXPECT_FALSE(is_several_labels("A;B"));
}

TEST(LabelText, ComparesAndChangesSets) {
  EXPECT_TRUE(includes_labels(ab, "A") && includes_labels(ab, ab) && includes_labels(ab, "") && includes_labels("", ""));
  EXPECT_FALSE(includes_labels("A", ab) || includes_labels(ab, "C") || includes_labels("", "A"));
  EXPECT_EQ(add_labels("B", "A"), ab);
  EXPECT_EQ(add_labels("", "A"), "A");
  EXPECT_EQ(remove_labels(ab, "B"), "A");
  EXPECT_EQ(remove_labels("A", "A\037C"), "");
}

TEST(LabelTable, KnowsWhichTextsAreSeveralLabels) {
  LabelTable table;
  table.intern("C");
  const LabelId both = table.intern(ab);
  table.intern("D");
  const LabelId more = table.intern("A\037C");
  EXPECT_EQ(std::vector(table.several().begin(), table.several().end()), (std::vector{both, more}));
  table.free(both);
  EXPECT_EQ(std::vector(table.several().begin(), table.several().end()), std::vector{more});
  EXPECT_EQ(table.intern("C\037D"), both) << "the least free number";
  EXPECT_EQ(std::vector(table.several().begin(), table.several().end()), (std::vector{both, more}));
}

}  // namespace
}  // namespace deltamatch
