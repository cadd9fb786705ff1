// snap, tsv, csv and jlg.
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

CodecOptions with_columns(const std::string& columns) {
  CodecOptions options;
  options.columns = columns;
  return options;
}

TEST(Snap, EdgesWithCommentsAndBlanks) {
  EXPECT_THAT(decode(Format::snap, {"# Nodes: 3", "% also", "", "  ", "1 2", " 3\t 4 ", "5  6"}),
              ElementsAre("+ 1 -> 2", "+ 3 -> 4", "+ 5 -> 6"));
}

TEST(Snap, TheThirdColumnIsTheTimeAndOfFourTheThirdIsTheLabel) {
  EXPECT_THAT(decode(Format::snap, {"1 2 1082040961"}), ElementsAre("+ 1 -> 2 @1082040961000000"));
  EXPECT_THAT(decode(Format::snap, {"51 52 0.0"}), ElementsAre("+ 51 -> 52 @0"));
  EXPECT_THAT(decode(Format::snap, {"1 2 a2q 5"}), ElementsAre("+ 1 -> 2 [a2q] @5000000"));
}

TEST(Snap, ColumnsByPosition) {
  EXPECT_THAT(decode(Format::snap, {"60 24 42 2304"}, with_columns("source,label,target,time")),
              ElementsAre("+ 60 -> 42 [24] @2304000000"));
  EXPECT_THAT(decode(Format::snap, {"1 2 x"}, with_columns("source,target,label")), ElementsAre("+ 1 -> 2 [x]"));
  EXPECT_THAT(decode(Format::snap, {"1 2 0.7"}, with_columns("source, target, -")), ElementsAre("+ 1 -> 2"));
  EXPECT_THAT(decode(Format::snap, {"7 3", "8 -"}, with_columns("vertex,label")), ElementsAre("+ 7 (3)", "+ 8 (-)"));
}

TEST(Snap, ALeadingSignStatesTheOperation) {
  EXPECT_THAT(decode(Format::snap, {"+ 1 2", "- 1 2", "1 3"}), ElementsAre("+ 1 -> 2", "- 1 -> 2", "+ 1 -> 3"));
}

TEST(Snap, RefusesEachByItsReason) {
  const std::string remedy = " (--ids string, in a configuration ids: string, keeps it as text)";
  EXPECT_THAT(
      decode(Format::snap, {"1 2", "1", "1 2 3", "1 x", "NaN 2", "9223372036854775808 1", "1.0 2"}),
      ElementsAre("+ 1 -> 2", "! wrong_arity: 1 field instead of 2", "! wrong_arity: 3 fields instead of 2",
                  "! bad_id: target `x` is not an integer" + remedy, "! bad_id: source `NaN` is not an integer" + remedy,
                  "! bad_id: source `9223372036854775808` exceeds 64 bits" + remedy,
                  "! bad_id: source `1.0` is not an integer" + remedy));
  EXPECT_THAT(decode(Format::snap, {"1 2 NaN"}), ElementsAre("! bad_time: time `NaN` is not a time, or beyond the range"));
  EXPECT_THAT(decode(Format::snap, {"1 2 99999999999999"}), ElementsAre(HasSubstr("bad_time")));
  EXPECT_THAT(decode(Format::snap, {"1 2 3 4 5 6"}), ElementsAre(HasSubstr("wrong_arity: 6 fields")));
}

TEST(Snap, ARefusedFirstRecordDoesNotFixTheColumns) {
  EXPECT_THAT(decode(Format::snap, {"1 2 garbage", "1 2", "3 4"}),
              ElementsAre(HasSubstr("! bad_time"), "+ 1 -> 2", "+ 3 -> 4"));
}

TEST(Snap, StringIdsOnRequest) {
  CodecOptions options;
  options.ids = IdKind::automatic;
  EXPECT_THAT(decode(Format::snap, {"acct-1 7"}, options), ElementsAre("+ 'acct-1' -> 7"));
}

TEST(Tsv, SignedAndUnsignedRecords) {
  EXPECT_THAT(
      decode(Format::tsv, {"+\t126483\t2\t5\t1312242084", "-\t1\t2\t6\t1312242084", "1\t0\t0\t1312242084"}),
      ElementsAre("+ 126483 -> 2 [5] @1312242084000000", "- 1 -> 2 [6] @1312242084000000", "+ 1 -> 0 [0] @1312242084000000"));
}

TEST(Tsv, BlanksBelongToFieldsAndEmptyFieldsCount) {
  EXPECT_THAT(decode(Format::tsv, {"a b\tc\tKNOWS WELL\t1"}), ElementsAre("+ 'a b' -> 'c' [KNOWS WELL] @1000000"));
  EXPECT_THAT(decode(Format::tsv, {"1\t0\t", "0\t1\t642da2f28c9b"}, with_columns("vertex,label,-")),
              ElementsAre("+ 1 (0)", "+ 0 (1)"));
  EXPECT_THAT(decode(Format::tsv, {"1\t\tx\t5"}), ElementsAre("! bad_id: target `` is empty"));
}

TEST(Tsv, AnUnknownSignIsRefusedAndNotTakenForADeletion) {
  EXPECT_THAT(decode(Format::tsv, {"+\t1\t2\t5\t1", "*\t1\t2\t5\t1", "garbage", "--\t1\t2\t5\t1"}),
              ElementsAre("+ 1 -> 2 [5] @1000000", "! bad_operation: op `*` is neither + nor -", HasSubstr("! wrong_arity"),
                          HasSubstr("! wrong_arity")));
}

TEST(Csv, HeaderByTheUsualNamesInAnyOrderOthersIgnored) {
  EXPECT_THAT(decode(Format::csv, {"from,to,feature,time", "6,2,4,1289241911.72836"}),
              ElementsAre("+ 6 -> 2 @1289241911728360"));
  EXPECT_THAT(decode(Format::csv, {"Timestamp,DST,SRC,type", "2023-11-14T22:13:20Z,b,a,PAYS"}),
              ElementsAre("+ 'a' -> 'b' [PAYS] @1700000000000000"));
  EXPECT_THAT(decode(Format::csv, {"op,source,target,source_label,target_label", "+,1,2,A,B", "-,1,2,,", "delete,1,2,,"}),
              ElementsAre("+ 1 -> 2 (A -> B)", "- 1 -> 2", "- 1 -> 2"));
}

TEST(Csv, HeaderByNamesOfTheUsersOwn) {
  EXPECT_THAT(decode(Format::csv, {"id,payer,payee,time", "9,a,b,3"}, with_columns("source=payer,target=payee")),
              ElementsAre("+ 'a' -> 'b' @3000000"));
  EXPECT_THAT(decode(Format::csv, {"payer,payee,time", "a,b,soon"}, with_columns("source=payer,target=payee,time=")),
              ElementsAre("+ 'a' -> 'b'"));
  EXPECT_THAT(decode(Format::csv, {"id,ml_target", "0,1"}, with_columns("vertex=id,label=ml_target")), ElementsAre("+ 0 (1)"));
  EXPECT_THAT(decode(Format::csv, {"id,label", "0,1"}), ElementsAre("+ 0 (1)"));
}

TEST(Csv, WithoutAHeaderByPosition) {
  EXPECT_THAT(decode(Format::csv, {"a,b,5,x"}, with_columns("source,target,time,label")),
              ElementsAre("+ 'a' -> 'b' [x] @5000000"));
  CodecOptions options = with_columns("source,target");
  options.header = true;
  EXPECT_THAT(decode(Format::csv, {"x,y", "1,2"}, options), ElementsAre("+ 1 -> 2"));
  options.columns.clear();
  options.header = false;
  EXPECT_THAT(error_of([&] { (void)make_codec(Format::csv, options); }), HasSubstr("without a header needs its columns"));
}

TEST(Csv, Rfc4180Quotes) {
  EXPECT_THAT(decode(Format::csv, {"source,target,label", R"("a,b","say ""hi""",x)", R"("","b",x)", R"("line
break",b,"")"}),
              ElementsAre("+ 'a,b' -> 'say \"hi\"' [x]", "! bad_id: source `` is empty",
                          "! bad_id: source `line\\x0abreak` holds a control character"));
  for (const char* record : {R"(a"b,c,x)", R"("a"b,c,x)", R"("a,c,x)", R"(a,b,")"}) {
    EXPECT_THAT(decode(Format::csv, {"source,target,label", record}),
                ElementsAre("! malformed: a quote or a line end is in a wrong place, or a quote is missing"))
        << record;
  }
}

TEST(Csv, Separators) {
  EXPECT_THAT(decode(Format::csv, {"source;target", "1;2"}), ElementsAre("+ 1 -> 2"));
  EXPECT_THAT(decode(Format::csv, {"source\ttarget", "1\t2"}), ElementsAre("+ 1 -> 2"));
  CodecOptions options;
  options.separator = '|';
  EXPECT_THAT(decode(Format::csv, {"source|target|label", "1|2|a,b"}, options), ElementsAre("+ 1 -> 2 [a,b]"));
  options.separator = ':';
  EXPECT_THAT(error_of([&] { (void)make_codec(Format::csv, options); }), HasSubstr("cannot separate CSV fields"));
}

TEST(Csv, RefusesEachByItsReason) {
  EXPECT_THAT(decode(Format::csv, {"source,target,time,op", "1,2,3", "1,2,3,+,5", "1,,3,+", "1,2,x,+", "1,2,3,?", "1,2,,"}),
              ElementsAre(HasSubstr("! wrong_arity: 3"), HasSubstr("! wrong_arity: 5"), "! bad_id: target `` is empty",
                          HasSubstr("! bad_time"), HasSubstr("! bad_operation: op `?` is unknown: +, insert"),
                          HasSubstr("--op-values 'VALUE=-'")));
}

TEST(Csv, AHeaderThatLacksColumnsEndsTheStreamWithARemedy) {
  const auto header = [](const char* text, const char* columns = "") {
    const auto codec = make_codec(Format::csv, with_columns(columns));
    const Decoded decoded = codec->decode(text);
    EXPECT_NE(decoded.remedy, "");
    return std::string(decoded.message);
  };
  EXPECT_EQ(header("id_1,id_2"),
            "the CSV header `id_1,id_2` has no columns for source and target, nor for a vertex and its label");
  EXPECT_EQ(header("id,name"), "the CSV header `id,name` has no columns for source and target, nor for a vertex and its label");
  EXPECT_EQ(header("source,from,target"), "the CSV header `source,from,target` has two columns for source");
  EXPECT_EQ(header("a,b", "source=a,target=c"), "the CSV header `a,b` has no column `c` for target");
}

TEST(Jlg, HeaderThenEdges) {
  EXPECT_THAT(decode(Format::jlg, {"4039,88234,u,graph", "1,2", "1,3", "", "x,1", "1,2,3", "1,2,3,4,5,6,7"}),
              ElementsAre("+ 1 -> 2", "+ 1 -> 3", HasSubstr("! bad_id: source `x` is not an integer"),
                          HasSubstr("! wrong_arity"), HasSubstr("! wrong_arity")));
}

TEST(Jlg, AHeaderHoldsTwoSizesAndADirection) {
  const auto header = [](const char* text) { return decode(Format::jlg, {text, "1,2"}); };
  EXPECT_THAT(header("3,-3,u,g"), ElementsAre("! malformed: the header's `-3` is negative", "+ 1 -> 2"));
  EXPECT_THAT(header("x,3,u,g"), ElementsAre("! malformed: the header's `x` is not an integer", "+ 1 -> 2"));
  EXPECT_THAT(header("3,18446744073709551616,u"), ElementsAre(HasSubstr("exceeds 64 bits"), "+ 1 -> 2"));
  EXPECT_THAT(header("3,3,g,u"), ElementsAre("! malformed: the `g` in the header is neither u nor d", "+ 1 -> 2"));
  CodecOptions whole;
  whole.whole = true;
  EXPECT_THAT(decode(Format::jlg, {"9223372036854775807,1,u", "0,1"}, whole),
              ElementsAre(HasSubstr("9223372036854775807 vertices, 1 to 9223372036854775807")));
}

TEST(Columns, ErrorsNameTheFault) {
  const auto fault = [](const char* columns, Format format = Format::snap) {
    return error_of([&] { (void)make_codec(format, with_columns(columns)); });
  };
  EXPECT_THAT(fault("source,tagret"), HasSubstr("`tagret` is not one of source, target, label"));
  EXPECT_THAT(fault("source,source,target"), HasSubstr("source is given twice"));
  EXPECT_THAT(fault("source,label"), HasSubstr("source and target are missing, and so is vertex"));
  EXPECT_THAT(fault("source,target,vertex"), HasSubstr("vertex cannot be given with source or target"));
  EXPECT_THAT(fault("source=a,target", Format::csv), HasSubstr("positions and names cannot be mixed"));
  EXPECT_THAT(fault("source=a,target=b"), HasSubstr("columns of snap files have no names"));
  EXPECT_THAT(fault("source,target", Format::jsonl), HasSubstr("have names, not positions"));
  EXPECT_THAT(fault("source,target", Format::tve), HasSubstr("fixed columns"));
  EXPECT_THAT(fault("source,target", Format::jlg), HasSubstr("fixed columns"));
}

TEST(EdgeLabel, IsThatOfRecordsWithoutOne) {
  CodecOptions options;
  options.edge_label = "a2q";
  EXPECT_THAT(decode(Format::snap, {"1 2 5"}, options), ElementsAre("+ 1 -> 2 [a2q] @5000000"));
  EXPECT_THAT(decode(Format::tve, {"e 1 2", "e 1 2 x"}, options), ElementsAre("+ 1 -> 2 [a2q]", "+ 1 -> 2 [x]"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2})"}, options), ElementsAre("+ 1 -> 2 [a2q]"));
}

}  // namespace
}  // namespace deltamatch::ingest
