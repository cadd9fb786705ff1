#include "deltamatch/id.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_set>

namespace deltamatch {
namespace {

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

TEST(IdTest, IsMadeFromEveryInteger) {
  EXPECT_EQ(Id(std::int8_t{-3}).number(), -3);
  EXPECT_EQ(Id(7U).number(), 7);
  EXPECT_EQ(Id(std::numeric_limits<std::int64_t>::min()).number(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Id(std::uint64_t{1} << 62).number(), std::int64_t{1} << 62);
  EXPECT_EQ(Id(0), Id());
}

TEST(IdTest, RefusesWhatItCannotHold) {
  EXPECT_THROW(Id(std::uint64_t{1} << 63), std::out_of_range);
  EXPECT_THROW(Id(std::numeric_limits<std::uint64_t>::max()), std::out_of_range);
  static_assert(!std::is_constructible_v<Id, bool>);
  static_assert(!std::is_constructible_v<Id, char>);
  static_assert(!std::is_constructible_v<Id, double>);
  static_assert(!std::constructible_from<Id, Signed128>);  // an integer with the extensions of GNU
  static_assert(!std::constructible_from<Id, Unsigned128>);
  static_assert(!std::constructible_from<Id, std::nullptr_t>);
}

TEST(IdTest, IsMadeFromEveryString) {
  const std::string text = "ann";
  for (const Id& id : {Id("ann"), Id(text), Id(std::string_view(text))}) {
    EXPECT_TRUE(id.is_text());
    EXPECT_EQ(id.text(), "ann");
  }
  EXPECT_LT(Id(std::numeric_limits<std::int64_t>::max()), Id(""));
}

TEST(IdTest, IsWrittenAsItsTextOrItsDigits) {
  EXPECT_EQ(to_string(Id(-7)), "-7");
  EXPECT_EQ(to_string(Id("ann")), "ann");
  EXPECT_EQ(to_string(Id(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
}

TEST(IdTest, IsAKeyOfContainers) {
  const std::unordered_set<Id> ids{7, "7", 7, "7", "ann"};
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_TRUE(ids.contains(std::string("ann")));
}

}  // namespace
}  // namespace deltamatch
