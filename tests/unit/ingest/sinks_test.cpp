#include "ingest/sink/sinks.hpp"

#include <array>

#include "ingest/sink/output_file.hpp"
#include "ingest/text/json_text.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::error_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_file;

struct Sample {
  std::vector<std::string> names = {"a", "b"};
  std::array<Id, 2> vertices = {Id("acct-1"), Id(std::int64_t{-9})};
  std::array<MatchedEdge, 1> edges = {MatchedEdge{Id("acct-1"), "TRANSFER", Id(std::int64_t{-9})}};
  std::array<std::uint32_t, 1> cause = {0};

  [[nodiscard]] Match match() const {
    Match match;
    match.id = {0x0123456789abcdefu, 0xfu};
    match.query = "ring";
    match.batch = 17;
    match.time = 1700000000000000;
    match.names = names;
    match.vertices = vertices;
    match.edges = edges;
    match.cause = cause;
    return match;
  }
};

constexpr std::string_view sample_line =
    R"({"v":1,"id":"0123456789abcdef000000000000000f","query":"ring","sign":"+","batch":17,"time":1700000000000000,"bindings":{"a":"acct-1","b":-9},"edges":[["acct-1","TRANSFER",-9]],"cause":[0]})"
    "\n";

TEST(JsonlSink, WritesTheAlertObject) {
  Folder folder;
  const std::string path = folder.file("out.jsonl");
  const auto sink = make_jsonl_sink(path);
  const Sample sample;
  Match match = sample.match();
  sink->begin(17);
  sink->write(match);
  match.added = false;
  match.time.reset();
  match.query = "say \"hi\"";
  match.names = {};
  match.vertices = {};
  match.edges = {};
  match.cause = {};
  sink->write(match);
  sink->commit();
  EXPECT_EQ(
      read_file(path),
      std::string(sample_line) +
          R"({"v":1,"id":"0123456789abcdef000000000000000f","query":"say \"hi\"","sign":"-","batch":17,"time":null,"bindings":{},"edges":[],"cause":[]})"
          "\n");
}

TEST(CsvSink, WritesAHeaderAndQuotedJsonCells) {
  Folder folder;
  const std::string path = folder.file("out.csv");
  const auto sink = make_csv_sink(path);
  const Sample sample;
  Match match = sample.match();
  match.query = "a,b";
  sink->begin(17);
  sink->write(match);
  match.time.reset();
  match.added = false;
  match.query = "ring";
  sink->write(match);
  sink->commit();
  EXPECT_EQ(read_file(path),
            "v,id,query,sign,batch,time,bindings,edges,cause\r\n"
            "1,0123456789abcdef000000000000000f,\"a,b\",+,17,1700000000000000,\"{\"\"a\"\":\"\"acct-1\"\",\"\"b\"\":-9}\","
            "\"[[\"\"acct-1\"\",\"\"TRANSFER\"\",-9]]\",[0]\r\n"
            "1,0123456789abcdef000000000000000f,ring,-,17,,\"{\"\"a\"\":\"\"acct-1\"\",\"\"b\"\":-9}\","
            "\"[[\"\"acct-1\"\",\"\"TRANSFER\"\",-9]]\",[0]\r\n");
}

TEST(Sinks, AnAbortedBatchLeavesNothingHoweverLarge) {
  Folder folder;
  const std::string path = folder.file("out.jsonl");
  const auto sink = make_jsonl_sink(path);
  const Sample sample;
  for (const std::size_t matches : {1u, 100000u}) {  // the second is spilled
    sink->begin(1);
    for (std::size_t i = 0; i < matches; ++i) sink->write(sample.match());
    sink->abort();
  }
  sink->begin(2);
  sink->write(sample.match());
  sink->commit();
  EXPECT_EQ(read_file(path), sample_line);
  sink->begin(3);
  for (std::size_t i = 0; i < 100000; ++i) sink->write(sample.match());
  sink->commit();
  EXPECT_EQ(read_file(path).size(), 100001 * sample_line.size());
}

TEST(Sinks, WhatIsNotCommittedIsGoneWithTheSink) {
  Folder folder;
  const std::string path = folder.file("out.jsonl");
  {
    const auto sink = make_jsonl_sink(path);
    const Sample sample;
    sink->begin(1);
    for (std::size_t i = 0; i < 100000; ++i) sink->write(sample.match());
  }
  EXPECT_EQ(read_file(path), "");
}

TEST(Sinks, AFullDiskIsAnErrorThatNamesTheFile) {
  const auto sink = make_jsonl_sink("/dev/full");
  sink->begin(1);
  sink->write(Sample().match());
  EXPECT_EQ(error_of([&] { sink->commit(); }), "/dev/full: cannot be written: No space left on device; free some space");
  sink->abort();
  EXPECT_THAT(error_of([] { (void)make_csv_sink("/nonexistent/x.csv"); }), HasSubstr("/nonexistent/x.csv: cannot be created"));
}

TEST(Sinks, APipeGetsABatchWholeOrNotAtAll) {
  Folder folder;
  const std::string path = folder.file("fifo");
  ASSERT_EQ(::system(fmt::format("mkfifo {0} && cat {0} > {0}.out &", path).c_str()), 0);
  for (int i = 0; i < 1000 && !std::filesystem::exists(path); ++i) ::usleep(10000);
  const Sample sample;
  {
    OutputFile file(path);
    for (int i = 0; i < 3; ++i) {
      file.text() += std::string(std::size_t{5} << 20, 'x');
      file.spill_if_large();
    }
    file.abort();
    for (int i = 0; i < 3; ++i) {
      file.text() += std::string(std::size_t{5} << 20, 'y');
      file.spill_if_large();
    }
    file.text() += "end\n";
    file.commit();
    file.text() += "lost";
  }
  const std::size_t size = 3 * (std::size_t{5} << 20) + 4;
  for (int i = 0; i < 1000 && std::filesystem::file_size(path + ".out") < size; ++i) ::usleep(10000);
  const std::string out = read_file(path + ".out");
  EXPECT_EQ(out.size(), size);
  EXPECT_EQ(out.find_first_not_of('y'), size - 4);
}

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EscapesAndKeepsUtf8) {
  EXPECT_EQ(json("plain"), "\"plain\"");
  EXPECT_EQ(json(""), "\"\"");
  EXPECT_EQ(json(std::string_view("\"\\\n\r\t\0\x1f\x7f", 8)), R"("\"\\\n\r\t\u0000\u001f\u007f")");
  EXPECT_EQ(json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonText, BytesThatAreNotUtf8AreKeptApart) {
  EXPECT_EQ(json("a\xff"), R"("a\udcff")");
  EXPECT_EQ(json("\xc3"), R"("\udcc3")");
  EXPECT_EQ(json("\xc3("), R"("\udcc3(")");
  EXPECT_EQ(json("\xc0\xaf"), R"("\udcc0\udcaf")");                      // overlong
  EXPECT_EQ(json("\xed\xb3\xbf"), R"("\udced\udcb3\udcbf")");            // an encoded surrogate
  EXPECT_EQ(json("\xf4\x90\x80\x80"), R"("\udcf4\udc90\udc80\udc80")");  // beyond U+10FFFF
  EXPECT_EQ(json("\xe2\x82"), R"("\udce2\udc82")");
  EXPECT_EQ(json("\xf0\x9f\x98"), R"("\udcf0\udc9f\udc98")");
}

TEST(JsonText, IdsKeepTheirType) {
  std::string out;
  append_json_id(out, Id(std::int64_t{7}));
  out += ' ';
  append_json_id(out, Id("7"));
  out += ' ';
  append_json_id(out, Id(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(out, "7 \"7\" -9223372036854775808");
}

}  // namespace
}  // namespace deltamatch::ingest
