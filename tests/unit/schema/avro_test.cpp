// Avro: schemas and records, and what is refused of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "ingest/schema/avro_record.hpp"
#include "unit/schema/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The record as JSON, or "! " and why it is none.
std::string read(const std::string& schema, std::string_view bytes, TicksOfUnit unit = 1,
                 const std::vector<std::string>& references = {}) {
  const auto parsed = AvroSchema::read(schema, references);
  if (const auto* const what = std::get_if<std::string>(&parsed)) return "! schema: " + *what;
  RecordText text(unit);
  AvroRecord record;
  if (!record.read(std::get<AvroSchema>(parsed), bytes, text)) return "! " + record.fault();
  return std::string(text.padded());
}

TEST(Avro, ReadsWhatApachesPackageForPythonWrites) {
  const std::string schema =
      R"({"type":"record","name":"Payment","namespace":"bank","fields":[{"name":"id","type":"long"},)"
      R"({"name":"payer","type":{"type":"record","name":"Party","fields":[{"name":"iban","type":"string"},)"
      R"({"name":"country","type":["null",{"type":"enum","name":"Country","symbols":["DE","FR"]}],"default":null}]}},)"
      R"({"name":"payee","type":["null","Party"]},)"
      R"({"name":"amount","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},)"
      R"({"name":"fee","type":{"type":"fixed","name":"Fee","size":4,"logicalType":"decimal","precision":8,"scale":3}},)"
      R"({"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},)"
      R"({"name":"booked","type":{"type":"int","logicalType":"date"}},)"
      R"({"name":"tags","type":{"type":"array","items":"string"}},)"
      R"({"name":"notes","type":{"type":"map","values":["null","double"]}},)"
      R"({"name":"ok","type":"boolean"},{"name":"rate","type":"float"}]})";
  const std::string bytes = from_hex(
      "0e08444530310202020a46522230320004fb2e0000007df69187b182678ac00204026102620004027802000000000000f83f0279000001"
      "cdcccc3d");
  EXPECT_EQ(read(schema, bytes),
            R"({"id":7,"payer":{"iban":"DE01","country":"FR"},"payee":{"iban":"FR\"02","country":null},"amount":-12.34,)"
            R"("fee":0.125,"at":1769846400123000,"booked":1769904000000000,"tags":["a","b"],"notes":{"x":1.5,"y":null},)"
            R"("ok":true,"rate":0.1})");
  EXPECT_THAT(read(schema, bytes, 1'000'000), HasSubstr(R"("at":1769846400.123000,"booked":1769904000.000000)"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(read(schema, bytes.substr(0, size)), StartsWith("! the record ends after ")) << size;
  }
  EXPECT_EQ(read(schema, bytes + "x"), "! 1 bytes follow the record, which ends at byte 59");
}

TEST(Avro, NumbersAreExact) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64},
                                   std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(read(R"("long")", avro(value)), std::to_string(value));
  }
  EXPECT_EQ(read(R"("int")", avro(std::int64_t{1} << 31)), "! the int before byte 5 is longer than 32 bits");
  EXPECT_EQ(read(R"("long")", from_hex("ffffffffffffffffff02")), "! the number before byte 10 is longer than 64 bits");
  EXPECT_EQ(read(R"("double")", from_hex("000000000000f87f")), R"("NaN")");
  EXPECT_EQ(read(R"("double")", from_hex("9a9999999999b93f")), "0.1");
  EXPECT_EQ(read(R"("bytes")", avro(std::string_view("\0\1\2\3", 4))), R"("AAECAw==")");
}

TEST(Avro, DecimalsAreExactUpTo64BitsAndElseSayWhatTheyAre) {
  const auto decimal = [](int scale) {
    return fmt::format(R"({{"type":"bytes","logicalType":"decimal","precision":30,"scale":{}}})", scale);
  };
  EXPECT_EQ(read(decimal(2), avro(from_hex("05"))), "0.05");
  EXPECT_EQ(read(decimal(2), avro(from_hex("ff"))), "-0.01");
  EXPECT_EQ(read(decimal(0), avro(from_hex("8000000000000000"))), "-9223372036854775808");
  EXPECT_EQ(read(decimal(2), avro(from_hex("00000000000000000007"))), "0.07");
  EXPECT_EQ(read(decimal(2), avro(from_hex("010000000000000000"))), R"({"scale":2,"value":"AQAAAAAAAAAA"})");
}

TEST(Avro, ADecimalOfAnInvalidScaleIsItsBytes) {
  for (const char* scale : {R"("scale":-1)", R"("scale":"2")", R"("scale":3,"precision":2)", R"("precision":-1)"}) {
    EXPECT_EQ(read(fmt::format(R"({{"type":"bytes","logicalType":"decimal",{}}})", scale), avro(from_hex("05"))), R"("BQ==")")
        << scale;
  }
}

TEST(Avro, NumbersHaveNoExponent) {
  EXPECT_EQ(read(R"("double")", from_hex("00000000006af840")), "100000");
  EXPECT_EQ(read(R"("double")", from_hex("f168e388b5f8e43e")), "0.00001");
  EXPECT_EQ(read(R"("float")", from_hex("0050c347")), "100000");
}

TEST(Avro, TimesHaveTheUnitOfTheirType) {
  const auto time = [](std::string_view logical) { return fmt::format(R"({{"type":"long","logicalType":"{}"}})", logical); };
  EXPECT_EQ(read(time("timestamp-millis"), avro(5)), "5000");
  EXPECT_EQ(read(time("timestamp-micros"), avro(5)), "5");
  EXPECT_EQ(read(time("local-timestamp-nanos"), avro(-1)), "-1");
  EXPECT_EQ(read(time("timestamp-micros"), avro(-5), 1'000), "-0.005");
  EXPECT_EQ(read(time("time-micros"), avro(5)), "5");
  EXPECT_EQ(read(R"({"type":"long","connect.name":"io.debezium.time.Timestamp"})", avro(5)), "5000");
  EXPECT_EQ(read(time("timestamp-millis"), avro(std::numeric_limits<std::int64_t>::max())), R"("beyond the range of times")");
}

TEST(Avro, NamesAreFoundInTheirNamespaceAndInReferences) {
  const std::string party = R"({"type":"record","name":"Party","namespace":"bank","fields":[{"name":"id","type":"long"}]})";
  const std::string payment = R"({"type":"record","name":"Payment","namespace":"bank","fields":[{"name":"a","type":"Party"},)"
                              R"({"name":"b","type":"bank.Party"}]})";
  EXPECT_EQ(read(payment, avro(1) + avro(2), 1, {party}), R"({"a":{"id":1},"b":{"id":2}})");
  EXPECT_EQ(read(payment, ""), "! schema: the type Party is not known");
  EXPECT_THAT(read(payment, "", 1, {"{"}), StartsWith("! schema: a schema that it refers to cannot be read: it is not JSON: "));
}

TEST(Avro, SchemasThatAreNoneAreRefused) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"", "it is not JSON"},
      {"7", "a type is neither a name nor an object nor a list"},
      {"{}", "a type has no key `type`"},
      {R"("money")", "the type money is not known"},
      {"[]", "a union has no types"},
      {R"({"type":"array"})", "has no key `items`"},
      {R"({"type":"enum","name":"E"})", "an enum has no symbols"},
      {R"({"type":"fixed","name":"F"})", "a fixed has no size"},
      {R"({"type":"record","fields":[]})", "has no name"},
      {R"({"type":"record","name":"R","fields":[{"name":"a"}]})", "a field of the record R has no name or no type"},
      {R"([{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":1}])", "the type F is defined twice"},
  };
  for (const auto& [schema, what] : broken) EXPECT_THAT(read(schema, ""), HasSubstr("! schema: ")) << schema;
  for (const auto& [schema, what] : broken) EXPECT_THAT(read(schema, ""), HasSubstr(what)) << schema;
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += R"({"type":"array","items":)";
  EXPECT_EQ(read(deep + R"("long")" + std::string(500, '}'), ""), "! schema: it nests too deep");
  EXPECT_THAT(read(std::string(100'000, '['), ""), HasSubstr("! schema: it is not JSON"));
}

TEST(Avro, ASchemaOfAMebibyteIsRead) {
  std::string schema = R"({"type":"record","name":"Wide","fields":[)";
  std::string bytes;
  int fields = 0;
  for (; schema.size() < (std::size_t{1} << 20); ++fields) {
    schema += fmt::format(R"({}{{"name":"f{}","type":"long"}})", fields == 0 ? "" : ",", fields);
    bytes += avro(fields);
  }
  const std::string text = read(schema + "]}", bytes);
  EXPECT_TRUE(text.ends_with(fmt::format(R"("f{0}":{0}}})", fields - 1))) << text.substr(text.size() - 40);
}

TEST(Avro, RecordsThatClaimMoreThanTheyAreAreRefused) {
  EXPECT_THAT(read(R"("string")", avro(std::int64_t{1} << 62)), HasSubstr("within a value that needs"));
  EXPECT_EQ(read(R"("string")", avro(-1)), "! the length before byte 1 is negative");
  EXPECT_EQ(read(R"("boolean")", "\2"), "! the boolean before byte 1 is neither 0 nor 1");
  EXPECT_EQ(read(R"(["null","long"])", avro(2)), "! the union before byte 1 has no type 2");
  EXPECT_EQ(read(R"({"type":"enum","name":"E","symbols":["A"]})", avro(-1)), "! the enum before byte 1 has no symbol -1");
  const std::string many = "! its few bytes stand for too many values";
  EXPECT_EQ(read(R"({"type":"array","items":"null"})", avro(std::int64_t{1} << 60)), many);
  EXPECT_EQ(read(R"({"type":"array","items":"null"})", avro(std::numeric_limits<std::int64_t>::min()) + avro(0)), many);
  const std::string list =
      R"({"type":"record","name":"List","fields":[{"name":"value","type":"long"},{"name":"next","type":["null","List"]}]})";
  EXPECT_EQ(read(list, avro(1) + avro(1) + avro(2) + avro(0)), R"({"value":1,"next":{"value":2,"next":null}})");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += avro(1) + avro(1);
  EXPECT_EQ(read(list, deep), "! its values nest deeper than 128 levels");
  EXPECT_EQ(read(R"({"type":"record","name":"R","fields":[{"name":"r","type":"R"}]})", ""),
            "! its values nest deeper than 128 levels");
  // Records of nothing that hold several of each other: 8^20 values without a byte.
  std::string tree = R"({"type":"record","name":"T0","fields":[{"name":"a","type":"null"}]})";
  for (int level = 1; level <= 20; ++level) {
    std::string fields;
    for (int i = 0; i < 8; ++i) {
      fields += fmt::format(R"({}{{"name":"f{}","type":{}}})", i == 0 ? "" : ",", i,
                            i == 0 ? tree : fmt::format("\"T{}\"", level - 1));
    }
    tree = fmt::format(R"({{"type":"record","name":"T{}","fields":[{}]}})", level, fields);
  }
  EXPECT_EQ(read(tree, ""), many);
  // A long name for each of many values.
  const std::string name(100'000, 'n');
  EXPECT_EQ(read(fmt::format(
                     R"({{"type":"array","items":{{"type":"record","name":"R","fields":[{{"name":"{}","type":"boolean"}}]}}}})",
                     name),
                 avro(50'000) + std::string(50'000, '\1') + avro(0)),
            many);
}

}  // namespace
}  // namespace deltamatch::ingest
