#include "base/labels.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
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

TEST(LabelTable, TheLeastFreeNumberIsGivenFirst) {
  LabelTable labels;
  for (const char* text : {"a", "b", "c", "d"}) labels.intern(text);
  labels.free(3);
  labels.free(1);
  EXPECT_EQ(labels.find("a"), std::nullopt);
  EXPECT_FALSE(labels.in_use(1));
  EXPECT_EQ(labels.text(1), "");
  EXPECT_EQ(labels.count(), 3U);
  EXPECT_EQ(labels.size(), 5U);
  EXPECT_EQ(labels.intern("e"), 1U);
  EXPECT_EQ(labels.intern("c"), 3U);
  EXPECT_EQ(labels.intern("f"), 5U);
}

TEST(LabelTable, NumbersDependOnWhatIsInUseAlone) {
  std::mt19937 random(7);  // NOLINT: the same on every machine
  LabelTable labels;
  std::map<LabelId, std::string> used;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0 || used.empty()) {
      LabelId least = 1;
      for (auto at = used.begin(); at != used.end() && at->first == least; ++at) ++least;
      const std::string text = "label " + std::to_string(i);
      ASSERT_EQ(labels.intern(text), least);
      used[least] = text;
    } else {
      const auto at = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      labels.free(at->first);
      used.erase(at);
    }
    ASSERT_EQ(labels.size(), used.empty() ? 1 : used.rbegin()->first + 1);
    ASSERT_EQ(labels.count(), used.size() + 1);
  }
  LabelTable other;  // filled in another order
  for (auto at = used.rbegin(); at != used.rend(); ++at) other.restore(at->first, at->second);
  ASSERT_EQ(other.size(), labels.size());
  for (LabelId label = 0; label < labels.size(); ++label) {
    ASSERT_EQ(other.in_use(label), labels.in_use(label));
    ASSERT_EQ(other.text(label), labels.text(label));
  }
  EXPECT_EQ(other.intern("new"), labels.intern("new"));
}

TEST(LabelTable, LabelsThatComeAndGoTakeNoMoreMemory) {
  LabelTable labels;
  std::size_t bytes = 0;
  for (int i = 0; i < 10000; ++i) {
    labels.free(labels.intern("label " + std::to_string(100000 + i)));
    if (i == 0) bytes = labels.bytes();
  }
  EXPECT_EQ(labels.bytes(), bytes);
}

TEST(LabelTable, ALabelIsRestoredOnce) {
  LabelTable labels;
  labels.restore(70, "a");
  EXPECT_EQ(labels.size(), 71U);
  EXPECT_THROW(labels.restore(70, "b"), Error);
  EXPECT_THROW(labels.restore(3, "a"), Error);
  EXPECT_THROW(labels.restore(3, ""), Error);
  EXPECT_EQ(labels.intern("b"), 1U);
}

TEST(LabelTable, BytesCoverTheTexts) {
  LabelTable labels;
  const std::size_t before = labels.bytes();
  labels.intern(std::string(100000, 'z'));
  EXPECT_GE(labels.bytes(), before + 100000);
}

}  // namespace
}  // namespace deltamatch
