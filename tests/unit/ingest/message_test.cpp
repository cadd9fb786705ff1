#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

std::vector<std::string> messages(Format format, const std::vector<std::string>& records, const CodecOptions& options = {}) {
  return decode(*make_message_codec(format, options), records);
}

CodecOptions columns(std::string text) {
  CodecOptions options;
  options.columns = std::move(text);
  return options;
}

TEST(Message, EachStandsAlone) {
  EXPECT_THAT(messages(Format::csv, {"op,source,target", "+,1,2", "-,1,\"a,b\"\r\n"}, columns("op,source,target")),
              ElementsAre(HasSubstr("! bad_operation: op `op` is unknown"), "+ 1 -> 2", "- 1 -> 'a,b'"));
  EXPECT_THAT(messages(Format::tsv, {"-\t1\t2\tL\t5\n", "1\t2\tL\t"}, columns("source,target,label,time")),
              ElementsAre("- 1 -> 2 [L] @5000000", "+ 1 -> 2 [L]"));
  EXPECT_THAT(messages(Format::snap, {"1 2 3"}, columns("source,target")), ElementsAre("! wrong_arity: 3 fields instead of 2"));
  EXPECT_THAT(messages(Format::tve, {"e 1 2", "-v 3\n"}), ElementsAre("+ 1 -> 2", "- 3"));
  EXPECT_THAT(messages(Format::jsonl, {"{\n \"source\": 1,\r\n \"target\": 2\n}\n"}), ElementsAre("+ 1 -> 2"));
}

TEST(Message, EmptyOnesAndSeveralLinesAreMalformed) {
  for (const char* text : {"", "\n", "\r\n", " \t"}) {
    EXPECT_THAT(messages(Format::jsonl, {text}), ElementsAre("! malformed: the message is empty"));
    EXPECT_THAT(messages(Format::csv, {text}, columns("source,target")), ElementsAre("! malformed: the message is empty"));
  }
  const auto two = ElementsAre("! malformed: the message has more than one line");
  EXPECT_THAT(messages(Format::tve, {"e 1 2\ne 1 3"}), two);
  EXPECT_THAT(messages(Format::tsv, {"1\t2\n1\t3\n"}, columns("source,target")), two);
  EXPECT_THAT(messages(Format::snap, {"1 2\n\n"}, columns("source,target")), two);
  EXPECT_THAT(messages(Format::csv, {"1,2,x\ny"}, columns("source,target,label")),
              ElementsAre("! malformed: a quote or a line end is in a wrong place, or a quote is missing"));
  EXPECT_THAT(messages(Format::csv, {"1,2,\"x\ny\""}, columns("source,target,label")), ElementsAre("+ 1 -> 2 [x\ny]"));
}

TEST(Message, Vertices) {
  CodecOptions options;
  options.vertices = true;
  EXPECT_THAT(messages(Format::csv, {"1,A"}, options), ElementsAre("+ 1 (A)"));
  EXPECT_THAT(messages(Format::jsonl, {R"({"vertex":1,"label":"A"})"}, options), ElementsAre("+ 1 (A)"));
}

TEST(Message, WhatNeedsAHeaderIsWrongUsage) {
  const auto error = [](Format format, const CodecOptions& options) {
    return error_of([&] { (void)make_message_codec(format, options); });
  };
  EXPECT_THAT(error(Format::csv, {}), HasSubstr("csv messages need their columns by position"));
  EXPECT_THAT(error(Format::csv, columns("source=a,target=b")), HasSubstr("csv messages need their columns by position"));
  EXPECT_THAT(error(Format::snap, {}), HasSubstr("snap messages need their columns by position"));
  EXPECT_THAT(error(Format::tsv, {}), HasSubstr("tsv messages need their columns by position"));
  EXPECT_THAT(error(Format::jlg, {}), HasSubstr("jlg is a format of files"));
  CodecOptions header = columns("source,target");
  header.header = true;
  EXPECT_THAT(error(Format::csv, header), HasSubstr("messages have no header"));
}

}  // namespace
}  // namespace deltamatch::ingest
