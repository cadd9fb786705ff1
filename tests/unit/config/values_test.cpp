// Durations, sizes and numbers as people write them.
#include "cli/terminal/values.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

TEST(Values, DurationsHaveAUnit) {
  EXPECT_EQ(read_duration("7us"), 7);
  EXPECT_EQ(read_duration("250ms"), 250'000);
  EXPECT_EQ(read_duration("10s"), 10'000'000);
  EXPECT_EQ(read_duration("5m"), 300'000'000);
  EXPECT_EQ(read_duration("24h"), read_duration("1d"));
  EXPECT_EQ(read_duration("106751991d"), Timestamp{106'751'991} * 86'400'000'000);
  for (const char* const wrong :
       {"", "5", "s", "-5s", "+5s", "0s", "5 s", " 5s", "5s ", "5S", "1.5s", "1e3s", "106751992d", "99999999999999999999s"}) {
    EXPECT_FALSE(read_duration(wrong)) << wrong;
  }
  for (const char* const wrong : {"", "5", "s", "-5s", "0s", "000d", "1.5s", "99999999999999999999", "5 s", "106751992D"})
    EXPECT_EQ(duration_flaw(wrong), "is not a duration") << wrong;
  for (const char* const wrong : {"106751992d", "99999999999999999999s", "9223372036854775808us"})
    EXPECT_EQ(duration_flaw(wrong), "is more than 106751991d") << wrong;
}

TEST(Values, SizesMayHaveAUnit) {
  EXPECT_EQ(read_size("0"), 0U);
  EXPECT_EQ(read_size("1234"), 1234U);
  EXPECT_EQ(read_size("64KiB"), 65'536U);
  EXPECT_EQ(read_size("64K"), 65'536U);
  EXPECT_EQ(read_size("3MiB"), 3'145'728U);
  EXPECT_EQ(read_size("8G"), std::uint64_t{8} << 30);
  EXPECT_EQ(read_size("16777215TiB"), std::uint64_t{16'777'215} << 40);
  for (const char* const wrong : {"", "K", "-1", "1KB", "1kib", "1.5G", "16777216TiB", "18446744073709551616", "1 K"}) {
    EXPECT_FALSE(read_size(wrong)) << wrong;
  }
}

TEST(Values, WhatIsWrittenIsReadAgain) {
  for (const char* const text : {"1us", "90s", "7d", "25h", "1500ms", "61m"})
    EXPECT_EQ(duration_text(*read_duration(text)), text);
  EXPECT_EQ(duration_text(*read_duration("86400s")), "1d");
  EXPECT_EQ(duration_text(0), "0us");
  for (const char* const text : {"0", "1", "1536", "2KiB", "1025KiB", "1GiB", "5TiB"})
    EXPECT_EQ(size_text(*read_size(text)), text);
  EXPECT_EQ(size_text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Values, NumbersAndFractionsKeepToTheirRange) {
  EXPECT_EQ(read_number("010", 0, 10), 10U);
  EXPECT_FALSE(read_number("11", 0, 10));
  EXPECT_FALSE(read_number("0", 1, 10));
  EXPECT_FALSE(read_number("0x1", 0, 10));
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(read_number("18446744073709551615", 1, most), most);
  for (const char* const wrong : {"", "x", "0", "99999999999999999999x", "-18446744073709551616"})
    EXPECT_EQ(number_remedy(wrong, 1, most), "write a whole number from 1 up") << wrong;
  EXPECT_EQ(number_remedy("18446744073709551616", 1, most), "write a whole number from 1 to 18446744073709551615");
  EXPECT_EQ(number_remedy("9", 1, 8), "write a whole number from 1 to 8");
  EXPECT_EQ(read_fraction("1e3", 0, 1000), 1000.0);
  for (const char* const wrong : {"nan", "inf", "1001", "-1", "", "1x"}) EXPECT_FALSE(read_fraction(wrong, 0, 1000)) << wrong;
}

TEST(Values, ParsersNameTheOption) {
  try {
    static_cast<void>(parse_size("1X", "--gpu-memory"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(
        error.what(),
        "--gpu-memory: '1X' is not a size from 1 byte to 16 TiB; write a whole number of bytes, or one with a unit, e.g. "
        "64KiB, 512MiB, 8GiB");
  }
}

}  // namespace
}  // namespace deltamatch::cli
