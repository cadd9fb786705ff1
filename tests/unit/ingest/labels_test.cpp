// Labels of vertices: lists in JSON and csv, and what changes them.
#include <gmock/gmock.h>

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;

TEST(VertexLabels, OfJsonAreATextOrAnArray) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"vertex":1,"labels":["B","A","B"]})", R"({"vertex":1,"label":["A"]})",
                                     R"({"vertex":1,"labels":"A;B"})", R"({"vertex":1,"labels":[]})",
                                     R"({"vertex":1,"label":"C","labels":["A"]})", R"({"vertex":1,"labels":null})",
                                     R"({"vertex":1,"labels":["\u0042","a\"b",7]})"}),
              ElementsAre("+ 1 (A&B)", "+ 1 (A)", "+ 1 (A;B)", "+ 1 ()", "+ 1 (A&C)", "+ 1", "+ 1 (7&B&a\"b)"));
}

TEST(VertexLabels, AreAddedAndRemoved) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"vertex":1,"add_labels":["B","A"]})", R"({"vertex":1,"remove_labels":"A"})",
                                     R"({"vertex":1,"labels":["A"],"remove_labels":["C"],"add_labels":["B"]})",
                                     R"({"op":"-","vertex":1,"add_labels":["B"]})"}),
              ElementsAre("+ 1 adds A&B", "+ 1 removes A", "+ 1 (A) adds B removes C", "- 1"));
  EXPECT_THAT(decode(Format::csv, {"vertex,labels,add_labels,remove_labels", "1,B;A,,", "2,,C,A;B", "3,,,"}),
              ElementsAre("+ 1 (A&B)", "+ 2 adds C removes A&B", "+ 3"));
}

TEST(VertexLabels, OfCsvAreAListIfTheColumnSaysSo) {
  for (const char* header : {"id,labels", "accountId:ID,:LABEL", ":ID(Account),:LABEL", "vertex,_labels"}) {
    CodecOptions options;
    if (std::string_view(header).ends_with("_labels")) options.columns = "vertex=vertex,label=_labels";
    EXPECT_THAT(decode(Format::csv, {header, "a,B;A", "b, A ; C ", "c,:A:B", "d,"}, options),
                ElementsAre("+ 'a' (A&B)", "+ 'b' (A&C)", "+ 'c' (A&B)", "+ 'd'"))
        << header;
  }
  EXPECT_THAT(decode(Format::csv, {"id,label", "a,B;A"}), ElementsAre("+ 'a' (B;A)"));
  EXPECT_THAT(decode(Format::csv, {"id,label,labels", "a,C,B;A", "b,,A", "c,C,", "d,,"}),
              ElementsAre("+ 'a' (A&B&C)", "+ 'b' (A)", "+ 'c' (C)", "+ 'd'"));
}

TEST(VertexLabels, AreAListInAColumnThatIsNamedSo) {
  CodecOptions options;
  options.columns = "vertex=id,labels=label";
  EXPECT_THAT(decode(Format::csv, {"id,label", "a,B;A"}, options), ElementsAre("+ 'a' (A&B)"));
  options.columns = "vertex=id,labels=type,label=label";
  EXPECT_THAT(decode(Format::csv, {"id,label,type", "a,C,B;A"}, options), ElementsAre("+ 'a' (A&B&C)"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"id":"a","label":"C","type":["B","A"]})"}, options), ElementsAre("+ 'a' (A&B&C)"));
}

/// The remedies for what looks like several labels in a record.
std::vector<std::string> doubted(Format format, const std::vector<std::string>& records) {
  Doubts doubts;
  CodecOptions options;
  options.doubts = &doubts;
  options.vertices = true;
  decode(format, records, options);
  std::vector<std::string> remedies;
  for (const Doubts::Doubt& doubt : doubts.all(0)) {
    if (doubt.code == "several_labels") remedies.push_back(doubt.remedy.substr(0, doubt.remedy.find(',')));
  }
  return remedies;
}

TEST(VertexLabels, AreDoubtfulIfOneLooksLikeSeveral) {
  for (const char* cell : {"A|B", "\"A,B\"", "\"[\"\"A\"\",\"\"B\"\"]\"", "[A;B]", "C;A|B"})
    EXPECT_THAT(doubted(Format::csv, {"id,labels", std::string("a,") + cell}), ElementsAre("write A;B")) << cell;
  for (const char* cell : {"A", "A;B", ":A:B", "a:A;b:B", "A B"})
    EXPECT_THAT(doubted(Format::csv, {"id,labels", std::string("a,") + cell}), ElementsAre()) << cell;
  EXPECT_THAT(doubted(Format::csv, {"id,label", "a,A|B"}), ElementsAre("write A;B in a csv column called labels"));
  EXPECT_THAT(doubted(Format::jsonl, {R"({"id":1,"labels":"A;B"})"}), ElementsAre("write an array of labels"));
  EXPECT_THAT(doubted(Format::jsonl, {R"({"id":1,"labels":["A","B, Ltd"]})"}), ElementsAre());
}

TEST(VertexLabels, OfAnEdgesEndsMayBeArrays) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"source_label":["B","A"],"target_label":"C","labels":["X"]})",
                                     R"({"source":1,"target":2,"label":["T"]})"}),
              ElementsAre("+ 1 -> 2 (A&B -> C)", "+ 1 -> 2 [T]"));
}

TEST(VertexLabels, OfAnEdgesEndsMayBeLists) {
  EXPECT_THAT(decode(Format::csv, {"source,target,source_labels,target_labels", "1,2,B;A,C", "3,4,,"}),
              ElementsAre("+ 1 -> 2 (A&B -> C)", "+ 3 -> 4"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"source_labels":["B","A"],"target_labels":["C"]})"}),
              ElementsAre("+ 1 -> 2 (A&B -> C)"));
}

TEST(Neo4j, TablesOfRelationshipsAreRecognised) {
  EXPECT_THAT(decode(Format::csv, {":START_ID(A),name,:END_ID(B),:TYPE", "a,x,b,PAYS"}), ElementsAre("+ 'a' -> 'b' [PAYS]"));
  EXPECT_EQ(detect_format(":START_ID,:END_ID,:TYPE,amount:float\na,b,PAYS,1\n"), Format::csv);
  EXPECT_EQ(detect_format("accountId:ID,name,:LABEL\na1,x,Account;Flagged\n"), Format::csv);
}

}  // namespace
}  // namespace deltamatch::ingest
