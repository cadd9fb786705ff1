// Avro container files. Apache's package for Python wrote the bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/schema/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ReadOptions options() {
  ReadOptions options;
  options.on_error = OnError::fail;
  return options;
}

constexpr std::string_view plain =
    "4f626a0104146176726f2e636f646563086e756c6c166176726f2e736368656d6188037b2274797065223a20227265636f7264222c2022"
    "6e616d65223a202245222c20226669656c6473223a205b7b2274797065223a2022737472696e67222c20226e616d65223a2022736f7572"
    "6365227d2c207b2274797065223a20226c6f6e67222c20226e616d65223a2022746172676574227d2c207b2274797065223a207b227479"
    "7065223a20226c6f6e67222c20226c6f676963616c54797065223a202274696d657374616d702d6d696c6c6973227d2c20226e616d6522"
    "3a202274696d65227d5d7d00fb9ff7c9108783c5b5883e1a1310c93a06540c616363742d3002809087b182670c616363742d3104d09f87"
    "b182670c616363742d3206a0af87b18267fb9ff7c9108783c5b5883e1a1310c93a";
constexpr std::string_view deflated =
    "4f626a0104146176726f2e636f6465630e6465666c617465166176726f2e736368656d6188037b2274797065223a20227265636f726422"
    "2c20226e616d65223a202245222c20226669656c6473223a205b7b2274797065223a2022737472696e67222c20226e616d65223a202273"
    "6f75726365227d2c207b2274797065223a20226c6f6e67222c20226e616d65223a2022746172676574227d2c207b2274797065223a207b"
    "2274797065223a20226c6f6e67222c20226c6f676963616c54797065223a202274696d657374616d702d6d696c6c6973227d2c20226e61"
    "6d65223a202274696d65227d5d7d006acadfb8ec3a3584644071b8e052c1d00644e3494c4e2ed135606a98d0beb1299d07cc3364b9301f"
    "c133625bb01ec403004910106acadfb8ec3a3584644071b8e052c1d0";

TEST(AvroFiles, AreRecognisedAndHaveTheirSchema) {
  for (const std::string_view file : {plain, deflated}) {
    EXPECT_THAT(read_all(from_hex(file), options()),
                ElementsAre("+ 'acct-0' -> 1 @1769846400000000", "+ 'acct-1' -> 2 @1769846401000000",
                            "+ 'acct-2' -> 3 @1769846402000000"));
  }
}

TEST(AvroFiles, ThatAreTornOrDamagedGiveNoWrongRecord) {
  for (const std::string_view file : {plain, deflated}) {
    const std::string bytes = from_hex(file);
    int without_blocks = 0;
    for (std::size_t size = 4; size < bytes.size(); ++size) {
      const std::string fault = error_of([&] { EXPECT_THAT(read_all(bytes.substr(0, size), options()), IsEmpty()); });
      if (fault.empty()) {
        ++without_blocks;
      } else {
        EXPECT_THAT(fault, HasSubstr("the file is torn")) << size;
      }
    }
    EXPECT_EQ(without_blocks, 1);  // a file may end behind its header
    std::string damaged = bytes;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    EXPECT_THAT(error_of([&] { (void)read_all(damaged, options()); }), HasSubstr("a block does not end where it should"));
  }
}

TEST(AvroFiles, OfAnotherCompressionAreRefused) {
  std::string bytes = from_hex(plain);
  const std::size_t codec = bytes.find("null");
  ASSERT_NE(codec, std::string::npos);
  bytes.replace(codec, 4, "lzma");
  EXPECT_THAT(error_of([&] { (void)read_all(bytes, options()); }), HasSubstr("compressed by lzma, which is not read"));
}

}  // namespace
}  // namespace deltamatch::ingest
