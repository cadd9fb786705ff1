// The policies for bad records, dead letters, reading ahead, and real files and pipes.
#include "ingest/stream.hpp"

#include <fcntl.h>

#include <atomic>
#include <thread>

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_all;
using testing::read_file;
using testing::write_file;

ReadOptions with_policy(OnError policy, unsigned read_ahead = 0) {
  ReadOptions options;
  options.on_error = policy;
  options.read_ahead = read_ahead;
  options.limits.max_updates = 2;
  return options;
}

TEST(Policy, FailHandsOverTheGoodPrefixAndThenNamesTheLine) {
  for (const unsigned read_ahead : {0u, 1u}) {
    const auto stream = open_memory("1 2\n3 4\n5 6\nbad line\n7 8\n", "edges.txt", with_policy(OnError::fail, read_ahead));
    EXPECT_EQ(stream->on_reject(), OnReject::stop);
    PositionedBatch batch;
    ASSERT_TRUE(stream->next(batch));
    stream->settle(batch, {});
    ASSERT_TRUE(stream->next(batch));
    EXPECT_EQ(batch.updates.size(), 1u);
    EXPECT_EQ(error_of([&] { stream->settle(batch, {}); }),
              "edges.txt:4: bad_id: source `bad` is not an integer (--ids string, in a configuration ids: string, keeps it as "
              "text); correct the record, "
              "or give --on-error skip or dead-letter");
    EXPECT_FALSE(stream->next(batch));
    EXPECT_EQ(stream->refused().of(RejectReason::bad_id), 1u);
  }
}

TEST(Policy, FailOnTheFirstRecordThrowsAtOnce) {
  const auto stream = open_memory("1 2 x\n", "edges.txt", with_policy(OnError::fail));
  PositionedBatch batch;
  EXPECT_THAT(error_of([&] { (void)stream->next(batch); }), HasSubstr("edges.txt:1: bad_time: time `x`"));
}

TEST(Policy, FailNamesTheLineOfWhatTheEngineRefused) {
  const auto stream = open_memory("# c\n1 2\n3 4\n", "edges.txt", with_policy(OnError::fail));
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  const Reject reject{1, RejectReason::label_limit};
  EXPECT_EQ(error_of([&] { stream->settle(batch, {&reject, 1}); }),
            "edges.txt:3: label_limit: edge from `3` to `4` needs one more label than the limit allows; correct the "
            "record, or give --on-error skip or "
            "dead-letter");
}

TEST(Policy, SkipCountsByReasonWhateverRefused) {
  const auto stream = open_memory("1 2\nx 1\n1\n3 4\n1 2 3\n4 5\n", "edges.txt", with_policy(OnError::skip));
  EXPECT_EQ(stream->on_reject(), OnReject::skip);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  const Reject reject{1, RejectReason::label_limit};
  stream->settle(batch, {&reject, 1});
  ASSERT_TRUE(stream->next(batch));
  EXPECT_EQ(batch.updates.size(), 1u);
  stream->settle(batch, {});
  EXPECT_FALSE(stream->next(batch));
  EXPECT_EQ(stream->refused().of(RejectReason::bad_id), 1u);
  EXPECT_EQ(stream->refused().of(RejectReason::wrong_arity), 2u);
  EXPECT_EQ(stream->refused().of(RejectReason::label_limit), 1u);
  EXPECT_EQ(stream->refused().total(), 4u);
}

TEST(Policy, DeadLettersKeepReasonPositionAndBytesInOrder) {
  Folder folder;
  ReadOptions options = with_policy(OnError::dead_letter);
  options.dead_letters = folder.file("dead.jsonl");
  options.max_record = 100;
  options.format = Format::snap;
  const auto stream = open_memory("1 2\nx\xff\"\t1\n3 4\n" + std::string(200, 'y') + "\n4 5\nz z\n", "edges.txt", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  const Reject reject{1, RejectReason::label_limit};
  stream->settle(batch, {&reject, 1});
  ASSERT_TRUE(stream->next(batch));
  stream->settle(batch, {});
  EXPECT_FALSE(stream->next(batch));
  EXPECT_EQ(
      read_file(options.dead_letters),
      R"json({"v":1,"reason":"bad_id","source":"edges.txt","part":0,"position":2,"message":"source `x\\xff\"` is not an integer (--ids string, in a configuration ids: string, keeps it as text)","record":"x\udcff\"\t1","length":5})json"
      "\n"
      R"({"v":1,"reason":"label_limit","source":"edges.txt","part":0,"position":3,"message":"edge from `3` to `4` needs one more label than the limit allows","record":"3 4","length":3})"
      "\n"
      R"({"v":1,"reason":"too_long","source":"edges.txt","part":0,"position":4,"message":"the record has 200 bytes, more than the limit","record":")" +
          std::string(100, 'y') + R"(","length":200})" +
          "\n"
          R"json({"v":1,"reason":"bad_id","source":"edges.txt","part":0,"position":6,"message":"source `z` is not an integer (--ids string, in a configuration ids: string, keeps it as text)","record":"z z","length":3})json"
          "\n");
  EXPECT_EQ(stream->refused().total(), 4u);
}

TEST(Policy, StreamsMayShareTheirDeadLetters) {
  Folder folder;
  const std::string path = folder.file("dead.jsonl");
  ReadOptions options = with_policy(OnError::dead_letter);
  options.letters = make_dead_letter_file(path);
  options.format = Format::snap;
  for (const char* name : {"first.txt", "second.txt"}) read_all(*open_memory("1 2\nx 1\n", name, options));
  const std::string letters = read_file(path);
  EXPECT_THAT(letters, HasSubstr(R"("source":"first.txt","part":0,"position":2)"));
  EXPECT_THAT(letters, HasSubstr(R"("source":"second.txt","part":0,"position":2)"));
}

TEST(Policy, DeadLettersNeedAFileThatCanBeWritten) {
  EXPECT_THAT(error_of([] { (void)open_memory("1 2\n", "x", with_policy(OnError::dead_letter)); }),
              HasSubstr("dead letters need a file"));
  ReadOptions options = with_policy(OnError::dead_letter);
  options.dead_letters = "/nonexistent/dead.jsonl";
  EXPECT_THAT(error_of([&] { (void)open_memory("1 2\n", "x", options); }),
              HasSubstr("/nonexistent/dead.jsonl: cannot be created: No such file"));
}

TEST(Policy, NamesAreStable) {
  EXPECT_EQ(on_error_name(OnError::fail), "fail");
  EXPECT_EQ(on_error_name(OnError::skip), "skip");
  EXPECT_EQ(on_error_name(OnError::dead_letter), "dead-letter");
}

TEST(Stream, CrlfByteOrderMarkAndNoLastNewline) {
  EXPECT_THAT(read_all("\xef\xbb\xbf"
                       "1 2\r\n3 4"),
              ElementsAre("+ 1 -> 2", "+ 3 -> 4"));
  EXPECT_THAT(read_all("\xef\xbb\xbfsource,target\r\na,\"b\r\nc\"\r\nd,e\r\n", with_policy(OnError::skip)),
              ElementsAre("+ 'd' -> 'e'"));
}

TEST(Stream, QuotedCsvFieldsMaySpanLinesAndPositionsStayTrue) {
  const auto stream = open_memory("source;target;memo\na;b;\"two\nlines\"\nc;d;x\ne;;x\n", "t.csv", with_policy(OnError::fail));
  EXPECT_THAT(error_of([&] { read_all(*stream); }), HasSubstr("t.csv:5: bad_id: target `` is empty"));
}

TEST(Stream, AnEndlessLineIsRefusedAndTheRestIsRead) {
  const std::string bytes = "1 2\n" + std::string(5 << 20, '7') + "\n3 4\n";
  const auto stream = open_memory(bytes, "test", with_policy(OnError::skip));
  EXPECT_THAT(read_all(*stream), ElementsAre("+ 1 -> 2", "+ 3 -> 4"));
  EXPECT_EQ(stream->refused().of(RejectReason::too_long), 1u);
}

TEST(Stream, AHeaderThatCannotBeReadEndsItWithFileAndLine) {
  EXPECT_EQ(error_of([] { read_all("\na_1,b_2\n1,2\n", with_policy(OnError::skip)); }),
            "test:2: the CSV header `a_1,b_2` has no columns for source and target, nor for a vertex and its label; give "
            "--columns source=NAME,target=NAME, or if there is no header --columns source,target");
}

TEST(Stream, FilesAndTheirErrors) {
  Folder folder;
  const std::string path = folder.file("edges.txt");
  write_file(path, "1 2\n3 4\n");
  const auto stream = open_stream(path);
  EXPECT_EQ(stream->name(), path);
  EXPECT_THAT(read_all(*stream), ElementsAre("+ 1 -> 2", "+ 3 -> 4"));
  EXPECT_EQ(stream->progress().bytes_read, 8u);
  EXPECT_EQ(stream->progress().bytes_total, 8u);
  EXPECT_EQ(stream->progress().records, 2u);
  EXPECT_THAT(error_of([&] { (void)open_stream(folder.file("none")); }), HasSubstr("none: cannot be opened: No such file"));
  EXPECT_THAT(error_of([&] { (void)open_stream(folder.file("")); }), HasSubstr("is a directory"));
}

TEST(Stream, ReadingAheadGivesTheSameBatches) {
  std::string bytes;
  for (int i = 0; i < 20000; ++i) bytes += fmt::format("{} {} {}\n", i, (i * 7919) % 20011, i / 3);
  ReadOptions options;
  options.limits = {97, 20};
  options.read_ahead = 0;
  const auto expected = read_all(bytes, options);
  for (const unsigned depth : {1u, 2u, 8u}) {
    options.read_ahead = depth;
    EXPECT_EQ(read_all(bytes, options), expected) << depth;
  }
}

TEST(Stream, MayBeGivenUpInTheMiddle) {
  std::string bytes;
  for (int i = 0; i < 20000; ++i) bytes += "1 2\n";
  for (const unsigned depth : {0u, 1u, 4u}) {
    ReadOptions options = with_policy(OnError::fail, depth);
    const auto stream = open_memory(bytes, "test", options);
    PositionedBatch batch;
    ASSERT_TRUE(stream->next(batch));
  }
}

TEST(Stream, AThreadThatWaitsForAPipeIsStopped) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string_view two = "1 2\n3 4\n5 6\n";
  ASSERT_EQ(::write(ends[1], two.data(), two.size()), static_cast<ssize_t>(two.size()));
  {
    const auto stream = open_stream(fmt::format("/dev/fd/{}", ends[0]), with_policy(OnError::fail, 2));
    PositionedBatch batch;
    ASSERT_TRUE(stream->next(batch));
    EXPECT_EQ(batch.updates.size(), 2u);
    EXPECT_FALSE(stream->progress().bytes_total);
  }  // the writer is still there and silent: this must return nevertheless
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Stream, APipeIsReadFromItsFirstLineEnd) {
  for (const std::string_view first :
       {"1 2\n", "+\tP\tQ\n", "source,target\n1,2\n", "{\"source\":1,\"target\":2}\n", "BZ\n1 2\n"}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], first.data(), first.size()), static_cast<ssize_t>(first.size()));
    ReadOptions options = with_policy(OnError::skip, 1);
    options.limits.max_updates = 1;
    if (first.starts_with("BZ")) options.format = Format::snap;
    const auto stream = open_stream(fmt::format("/dev/fd/{}", ends[0]), options);
    PositionedBatch batch;
    ASSERT_TRUE(stream->next(batch)) << first;  // the writer is silent
    EXPECT_EQ(batch.updates.size(), 1u);
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

TEST(Stream, ABatchKeepsItsViewsWhenMoved) {
  const auto stream = open_memory("a\tb\tL\t1\nc\td\tM\t2\n", "test", with_policy(OnError::fail));
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  const PositionedBatch moved = std::move(batch);
  EXPECT_EQ(testing::text_of(moved.updates.updates()[1]), "+ 'c' -> 'd' [M] @2000000");
  EXPECT_EQ(moved.position(1).number, 2u);
}

}  // namespace
}  // namespace deltamatch::ingest
