// Protobuf: schemas and records, and what is refused of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ingest/schema/proto_schema.hpp"
#include "unit/schema/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Imports = std::vector<std::pair<std::string, std::string>>;

std::string read(const std::string& schema, std::string_view bytes, const std::string& message = {},
                 const Imports& imports = {}) {
  const auto parsed = ProtoSchema::read(schema, imports);
  if (const auto* const what = std::get_if<std::string>(&parsed)) return "! schema: " + *what;
  const auto& read = std::get<0>(parsed);
  const ProtoSchema::Message found = read->named(message);
  if (found == nullptr) return "! there is no " + message + " among " + read->names();
  RecordText text;
  ProtoRecord record;
  if (!record.read(read, found, bytes, text)) return "! " + record.fault();
  return std::string(text.padded());
}

constexpr std::string_view payment = R"(syntax = "proto3";
package bank;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "party.proto";
message Payment {
  enum Kind { CARD = 0; WIRE = 1; }
  int64 id = 1;
  Party payer = 2;
  Party payee = 3;
  google.protobuf.Timestamp at = 4;
  Kind kind = 5;
  optional string note = 6;
  repeated string tags = 7;
  map<string, int32> counts = 8;
  double amount = 9;
  google.protobuf.Int64Value version = 10;
  bytes hash = 11;
  uint64 big = 12;
  message Inner { string a = 1; string b = 2; }
}
)";
const Imports party = {{"party.proto", R"(syntax = "proto3"; package bank; message Party { string iban = 1; })"}};

class Proto : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!reads_protobuf()) GTEST_SKIP() << "this build reads no Protobuf";
  }
};

TEST_F(Proto, ReadsWhatProtocWrites) {
  const std::string bytes = from_hex(
      "080712060a04444530311a060a0446523032220b0880edf6cb0610959aef3a28013a01613a0162420e0a016e10fdffffffffffffffff0149"
      "0000000000002940520208095a02000160ffffffffffffffffff01");
  EXPECT_EQ(read(std::string(payment), bytes, "Payment", party),
            R"({"id":7,"payer":{"iban":"DE01"},"payee":{"iban":"FR02"},"at":1769846400123456,"kind":"WIRE","tags":["a","b"],)"
            R"("counts":{"n":-3},"amount":12.5,"version":9,"hash":"AAE=","big":18446744073709551615})");
  EXPECT_THAT(read(std::string(payment), bytes.substr(0, 9), "bank.Payment", party),
              StartsWith("! its 9 bytes are no message bank.Payment"));
}

TEST_F(Proto, AFieldWhoseAbsenceCannotBeToldHasItsDefault) {
  EXPECT_EQ(read(std::string(payment), "", "Payment", party),
            R"({"id":0,"kind":"CARD","tags":[],"counts":{},"amount":0,"hash":"","big":0})");
  const std::string two = R"(syntax = "proto2"; message M { optional int32 a = 1 [default = 7]; required int32 b = 2; })";
  EXPECT_EQ(read(two, from_hex("1005")), R"({"b":5})");
  EXPECT_EQ(read(two, ""), "! it lacks required fields: b");
}

TEST_F(Proto, DecimalsOfConfluentAreExact) {
  const std::string schema = R"(syntax = "proto3"; import "confluent/type/decimal.proto"; import "confluent/meta.proto";
message M { confluent.type.Decimal amount = 1 [(confluent.field_meta) = { doc: "euros" }]; })";
  EXPECT_EQ(read(schema, from_hex("0a080a0204d2100a1802")), R"({"amount":12.34})");
}

TEST_F(Proto, EnumsWithoutANameAreNumbers) {
  EXPECT_EQ(read(R"(syntax = "proto3"; enum E { A = 0; } message M { E e = 1; })", from_hex("0805")), R"({"e":5})");
}

TEST_F(Proto, MessagesAreFoundByPlaceAndByName) {
  const auto schema = std::get<0>(ProtoSchema::read(payment, party));
  const std::vector<std::int64_t> inner{0, 0};  // the entries of the map are no message of their own
  EXPECT_NE(schema->at(inner), nullptr);
  EXPECT_EQ(schema->at(inner), schema->named("Payment.Inner"));
  for (const std::vector<std::int64_t>& place : {std::vector<std::int64_t>{1}, {-1}, {0, 2}, {0, 0, 0}}) {
    EXPECT_EQ(schema->at(place), nullptr);
  }
  EXPECT_EQ(read(R"(syntax = "proto3"; message A {} message B {})", ""), "! there is no  among A, B");
}

TEST_F(Proto, SchemasThatAreNoneAreRefused) {
  EXPECT_THAT(read("message {", ""), HasSubstr("! schema: line 1: "));
  EXPECT_THAT(read(std::string(payment), ""), HasSubstr("party.proto"));
  EXPECT_THAT(read(R"(syntax = "proto3"; message M { Other o = 1; })", ""), HasSubstr("\"Other\" is not defined"));
  std::string deep = R"(syntax = "proto3"; )";
  for (int i = 0; i < 100'000; ++i) deep += "message a{";
  EXPECT_EQ(read(deep, ""), "! schema: it nests too deep");
  EXPECT_THAT(read(R"(syntax = "proto3"; import "x.proto"; message M {})", "", "",
                   {{"x.proto", R"(syntax = "proto3"; import "the schema";)"}}),
              HasSubstr("! schema: "));
}

TEST_F(Proto, KnownTypesCannotBeReplaced) {
  const Imports false_time = {{"google/protobuf/timestamp.proto",
                               R"(syntax = "proto3"; package google.protobuf; message Timestamp { string x = 1; })"}};
  const std::string schema =
      R"(syntax = "proto3"; import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp t = 1; })";
  EXPECT_EQ(read(schema, from_hex("0a020801"), "", false_time), R"({"t":1000000})");
  // A type that only has the name.
  EXPECT_EQ(read(R"(syntax = "proto3"; package google.protobuf; message Duration {} message Timestamp { string x = 1; })",
                 from_hex("0a0161"), "Timestamp"),
            R"({"x":"a"})");
}

TEST_F(Proto, DeepMessagesAreRefused) {
  const std::string schema = R"(syntax = "proto3"; message M { M m = 1; })";
  std::string bytes;
  for (int i = 0; i < 90; ++i) bytes = "\x0a" + std::string(1, static_cast<char>(bytes.size())) + bytes;
  EXPECT_THAT(read(schema, bytes.substr(bytes.size() - 20)), HasSubstr("{"));
  std::string deep = "\x0a";
  deep += '\0';
  for (int i = 0; i < 1000; ++i) {
    std::string length;
    for (std::size_t rest = deep.size();; rest >>= 7) {
      length += static_cast<char>((rest & 0x7fU) | (rest >= 0x80 ? 0x80U : 0U));
      if (rest < 0x80) break;
    }
    deep = "\x0a" + length + deep;
  }
  EXPECT_THAT(read(schema, deep), HasSubstr("are no message M"));
}

}  // namespace
}  // namespace deltamatch::ingest
