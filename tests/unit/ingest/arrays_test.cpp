// JSON arrays of records: in a line or message, over a whole file, and within paths.
#include "ingest/source/json_source.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using testing::Dribble;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_all;

CodecOptions columns(std::string text, Envelope envelope = Envelope::none) {
  CodecOptions options;
  options.columns = std::move(text);
  options.envelope = envelope;
  return options;
}

TEST(JsonArrays, AreOneRecord) {
  const auto codec = make_codec(Format::jsonl, {});
  const std::string record =
      R"( [ {"source":"a\n","target":2,"time":1}, {"source":"b\u00e4","target":3}, {"op":"-","vertex":"a\n"} ] )";
  const Decoded decoded = codec->decode(record);
  ASSERT_EQ(decoded.updates.size(), 3U);
  EXPECT_EQ(testing::text_of(decoded.updates[0]), "+ 'a\n' -> 2 @1");
  EXPECT_EQ(testing::text_of(decoded.updates[1]), "+ 'b\xc3\xa4' -> 3");
  EXPECT_EQ(testing::text_of(decoded.updates[2]), "- 'a\n'");
  EXPECT_FALSE(decoded.updates[0].continues);
  EXPECT_TRUE(decoded.updates[1].continues);
  EXPECT_TRUE(decoded.updates[2].continues);
  EXPECT_THAT(decode(*codec, {"[]", "[ ]", R"({"source":1,"target":2})"}), ElementsAre("+ 1 -> 2"));
  EXPECT_FALSE(codec->decode(R"({"source":1,"target":2})").updates[0].continues);
}

TEST(JsonArrays, ARefusedElementIsNamedAndRefusesAll) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"([{"source":1,"target":2},{"source":1.5,"target":2},{"source":3}])", R"([{"source":1,"target":2},7])",
                      R"([{"source":1},{"source":1,"target":2}])", R"([{"source":1},{"source":1,"target":2])"}),
              ElementsAre("! bad_id: element 1, from 0: source `1.5` is not an integer",
                          HasSubstr("! malformed: element 1, from 0: it is no JSON object"),
                          "! wrong_arity: element 0, from 0: there is no target", HasSubstr("! malformed: ")));
}

TEST(JsonArrays, OfChangeEvents) {
  const std::string update = R"({"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":3}})";
  const std::string tombstone = R"({"schema":{},"payload":null})";
  EXPECT_THAT(decode(Format::jsonl, {"[" + tombstone + "," + update + "," + update + "]"}, columns("", Envelope::debezium)),
              ElementsAre("- 1 -> 2", "+ 1 -> 3", "- 1 -> 2", "+ 1 -> 3"));
  EXPECT_THAT(decode(Format::jsonl, {"[" + update + R"(,{"op":"t"}])"}, columns("", Envelope::debezium)),
              ElementsAre(HasSubstr("! bad_operation: element 1, from 0: op `t` says that a table")));
}

TEST(JsonArrays, InMessages) {
  const auto codec = make_message_codec(Format::jsonl, {});
  EXPECT_THAT(decode(*codec, {"[{\"source\":1,\"target\":2},\n{\"source\":2,\"target\":3}]\n", "[]"}),
              ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
}

TEST(JsonArrays, PathsToElements) {
  const auto one = [](const char* record) {
    return decode(Format::jsonl, {record}, columns("source=p.0.id,target=p.2")).at(0);
  };
  EXPECT_EQ(one(R"({"p":[{"id":5},null,6]})"), "+ 5 -> 6");
  EXPECT_EQ(one(R"({"p":[{"id":5,"x":[[[]]]},{"id":1},6,{"y":[1,2]}]})"), "+ 5 -> 6");
  EXPECT_EQ(one(R"({"p":{"0":{"id":5},"2":6}})"), "+ 5 -> 6");
  EXPECT_EQ(one(R"({"p":[{"id":5}]})"), "! wrong_arity: there is no p.2");
  EXPECT_EQ(one(R"({"p":[null,1,6]})"), "! wrong_arity: there is no p.0.id");
  EXPECT_EQ(one(R"({"p":[5,1,6]})"), "! malformed: field `p.0` is no object");
  EXPECT_EQ(one(R"({"p":[{"id":5},1,{}]})"), "! malformed: field `p.2` is neither a string nor a number");
  EXPECT_EQ(one(R"({"p":"x"})"), "! malformed: field `p` is no object");
  EXPECT_THAT(one(R"({"p":[{"id":5},1,6})"), HasSubstr("! malformed"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"p":[{"id":5},{"id":6}]})"}, columns("source=p.00.id,target=p.1.id")),
              ElementsAre("! wrong_arity: there is no p.00.id"));
  EXPECT_THAT(
      decode(Format::jsonl, {R"({"op":"c","after":{"e":[1,2]}})"}, columns("source=e.0,target=e.1", Envelope::debezium)),
      ElementsAre("+ 1 -> 2"));
}

TEST(JsonArrays, RowsAreArraysIfColumnsAreNumbers) {
  EXPECT_THAT(decode(Format::jsonl, {R"(["a",7,"L"])", R"({"0":"a","1":7})", R"(["a"])", R"([["a",7]])"},
                     columns("source=0,target=1,label=2")),
              ElementsAre("+ 'a' -> 7 [L]", "+ 'a' -> 7", "! wrong_arity: there is no 1",
                          "! malformed: field `0` is neither a string nor a number"));
}

/// The records of JSON data that comes in pieces, and how reading ends.
std::string elements(std::string_view text, std::size_t step, JsonLayout layout = JsonLayout::array, std::size_t most = 1000) {
  JsonSource source(ByteBuffer(std::make_unique<Dribble>(std::string(text), step)), most, layout);
  std::string out;
  const std::string end = error_of([&] {
    for (Record record; source.next(record);) {
      EXPECT_TRUE(record.padded);
      EXPECT_EQ(record.length, record.bytes.size());
      out += fmt::format("{}.{} {} | ", record.position.number, record.position.part, record.bytes);
    }
  });
  Record record;
  EXPECT_FALSE(source.next(record));
  return out + end.substr(0, end.find(';'));
}

TEST(JsonSource, GivesElementsHoweverTheBytesCome) {
  for (const std::size_t step : {1U, 2U, 3U, 1000U}) {
    EXPECT_EQ(elements("[]", step), "");
    EXPECT_EQ(elements(" [ \n ] \n", step), "");
    EXPECT_EQ(elements("[{\"a\":1},\n {\"b\":\n[2]} ,\r\n3,\"x\\\"]\" , null,[4]\n]\n", step),
              "1.0 {\"a\":1} | 2.1 {\"b\":\n[2]} | 4.2 3 | 4.3 \"x\\\"]\" | 4.4 null | 4.5 [4] | ");
    EXPECT_EQ(elements("\n{}\n{\"a\":\n\"}\"}{\"b\":1} 7", step, JsonLayout::sequence),
              "2.0 {} | 3.0 {\"a\":\n\"}\"} | 4.0 {\"b\":1} | 4.0 7 | ");
  }
}

TEST(JsonSource, EndsWithWhatIsWrongAfterAllBeforeIt) {
  for (const std::size_t step : {1U, 1000U}) {
    EXPECT_EQ(elements("[1,2", step), "1.0 1 | 1.1 2 | test:1, element 2 from 0: the array does not end");
    EXPECT_EQ(elements("[1,\n", step), "1.0 1 | test:2, element 1 from 0: the array does not end");
    EXPECT_EQ(elements("[", step), "test:1, element 0 from 0: the array does not end");
    EXPECT_EQ(elements("[1 2]", step),
              "1.0 1 | test:1, element 1 from 0: neither a comma nor the end of the array follows an element");
    EXPECT_EQ(elements("[1,]", step), "1.0 1 | test:1, element 1 from 0: a comma before the end of the array");
    EXPECT_EQ(elements("[1,,2]", step), "1.0 1 | test:1, element 1 from 0: a value is missing");
    EXPECT_EQ(elements("[1]\n[2]", step), "1.0 1 | test:2, element 1 from 0: something follows the array");
    EXPECT_EQ(elements("[{\"a\":\"b\n\"}]", step), "test:1, element 0 from 0: a string does not end in its line");
    EXPECT_EQ(elements("[{\"a\":1", step), "test:1, element 0 from 0: a value does not end");
    // The codec judges brackets of the wrong kind. They cost one record.
    EXPECT_EQ(elements("[{\"a\":1],2]", step), "1.0 {\"a\":1] | 1.1 2 | ");
    EXPECT_EQ(elements("{\"a\":1}\n{", step, JsonLayout::sequence), "1.0 {\"a\":1} | test:2: a value does not end");
    EXPECT_EQ(elements("{}}", step, JsonLayout::sequence), "1.0 {} | test:1: a value is missing");
    EXPECT_EQ(elements("[1234,12345]", step, JsonLayout::array, 4),
              "1.0 1234 | test:1, element 1 from 0: a value of more than 4 bytes, or one that does not end");
    EXPECT_EQ(elements("[{\"\":1},[12345]]", step, JsonLayout::array, 6),
              "1.0 {\"\":1} | test:1, element 1 from 0: a value of more than 6 bytes, or one that does not end");
  }
}

TEST(JsonFiles, AreReadByTheirLayout) {
  const std::string a = R"({"source":1,"target":2})";
  const std::string b = R"({"source":2,"target":3})";
  const std::string broken = R"({"source":2})";
  ReadOptions skip;
  skip.on_error = OnError::skip;
  const auto read = [&](const std::string& text) { return read_all(text, skip); };
  // In a file that is one array, each element is a record.
  EXPECT_THAT(read("[" + a + "," + broken + "]"), ElementsAre("+ 1 -> 2"));
  EXPECT_THAT(read("[\n" + a + ",\n" + broken + ",\n" + b + "\n]"), ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
  EXPECT_THAT(read("\xef\xbb\xbf[" + a + "\n]"), ElementsAre("+ 1 -> 2"));
  // If there are several lines, each is a record.
  EXPECT_THAT(read("[" + a + "," + broken + "]\n[" + b + "]\n"), ElementsAre("+ 2 -> 3"));
  EXPECT_THAT(read("[" + a + "]\n" + b + "\n"), ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
  // A damaged first line is a damaged line.
  skip.format = Format::jsonl;
  EXPECT_THAT(read("{\n" + a + "\n" + b + "\n"), ElementsAre("+ 1 -> 2", "+ 2 -> 3"));
  EXPECT_THAT(read("[1] 2\n" + a + "\n"), ElementsAre("+ 1 -> 2"));
  EXPECT_THAT(read("[]"), IsEmpty());
  EXPECT_THAT(read("{"), IsEmpty());
}

TEST(JsonFiles, AnArrayOfALineIsNeverSplit) {
  const std::string one = R"({"source":1,"target":2})";
  ReadOptions options;
  options.limits.max_updates = 2;
  EXPECT_THAT(read_all(one + "\n[" + one + "," + one + "," + one + "]\n" + one + "\n", options),
              ElementsAre("+ 1 -> 2", "--", "+ 1 -> 2", "+ 1 -> 2", "+ 1 -> 2", "--", "+ 1 -> 2"));
}

TEST(JsonFiles, ADeadLetterHoldsTheWholeLineOnce) {
  testing::Folder folder;
  ReadOptions options;
  options.on_error = OnError::dead_letter;
  options.dead_letters = folder.file("dead");
  const std::string line = R"([{"source":1,"target":2},{"source":3,"target":4}])";
  const auto stream = open_memory(line + "\n" + line + "\n", "test", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  ASSERT_EQ(batch.updates.size(), 4U);
  for (std::size_t update = 0; update < 4; ++update) {
    EXPECT_EQ(batch.record(update), line);
    EXPECT_EQ(batch.position(update).number, update / 2 + 1);
  }
  EXPECT_EQ(batch.record(0).data(), batch.record(1).data());
}

}  // namespace
}  // namespace deltamatch::ingest
