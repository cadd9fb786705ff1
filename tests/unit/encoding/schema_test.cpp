// A schema comes back from its bytes, and no other bytes stand for one.
#include "encoding/schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoding/numbers.hpp"

namespace deltamatch::encoding {
namespace {

using namespace std::string_literals;
using Kind = AttributeType::Kind;

std::string bytes_of(const Schema& schema) {
  std::string bytes;
  ByteWriter out(bytes);
  put_schema(out, schema);
  return bytes;
}

const Schema payments{EdgeModel::keyed,
                      {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol}}},
                      {{"risk", {Kind::real}}, {"since", {Kind::time}}}};

TEST(SchemaBytes, AreAsDocumented) {
  EXPECT_EQ(bytes_of(Schema{}), "\x00\x00\x00"s);
  EXPECT_EQ(bytes_of(payments),
            "\x01"
            "\x02\x06"
            "amount\x01\x02\x07"
            "channel\x04\x00"
            "\x02\x04risk\x02\x00\x05since\x05\x00"s);
}

TEST(SchemaBytes, ComeBack) {
  Schema largest{EdgeModel::events, {}, {}};
  for (std::size_t i = 0; i < max_attributes; ++i)
    largest.edges.push_back({std::string(i, 'x'), {static_cast<Kind>(i % 6), static_cast<std::uint8_t>(i)}});
  for (const Schema& schema : {Schema{}, payments, largest}) {
    const std::string bytes = bytes_of(schema);
    ByteReader in(bytes);
    EXPECT_EQ(take_schema(in), schema);
    EXPECT_TRUE(in.finished());
  }
}

TEST(SchemaBytes, ThatAreCutAreNone) {
  const std::string bytes = bytes_of(payments);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::string_view(bytes).substr(0, size));
    (void)take_schema(in);
    EXPECT_FALSE(in.sound()) << size;
  }
}

TEST(SchemaBytes, HaveNumbersThatMeanSomething) {
  for (const std::string& bytes :
       {"\x03\x00\x00"s, "\x02\x80\x02\x00"s, "\x02\x01\x01n\x06\x00\x00"s, "\x02\x01\x01n\x01\x80\x02\x00"s}) {
    ByteReader in(bytes);
    (void)take_schema(in);
    EXPECT_FALSE(in.sound()) << bytes.size();
  }
}

}  // namespace
}  // namespace deltamatch::encoding
