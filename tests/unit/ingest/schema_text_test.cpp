// Declarations of attributes.
#include "ingest/codec/schema_text.hpp"

#include <gmock/gmock.h>

#include <string>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "amount decimal(2) <- payload.amt base64".
std::vector<std::string> parse(std::string_view text, AttributesOf of = AttributesOf::edges) {
  std::vector<std::string> all;
  for (const AttributeColumn& column : parse_attributes(text, of, "--attributes")) {
    std::string line = column.attribute.name + " " + type_text(column.attribute.type);
    if (!column.column.empty()) line += " <- " + column.column;
    if (column.base64) line += " base64";
    all.push_back(line);
  }
  return all;
}

std::string fault(std::string_view text, AttributesOf of = AttributesOf::edges) {
  return error_of([&] { static_cast<void>(parse_attributes(text, of, "--attributes")); });
}

TEST(SchemaText, ReadsEveryType) {
  EXPECT_THAT(parse("amount:decimal(2)=payload.amt, channel : symbol ,n:int,x:float,b:bool,at:time"),
              ElementsAre("amount decimal(2) <- payload.amt", "channel symbol", "n int", "x float", "b bool", "at time"));
  EXPECT_THAT(parse("a:decimal( 4 , base64 )=x,b:decimal(0)"), ElementsAre("a decimal(4) <- x base64", "b decimal(0)"));
}

TEST(SchemaText, RefusesWithPlaceMeaningAndRemedy) {
  EXPECT_THAT(fault("amount"), StartsWith("--attributes: entry 1, `amount`, has no type; write NAME:TYPE"));
  EXPECT_THAT(fault("a:int,b"), HasSubstr("entry 2, `b`"));
  EXPECT_THAT(fault("a:"), HasSubstr("`a` has no type"));
  EXPECT_THAT(fault("a:integer"), HasSubstr("`integer` is not a type; write int"));
  EXPECT_THAT(fault("a:String"), HasSubstr("write symbol"));
  EXPECT_THAT(fault("a:decimal"), HasSubstr("write decimal(2)"));
  EXPECT_THAT(fault("a:decimal(19)"), HasSubstr("from 0 to 18"));
  EXPECT_THAT(fault("a:decimal(x)"), HasSubstr("says `x` digits"));
  EXPECT_THAT(fault("a:decimal(2,hex)"), HasSubstr("`hex` is no option of a decimal"));
  EXPECT_THAT(fault("a:blob"), HasSubstr("write int, decimal(2), float, bool, symbol or time"));
  EXPECT_THAT(fault("a:int,a:float"), HasSubstr("declared twice"));
  EXPECT_THAT(fault("a:int="), HasSubstr("no column behind ="));
  EXPECT_THAT(fault(":int"), HasSubstr("has no name"));
  EXPECT_THAT(fault(""), HasSubstr("declares nothing"));
  EXPECT_THAT(fault("time:time"), HasSubstr("the time of its event"));
  EXPECT_THAT(fault("label:symbol"), HasSubstr("the name of a role"));
  EXPECT_THAT(fault("edge:int", AttributesOf::vertices), HasSubstr("the name of a role"));
}

TEST(SchemaText, EdgesOfTheModelSimpleHaveNoAttributes) {
  CodecOptions options;
  options.attributes = parse_attributes("amount:decimal(2)", AttributesOf::edges, "a");
  EXPECT_THAT(error_of([&] { static_cast<void>(schema_of(options)); }), HasSubstr("choose edges: keyed"));
  options.edges = EdgeModel::events;
  EXPECT_EQ(attributes_text(schema_of(options).edges), "amount decimal(2)");
  EXPECT_EQ(model_name(schema_of(options).model), "events");
}

}  // namespace
}  // namespace deltamatch::ingest
