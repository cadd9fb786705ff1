#include "ingest/batch/batcher.hpp"

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;

ReadOptions limits(std::size_t updates, Timestamp span) {
  ReadOptions options;
  options.limits = {updates, span};
  options.codec.time_unit = TimeUnit::microseconds;
  return options;
}

std::vector<std::size_t> sizes(std::string_view bytes, const ReadOptions& options) {
  std::vector<std::size_t> out;
  for (const unsigned read_ahead : {0u, 1u, 3u}) {
    ReadOptions each = options;
    each.read_ahead = read_ahead;
    const auto stream = open_memory(bytes, "test", each);
    PositionedBatch batch;
    std::vector<std::size_t> found;
    while (stream->next(batch)) found.push_back(batch.updates.size());
    if (read_ahead != 0) {
      EXPECT_EQ(found, out);
    }
    out = found;
  }
  return out;
}

TEST(Batcher, ByCount) {
  const std::string_view five = "1 2\n3 4\n5 6\n7 8\n9 10\n";
  EXPECT_THAT(sizes(five, limits(1, 0)), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(sizes(five, limits(2, 0)), ElementsAre(2, 2, 1));
  EXPECT_THAT(sizes(five, limits(5, 0)), ElementsAre(5));
  EXPECT_THAT(sizes(five, limits(6, 0)), ElementsAre(5));
  EXPECT_THAT(sizes(five, limits(0, 0)), ElementsAre(5));
}

TEST(Batcher, BySpanClosesBeforeTheRecordThatWouldExceedIt) {
  EXPECT_THAT(sizes("1 2 0\n1 2 10\n1 2 11\n1 2 21\n1 2 22\n", limits(0, 10)), ElementsAre(2, 2, 1));
  EXPECT_THAT(sizes("1 2 5\n1 2 5\n1 2 5\n", limits(0, 1)), ElementsAre(3));
  EXPECT_THAT(sizes("1 2 10\n1 2 5\n1 2 0\n1 2 -1\n", limits(0, 10)), ElementsAre(3, 1));
  EXPECT_THAT(sizes("1 2 0\n1 2 100\n1 2 200\n", limits(0, 10)), ElementsAre(1, 1, 1));
}

TEST(Batcher, ByBothWhicheverComesFirst) {
  EXPECT_THAT(sizes("1 2 0\n1 2 1\n1 2 2\n1 2 50\n1 2 51\n", limits(2, 10)), ElementsAre(2, 1, 2));
}

TEST(Batcher, SpansOfTimesThatLieFurtherApartThan64BitsHold) {
  EXPECT_THAT(sizes("1 2 -9223372036854775807\n1 2 9223372036854775807\n", limits(0, 9223372036854775807)), ElementsAre(1, 1));
}

TEST(Batcher, UpdatesWithoutTimesDoNotCountForTheSpan) {
  ReadOptions options = limits(0, 10);
  EXPECT_THAT(sizes("source,target,time\n1,2,0\n1,2,\n1,2,5\n1,2,50\n", options), ElementsAre(3, 1));
}

TEST(Batcher, AWindowBoundsTheSpan) {
  EXPECT_EQ((BatchLimits{5, 0}.within_window(160).max_span), 10);
  EXPECT_EQ((BatchLimits{5, 3}.within_window(160).max_span), 3);
  EXPECT_EQ((BatchLimits{5, 30}.within_window(160).max_span), 10);
  EXPECT_EQ((BatchLimits{5, 0}.within_window(3).max_span), 1);
  EXPECT_EQ((BatchLimits{5, 0}.within_window(0).max_span), 0);
  EXPECT_EQ((BatchLimits{5, 0}.within_window(160).max_updates), 5u);
}

TEST(Batcher, RemembersPositionsAndRecords) {
  ReadOptions options = limits(2, 0);
  testing::Folder folder;
  options.on_error = OnError::dead_letter;
  options.dead_letters = folder.file("dead.jsonl");
  const auto stream = open_memory("# c\n1 2\nx\n\n 3 4\r\n5 6\n", "test", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  ASSERT_EQ(batch.updates.size(), 2u);
  EXPECT_EQ(batch.position(0).number, 2u);
  EXPECT_EQ(batch.position(1).number, 5u);
  EXPECT_EQ(batch.record(0), "1 2");
  EXPECT_EQ(batch.record(1), " 3 4");
  ASSERT_EQ(batch.refusals().size(), 1u);
  EXPECT_EQ(batch.refusals()[0].index, 1u);
  EXPECT_EQ(batch.refusals()[0].position.number, 3u);
  EXPECT_EQ(batch.refusals()[0].bytes, "x");
  ASSERT_TRUE(stream->next(batch));
  EXPECT_EQ(batch.record(0), "5 6");
  EXPECT_FALSE(stream->next(batch));
  EXPECT_FALSE(stream->next(batch));
}

/// A codec whose records are counts: each gives that many updates.
class Repeat final : public Codec {
 public:
  Decoded decode(std::string_view record) override {
    updates_.assign(std::stoul(std::string(record)), Update{});
    return {updates_, std::nullopt, {}, {}};
  }

 private:
  std::vector<Update> updates_;
};

/// Records from a list.
class Listed final : public RecordSource {
 public:
  explicit Listed(std::vector<std::string> records) : records_(std::move(records)) {}
  bool next(Record& record) override {
    if (at_ == records_.size()) return false;
    record = {records_[at_], {at_ + 1, 7}, RecordFault::none, records_[at_].size()};
    ++at_;
    return true;
  }
  [[nodiscard]] std::string where(Position position) const override {
    return fmt::format("list[{}]@{}", position.part, position.number);
  }
  [[nodiscard]] Progress progress() const noexcept override { return {}; }
  void cancel() noexcept override {}

 private:
  std::vector<std::string> records_;
  std::size_t at_ = 0;
};

TEST(Batcher, TheUpdatesOfARecordStayTogether) {
  Listed source({"2", "0", "2", "5", "1"});
  Repeat codec;
  Doubts doubts;
  Batcher batcher(source, codec, doubts, {3, 0}, OnUnreadable::list);
  PositionedBatch batch;
  std::vector<std::size_t> found;
  while (batcher.fill(batch)) {
    found.push_back(batch.updates.size());
    EXPECT_EQ(batch.position(0).part, 7u);
  }
  EXPECT_THAT(found, ElementsAre(2, 2, 5, 1));
}

TEST(Batcher, AFloodOfRefusalsIsBounded) {
  std::string junk;
  for (std::size_t i = 0; i < max_listed + 10; ++i) junk += "x\n";
  testing::Folder folder;
  ReadOptions options;
  options.format = Format::snap;
  options.on_error = OnError::dead_letter;
  options.dead_letters = folder.file("dead.jsonl");
  const std::string bytes = "1 2\n" + junk + "3 4\n";
  const auto stream = open_memory(bytes, "test", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  EXPECT_EQ(batch.refusals().size(), max_listed);
}

}  // namespace
}  // namespace deltamatch::ingest
