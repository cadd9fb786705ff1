// Tables that other programs write: blanks around cells, Gephi's edge tables, Matrix Market files, gSpan's graphs.
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::read_all;
using ::testing::StartsWith;

TEST(Blanks, SayNothingUnlessTheyAreQuoted) {
  EXPECT_THAT(decode(Format::csv, {" source ,\ttarget, label ", " A ,\tB\t, T ", "\" A\" , \"B \"\t,  \"a \"\"b\"\" \"  ",
                                   " , b,c", "\" \",b, "}),
              ElementsAre("+ 'A' -> 'B' [T]", "+ ' A' -> 'B ' [a \"b\" ]", "! bad_id: source `` is empty", "+ ' ' -> 'b'"));
  EXPECT_THAT(decode(Format::csv, {"source,target", "a, \"b\" c", "a, b\"c\"", "a, \"b"}),
              ElementsAre(HasSubstr("! malformed"), HasSubstr("! malformed"), HasSubstr("! malformed")));
  EXPECT_THAT(decode(Format::tsv, {"+\t A \tB\t T x \t 5 ", "A\tB\t\t"}),
              ElementsAre("+ 'A' -> 'B' [T x] @5000000", "+ 'A' -> 'B'"));
  EXPECT_THAT(decode(Format::jlg, {"3, 2, u, name", "1, 2", " 2 ,3 "}), ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
  CodecOptions tabs;
  tabs.separator = '\t';
  EXPECT_THAT(decode(Format::csv, {"source\ttarget\tlabel", "\"A\" \t B\t", "A\t\tT"}, tabs),
              ElementsAre("+ 'A' -> 'B'", "! bad_id: target `` is empty"));
}

TEST(Blanks, QuotedFieldsBehindThemSpanLines) {
  EXPECT_THAT(read_all("source, target, label\na, b , \"two\nlines\" \n\"c\" ,\t\"d\", e\n"),
              ElementsAre("+ 'a' -> 'b' [two\nlines]", "+ 'c' -> 'd' [e]"));
  EXPECT_THAT(read_all("source\ttarget\n \"a\nb\" \t\"c\"\n",
                       [] {
                         ReadOptions options;
                         options.on_error = OnError::skip;
                         return options;
                       }()),
              ::testing::IsEmpty());  // ids hold no control characters
}

bool directed(std::string_view text) { return open_memory(text, "test")->directed(); }

TEST(Gephi, TheFirstRecordSaysWhatTypeIs) {
  EXPECT_FALSE(directed("Source,Target,Type\n1,2,Undirected\n"));
  EXPECT_FALSE(directed("source;target;\"type\"\n\n1;2; undirected \n"));
  EXPECT_TRUE(directed("Source,Target,Type\n1,2,Directed\n"));
  EXPECT_TRUE(directed("Source,Target,Type\n1,2,T\n"));
  EXPECT_TRUE(directed("Source,Target,Type\n"));
  EXPECT_TRUE(directed("Source,Target,Kind\n1,2,Undirected\n"));
  EXPECT_TRUE(directed("vertex,label,type\n1,2,Undirected\n"));
  EXPECT_FALSE(directed("Source,Target,Type\nbroken\n1,2,Undirected\n"));
  EXPECT_FALSE(directed("Source,Target,Note,Type\n1,2,\"two\nlines\",Undirected\n"));
  EXPECT_FALSE(directed("Source,Target,Note,Type\n1,2," + std::string(100'000, 'x') + ",Undirected\n"));
}

TEST(Gephi, WhatWasNotSeenAtTheBeginningIsNotBelievedLater) {
  ReadOptions skip;
  skip.on_error = OnError::skip;
  std::string text = "Source,Target,Type\n";
  for (int i = 0; i < 20'000; ++i) text += "broken\n";
  EXPECT_THAT(error_of([&] { read_all(text + "1,2,Undirected\n", skip); }), HasSubstr("but the edges before it are directed"));
  EXPECT_THAT(read_all(text + "1,2,Directed\n", skip), ElementsAre("+ 1 -> 2"));
  skip.codec.directed = false;
  EXPECT_THAT(read_all(text + "1,2,Undirected\n", skip), ElementsAre("+ 1 -> 2"));
}

TEST(Gephi, ComesInPieces) {
  const std::string text = "Source,Target,Type\n1,2,Undirected\n2,3,Undirected\n";
  EXPECT_THAT(read_all(text), ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
  EXPECT_THAT(decode(Format::csv, {"Source,Target,Type,Label", "1,2,Directed,A", "1,2,,B", "1,2,x,B", "1,2,Directed,C"}),
              ElementsAre("+ 1 -> 2 [A]", HasSubstr("! malformed: Type `` is neither"),
                          HasSubstr("! malformed: Type `x` is neither"), "+ 1 -> 2 [C]"));
}

TEST(MatrixMarket, EntriesAreEdges) {
  EXPECT_THAT(decode(Format::mtx,
                     {"%%MatrixMarket matrix coordinate real general", "% c", "", " 3 3 2 ", "%", "1 2 -0.5e3", " 3\t3 0"}),
              ElementsAre("+ 1 -> 2", "+ 3 -> 3"));
  CodecOptions options;
  options.ids = IdKind::string;
  options.edge_label = "L";
  EXPECT_THAT(decode(Format::mtx, {"%%MatrixMarket matrix coordinate pattern general", "3 3 1", "1 2"}, options),
              ElementsAre("+ '1' -> '2' [L]"));
  EXPECT_FALSE(directed("%%MatrixMarket matrix coordinate pattern Symmetric\r\n3 3 0\r\n"));
  EXPECT_FALSE(directed("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 0\n"));
  EXPECT_TRUE(directed("%%MatrixMarket matrix coordinate real general\n3 3 0\n"));
}

TEST(MatrixMarket, ABrokenEntryCostsNoOther) {
  EXPECT_THAT(decode(Format::mtx, {"%%MatrixMarket matrix coordinate integer general", "3 3 9", "1 2 3", "1 2", "1 2 3 4",
                                   "1 x 3", "1 4 3", "-1 2 3", "1 2 3.5", "1 2 99999999999999999999", "3 1 0"}),
              ElementsAre("+ 1 -> 2", HasSubstr("! wrong_arity"), HasSubstr("! wrong_arity"), HasSubstr("! bad_id: column `x`"),
                          HasSubstr("! bad_id: column `4`"), HasSubstr("! bad_id: row `-1`"),
                          HasSubstr("! malformed: value `3.5`"), "+ 1 -> 2", "+ 3 -> 1"));
}

TEST(MatrixMarket, OptionsThatItHasNoUseFor) {
  for (const auto& [option, name] : std::vector<std::pair<CodecOptions, std::string>>{{[] {
                                                                                         CodecOptions o;
                                                                                         o.columns = "source,target";
                                                                                         return o;
                                                                                       }(),
                                                                                       "columns"},
                                                                                      {[] {
                                                                                         CodecOptions o;
                                                                                         o.vertices = true;
                                                                                         return o;
                                                                                       }(),
                                                                                       "vertices"},
                                                                                      {[] {
                                                                                         CodecOptions o;
                                                                                         o.envelope = Envelope::debezium;
                                                                                         return o;
                                                                                       }(),
                                                                                       "envelope"}}) {
    EXPECT_THAT(error_of([&, &option = option] { (void)make_codec(Format::mtx, option); }), StartsWith(name));
  }
  EXPECT_THAT(error_of([] { (void)make_message_codec(Format::mtx, {}); }), HasSubstr("mtx is a format of files"));
  EXPECT_EQ(format_by_name("matrix-market"), Format::mtx);
}

TEST(GSpan, OneGraphIsRead) {
  EXPECT_THAT(decode(Format::tve, {"t # 0", "v 0 a", "e 0 1 x", "t # -1", "# end", "e 1 2", "t # -1"}),
              ElementsAre("+ 0 (a)", "+ 0 -> 1 [x]", HasSubstr("! malformed: a record follows t # -1")));
  EXPECT_THAT(decode(Format::tve, {"t # 5 * 12", "e 0 1", "t 3 3", "t # 1"}),
              ElementsAre("+ 0 -> 1", "! malformed: there is a second header, but a file holds one graph",
                          HasSubstr("! malformed: a second graph begins here (t # 1)")));
  const auto codec = make_codec(Format::tve, {});
  (void)codec->decode("e 0 1");
  EXPECT_FALSE(codec->decode("t # 0").remedy.empty());
}

TEST(GSpan, AMessageIsOfNoGraphAmongSeveral) {
  const auto codec = make_message_codec(Format::tve, {});
  EXPECT_THAT(decode(*codec, {"t # 0", " t\t# 1 * 3", "e 0 1", "t # -1", "e 1 2", "t 3 3"}),
              ElementsAre(HasSubstr("! malformed: t # N"), HasSubstr("! malformed: t # N"), "+ 0 -> 1",
                          HasSubstr("! malformed"), "+ 1 -> 2"));
}

}  // namespace
}  // namespace deltamatch::ingest
