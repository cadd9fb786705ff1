#include "base/labels.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

TEST(LabelTable, TheEmptyLabelIsNumber0) {
  LabelTable labels;
  EXPECT_EQ(labels.size(), 1U);
  EXPECT_EQ(labels.find(""), empty_label);
  EXPECT_EQ(labels.intern(""), empty_label);
  EXPECT_EQ(labels.text(empty_label), "");
}

TEST(LabelTable, NumbersAreDenseAndLasting) {
  LabelTable labels;
  for (LabelId i = 1; i <= 5000; ++i) {
    const std::string text = "label " + std::to_string(i) + std::string(i % 700, 'x');
    EXPECT_EQ(labels.find(text), std::nullopt);
    ASSERT_EQ(labels.intern(text), i);
    ASSERT_EQ(labels.intern(text), i);
  }
  EXPECT_EQ(labels.size(), 5001U);
  for (LabelId i = 1; i <= 5000; ++i) {
    const std::string text = "label " + std::to_string(i) + std::string(i % 700, 'x');
    ASSERT_EQ(labels.find(text), i);
    ASSERT_EQ(labels.text(i), text);
  }
}

TEST(LabelTable, TextsStayWhereTheyAre) {
  LabelTable labels;
  const LabelId first = labels.intern("Account");
  const std::string_view text = labels.text(first);
  for (int i = 0; i < 10000; ++i) labels.intern("other " + std::to_string(i));
  LabelTable moved(std::move(labels));
  EXPECT_EQ(moved.text(first).data(), text.data());
  EXPECT_EQ(text, "Account");
  EXPECT_EQ(moved.find("Account"), first);
}

TEST(LabelTable, AnyBytesAreALabel) {
  LabelTable labels;
  const std::string zero("a\0b", 3);
  const LabelId a = labels.intern("a");
  const LabelId with_zero = labels.intern(zero);
  EXPECT_NE(a, with_zero);
  EXPECT_EQ(labels.text(with_zero), zero);
  const LabelId junk = labels.intern("\xff\xfe\x80");
  EXPECT_EQ(labels.find("\xff\xfe\x80"), junk);
  const std::string large(1 << 20, 'y');
  EXPECT_EQ(labels.text(labels.intern(large)), large);
}

TEST(LabelTable, RefusesMoreLabelsThanThereAreNumbers) {
  LabelTable labels(3);
  labels.intern("a");
  labels.intern("b");
  EXPECT_THROW(labels.intern("c"), Error);
  EXPECT_EQ(labels.size(), 3U);
  EXPECT_EQ(labels.find("c"), std::nullopt);
  EXPECT_EQ(labels.intern("b"), 2U);
}

TEST(LabelTable, BytesCoverTheTexts) {
  LabelTable labels;
  const std::size_t before = labels.bytes();
  labels.intern(std::string(100000, 'z'));
  EXPECT_GE(labels.bytes(), before + 100000);
}

}  // namespace
}  // namespace deltamatch
