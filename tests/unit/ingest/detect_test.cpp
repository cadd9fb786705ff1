#include "ingest/codec/formats.hpp"
#include "ingest/codec/text_head.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::read_all;
using ::testing::StartsWith;

std::string detected(std::string_view head, std::size_t columns = 0, bool texts = false) {
  const auto format = detect_format(head, columns, texts);
  return format ? std::string(format_name(*format)) : "none";
}

TEST(Detect, EveryFormatByItsContent) {
  EXPECT_EQ(detected("1 2\n3 4\n"), "snap");
  EXPECT_EQ(detected("# comment\n% comment\n582 364 0\n"), "snap");
  EXPECT_EQ(detected("1\t2\n"), "snap");
  EXPECT_EQ(detected("1\t2\t1082040961\n"), "snap");
  EXPECT_EQ(detected("- 1 2\n"), "snap");
  EXPECT_EQ(detected("# only comments\n"), "snap");
  EXPECT_EQ(detected("+\t126483\t2\t5\t1312242084\n-\t1\t2\t6\t1\n"), "tsv");
  EXPECT_EQ(detected("1\t0\t0\t1312242084\n"), "tsv");
  EXPECT_EQ(detected("a b\tc d\tL\t5\n"), "tsv");
  EXPECT_EQ(detected("- 1\t 2 L\t\t0.5\n"), "snap");  // blanks separate its numbers too
  EXPECT_EQ(detected("0\t1\tx y\n1\t0\t\n", 3), "tsv");
  EXPECT_EQ(detected("t 3112 12519\nv 0 0 1\n"), "tve");
  EXPECT_EQ(detected("v 0 0\n"), "tve");
  EXPECT_EQ(detected("e -2 -15786\ne 0 1745\n"), "tve");
  EXPECT_EQ(detected("-e 0 1\n"), "tve");
  EXPECT_EQ(detected("4039,88234,u,graph\n1,2\n"), "jlg");
  EXPECT_EQ(detected("3,-3,u,g\n1,2\n"), "jlg");
  EXPECT_EQ(detected("from,to,feature,time\n6,2,4,1289241911.7\n"), "csv");
  EXPECT_EQ(detected("source;target\n"), "csv");
  EXPECT_EQ(detected("\"source\"\t\"target\"\n"), "csv");
  EXPECT_EQ(detected("id_1,id_2\n0,23977\n"), "csv");
  EXPECT_EQ(detected("172.016.112.020,192.168.001.010,06/01/1998-07:55,-\n"), "csv");
  EXPECT_EQ(detected("{\"source\":1,\"target\":2}\n"), "jsonl");
  EXPECT_EQ(detected("\n\n  {\"source\":1"), "jsonl");
  EXPECT_EQ(detected("[{\"source\":1,\"target\":2}]\n"), "jsonl");
  EXPECT_EQ(detected("[\n  {\n    \"source\": 1,\n"), "jsonl");
  EXPECT_EQ(detected("{\n  \"source\": 1,\n"), "jsonl");
  EXPECT_EQ(detected("[\"a\",\"b\"]\n"), "jsonl");
  EXPECT_EQ(detected("[a],b\n"), "csv");
  EXPECT_EQ(detected("t # 0\nv 0 0\n"), "tve");
  EXPECT_EQ(detected("t # -1\n"), "tve");
  EXPECT_EQ(detected(" Source ; Target ;Type\n1;2;Directed\n"), "csv");
  EXPECT_EQ(detected("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"), "mtx");
  EXPECT_EQ(detected("%%matrixmarket MATRIX array real general\n"), "mtx");
  EXPECT_EQ(detected("%MatrixMarket\n1 2\n"), "snap");
}

/// The names of the formats that claim a text, in the order of the table.
std::vector<std::string_view> claims(std::string_view head) {
  const TextHead text(head);
  std::vector<std::string_view> names;
  for (const FormatTraits& traits : formats()) {
    if (traits.begins != nullptr && traits.begins(text)) names.push_back(traits.name);
  }
  return names;
}

TEST(Detect, OneFormatClaimsAUsualText) {
  EXPECT_THAT(claims("t 3112 12519\nv 0 0 1\n"), ElementsAre("tve"));
  EXPECT_THAT(claims("3,3,u\n1,2\n"), ElementsAre("jlg"));
  EXPECT_THAT(claims("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"), ElementsAre("mtx"));
  EXPECT_THAT(claims("[\n  {\n    \"source\": 1,\n"), ElementsAre("jsonl"));
  for (const std::string_view head : {"# only comments\n", "1 2\n", "source,target\n1,2\n", "+\t1\t2\t5\t1\n"}) {
    EXPECT_THAT(claims(head), IsEmpty()) << head;
  }
}

TEST(Detect, MtxThenJsonThenTveThenJlgWinsATextThatSeveralClaim) {
  constexpr std::string_view bracket = "[\ne 0 1\ne 1 2\n";
  EXPECT_THAT(claims(bracket), ElementsAre("tve", "jsonl"));
  EXPECT_EQ(detected(bracket), "jsonl");

  constexpr std::string_view sizes = "1,2,u\n{\"source\":1,\"target\":2}\n{\"source\":2,\"target\":3}\n";
  EXPECT_THAT(claims(sizes), ElementsAre("jlg", "jsonl"));
  EXPECT_EQ(detected(sizes), "jsonl");

  constexpr std::string_view banner = "% by hand\n%%MatrixMarket matrix coordinate pattern general\ne 1 2\ne 2 3\n";
  EXPECT_THAT(claims(banner), ElementsAre("tve", "mtx"));
  EXPECT_EQ(detected(banner), "mtx");
  EXPECT_THAT(error_of([&] { read_all(banner); }),
              StartsWith("test:3: the header's `e` is not an integer; write ROWS COLUMNS ENTRIES"));

  constexpr std::string_view lines = "1,2,u\ne 0 1\ne 1 2\n";
  EXPECT_THAT(claims(lines), ElementsAre("tve", "jlg"));
  EXPECT_EQ(detected(lines), "tve");
}

TEST(Detect, TabsAndBlanksThatMayBothSeparateAreToldApartOrRefused) {
  EXPECT_EQ(detected("- a\taaaaaaa L\t\t-0.000001 \n", 0, true), "none");  // a sign before an id: no field contains that
  EXPECT_EQ(detected("a\tb L\t\t5\n", 0, true), "none");
  EXPECT_EQ(detected("a\tb L\t\t5\n"), "tsv");  // ids of edge lists are integers unless options say otherwise
  EXPECT_EQ(detected("1\t2\t5\t\n"), "none");
  EXPECT_EQ(detected("1\t2\t5\t\n1\t2\tx y z\t\n"), "tsv");
  EXPECT_EQ(detected("1\t2\t5\t\n1 2\t5\n1\t2\t5\t\n"), "snap");
  EXPECT_EQ(detected("1\t2\t\t5\n"), "tsv");
  EXPECT_EQ(detected("+\t1\t2\t7\t\n"), "tsv");  // as convert writes it
  EXPECT_EQ(detected("+\t1\t2\ta 7\t\n"), "tsv");
  EXPECT_EQ(detected("+\t 1\t2 L\t \t5\n"), "none");  // other programs may write it so
  EXPECT_EQ(detected("-  \t1\t2\tL 5 \t\n"), "none");
  EXPECT_EQ(detected("New York\tBoston\tflight\t5\n", 0, true), "tsv");
  EXPECT_EQ(detected("1\t2 3\t\n", 3), "none");
  EXPECT_EQ(detected("1\tx y\t\n", 3), "tsv");
  EXPECT_EQ(detected("+\t1\t2\tx y\n", 3), "tsv");
  EXPECT_EQ(error_of([] { read_all("# c\n1\t2\t5\t\n"); }),
            "test:2: the fields of `1\\x092\\x095\\x09` may lie between single tabs (tsv), or between tabs and blanks (snap); "
            "give --format tsv or --format snap");
}

TEST(Detect, TheFirstRecordDecidesWhereTheOthersFitNothing) {
  EXPECT_EQ(detected("1 2\n3\n"), "snap");
  EXPECT_EQ(detected("+\t1\t2\tx\t5\nbad\n"), "tsv");
  EXPECT_EQ(detected("{\"source\":1,\"target\":2}\nbad\n"), "jsonl");
  EXPECT_EQ(detected("e 0 1\nbad\n"), "tve");
  EXPECT_EQ(detected("hello, world\nbad\n"), "none");
  EXPECT_EQ(detected("bad\n1 2\n"), "none");
}

TEST(Detect, ASeparatorThatIsSetMeansCsv) {
  ReadOptions options;
  options.codec.columns = "source,target";
  options.codec.separator = ',';
  EXPECT_THAT(read_all("\t \"a\",\"b\"\n1\t,2\n", options), ElementsAre("+ 'a' -> 'b'", "+ 1 -> 2"));
  EXPECT_THAT(read_all("1 2\n", options), ElementsAre("+ 1 -> 2"));  // it separates nothing here
}

TEST(Detect, AnEmptyFileFitsEveryOption) {
  ReadOptions options;
  options.codec.columns = "source=ends.0.id,target=ends.1.id";
  options.codec.envelope = Envelope::debezium;
  EXPECT_THAT(read_all("", options), IsEmpty());
}

TEST(Detect, NothingWhereNothingFits) {
  EXPECT_EQ(detected(""), "none");
  EXPECT_EQ(detected("hello world this is prose\n"), "none");
  EXPECT_EQ(detected("hello\n"), "none");
  EXPECT_EQ(detected(std::string_view("1 2\n\0\0", 6)), "none");
  EXPECT_EQ(detected("\x7f"
                     "ELF\x02\x01\x01\x03"),
            "none");
}

TEST(Detect, StreamsSayWhatTheySawAndWhatToDo) {
  EXPECT_EQ(error_of([] { read_all("hello world\n"); }),
            "test:1: the format is not recognised; the data starts with `hello world\\x0a`; --format says which of snap, csv, "
            "tsv, tve, jlg, mtx or jsonl it is; if the lines are edges between names, give --format snap --ids "
            "string");
  EXPECT_THAT(error_of([] { read_all("hello\n"); }), EndsWith("tve, jlg, mtx or jsonl it is"));
  ReadOptions options;
  options.format = Format::snap;
  options.codec.ids = IdKind::string;
  EXPECT_THAT(read_all("hello world\n", options), ElementsAre("+ 'hello' -> 'world'"));
}

TEST(Detect, AFirstColumnOfOperationsAndAHeaderOfWords) {
  const auto refusal = [](std::string_view bytes) { return error_of([&] { read_all(bytes); }); };
  for (const char* text : {"add 1 2\nadd 2 3\ndel 1 2\n", "i 1 2\ni 2 3\nd 1 2\n"})
    EXPECT_THAT(refusal(text), HasSubstr("--format snap --columns op,source,target reads it so")) << text;
  EXPECT_THAT(refusal("a 1 2\na 2 3\nd 1 2\n"), HasSubstr("--columns op,source,target --op-values a=+ reads it so"));
  EXPECT_THAT(refusal("add x y\ndel x y\n"), HasSubstr("--format snap --ids string --columns op,source,target"));
  EXPECT_THAT(refusal("c d e\nd c e\n"), Not(HasSubstr("op,source")));
  EXPECT_THAT(refusal("I,2024-01-01 00:00:00.000,1,2\nD,2024-01-01 00:00:00.000,1,2\n"),
              HasSubstr("if there is no header --columns op,time,source,target"));
  EXPECT_THAT(refusal("protein1 protein2 combined_score\n9606.A 9606.B 490\n9606.B 9606.C 198\n"),
              HasSubstr("sed 1d FILE, and give --format snap --ids string --columns source,target,-"));
  EXPECT_THAT(refusal(R"({"s":"a","t":"b"})"), HasSubstr("--columns source=s,target=t"));
  EXPECT_THAT(refusal(R"({"s":1,"t":2})"), HasSubstr("--columns source=s,target=t"));
}

TEST(Detect, WhatIsNoJsonIsToldWithTheFormatThatItHas) {
  ReadOptions options;
  options.format = Format::jsonl;
  const auto refusal = [&](std::string_view bytes) { return error_of([&] { read_all(bytes, options); }); };
  const std::string said = "malformed: it is no JSON object such as {\"source\":1,\"target\":2}; ";
  EXPECT_THAT(refusal("1 2\n2 3\n"), StartsWith("test:1: " + said + "--format snap reads the data, else "));
  EXPECT_THAT(
      refusal("\nalice bob\n"),
      StartsWith("test:2: " + said + "if it is no JSON, --format says which of snap, csv, tsv, tve, jlg or mtx it is, "));
  const std::string json = "{\"source\":1,\"target\":2}\n";
  EXPECT_THAT(refusal(json + "1\n"), StartsWith("test:2: " + said + "correct the record"));
  EXPECT_THAT(refusal(json + "{\"source\":1\n"), Not(HasSubstr("no JSON object")));
}

TEST(Detect, AnEmptyStreamIsAnEmptyStream) {
  EXPECT_THAT(read_all(""), IsEmpty());
  EXPECT_THAT(read_all("\xef\xbb\xbf"), IsEmpty());
  EXPECT_FALSE(open_memory("", "test")->format());
  EXPECT_EQ(open_memory("1 2\n", "test")->format(), Format::snap);
}

TEST(Detect, DirectionGoesByTheFormat) {
  const auto directed = [](std::string_view bytes) { return open_memory(bytes, "test")->directed(); };
  EXPECT_TRUE(directed("1 2\n"));
  EXPECT_TRUE(directed(""));
  EXPECT_FALSE(directed("t 2 1\nv 0 0\ne 0 1\n"));
  EXPECT_FALSE(directed("2,1,u,name\n1,2\n"));
  EXPECT_FALSE(directed("2,1,u\r\n1,2\r\n"));
  EXPECT_TRUE(directed("2,1,d,name\n1,2\n"));
  ReadOptions jlg;
  jlg.format = Format::jlg;
  EXPECT_TRUE(open_memory("", "test", jlg)->directed());
  EXPECT_TRUE(open_memory("1", "test", jlg)->directed());
}

TEST(Detect, BinaryJunkIsRefusedRecordByRecordWhereTheFormatIsForced) {
  std::string junk;
  for (unsigned i = 0, x = 12345; i < 20000; ++i) junk += static_cast<char>((x = x * 1103515245 + 12345) >> 16);
  EXPECT_THAT(error_of([&] { read_all(junk); }), HasSubstr("is not recognised"));
  for (const Format format : {Format::snap, Format::tsv, Format::tve, Format::jlg, Format::jsonl}) {
    ReadOptions options;
    options.format = format;
    options.on_error = OnError::skip;
    const auto stream = open_memory(junk, "test", options);
    EXPECT_THAT(read_all(*stream), IsEmpty()) << format_name(format);
    EXPECT_GT(stream->refused().total(), 0u) << format_name(format);
  }
}

}  // namespace
}  // namespace deltamatch::ingest
