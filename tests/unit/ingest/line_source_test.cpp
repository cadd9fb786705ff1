#include "ingest/source/line_source.hpp"

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::Dribble;
using ::testing::ElementsAre;

std::vector<std::string> lines_of(const std::string& bytes, std::size_t max = 100, std::size_t step = 1 << 20,
                                  char separator = 0) {
  LineSource source(std::make_unique<Dribble>(bytes, step), max);
  source.set_quoted_separator(separator);
  std::vector<std::string> out;
  Record record;
  while (source.next(record)) {
    std::string line = fmt::format("{}:{}", record.position.number, record.bytes);
    if (record.fault == RecordFault::too_long) line += fmt::format(" too long {}", record.length);
    if (record.fault == RecordFault::unterminated_quote) line += " unterminated";
    out.push_back(std::move(line));
  }
  return out;
}

TEST(LineSource, LinesWithEitherEndAndTheLastWithNone) {
  for (const std::size_t step : {1u, 2u, 3u, 100u}) {
    EXPECT_THAT(lines_of("a\r\nb\n\nc", 100, step), ElementsAre("1:a", "2:b", "3:", "4:c"));
    EXPECT_THAT(lines_of("a\n", 100, step), ElementsAre("1:a"));
    EXPECT_THAT(lines_of("\n", 100, step), ElementsAre("1:"));
    EXPECT_THAT(lines_of("a\rb\r\r\n", 100, step), ElementsAre("1:a\rb\r"));
    EXPECT_THAT(lines_of("a\r", 100, step), ElementsAre("1:a"));
  }
  EXPECT_TRUE(lines_of("").empty());
}

TEST(LineSource, AByteOrderMarkIsSkippedOnlyAtTheStart) {
  for (const std::size_t step : {1u, 2u, 100u}) {
    EXPECT_THAT(lines_of("\xef\xbb\xbf"
                         "1 2\n\xef\xbb\xbf"
                         "3",
                         100, step),
                ElementsAre("1:1 2",
                            "2:\xef\xbb\xbf"
                            "3"));
    EXPECT_THAT(lines_of("\xef\xbb", 100, step), ElementsAre("1:\xef\xbb"));
  }
  EXPECT_TRUE(lines_of("\xef\xbb\xbf").empty());
}

TEST(LineSource, ALineBeyondTheLimitIsCutAndReadingGoesOnAtTheNext) {
  for (const std::size_t step : {1u, 7u, 1000u}) {
    EXPECT_THAT(lines_of("12345\n123456\n1234567\r\nab\n", 5, step),
                ElementsAre("1:12345", "2:12345 too long 6", "3:12345 too long 8", "4:ab"));
    EXPECT_THAT(lines_of("12345\r\n", 5, step), ElementsAre("1:12345"));
    EXPECT_THAT(lines_of("ab\n123456", 5, step), ElementsAre("1:ab", "2:12345 too long 6"));
  }
}

TEST(LineSource, AnEndlessLineIsNotHeld) {
  const std::size_t size = std::size_t{64} << 20;
  auto bytes = std::make_unique<Dribble>("1 2\n" + std::string(size, 'x') + "\n3 4\n", std::size_t{1} << 16);
  const Dribble& dribble = *bytes;
  LineSource source(std::move(bytes), 1 << 20);
  Record record;
  ASSERT_TRUE(source.next(record));
  ASSERT_TRUE(source.next(record));
  EXPECT_EQ(record.fault, RecordFault::too_long);
  EXPECT_EQ(record.length, size);
  EXPECT_EQ(record.bytes.size(), 4096u);
  ASSERT_TRUE(source.next(record));
  EXPECT_EQ(record.bytes, "3 4");
  EXPECT_EQ(record.position.number, 3u);
  EXPECT_LT(dribble.largest_buffer, std::size_t{4} << 20);
}

TEST(LineSource, LongLinesAcrossBuffers) {
  std::string bytes;
  std::vector<std::string> expected;
  for (std::size_t size : {0u, 1u, 262143u, 262144u, 262145u, 700000u, 1048576u, 3u}) {
    bytes += std::string(size, 'y') + "\n";
    expected.push_back(fmt::format("{}:{}", expected.size() + 1, std::string(size, 'y')));
  }
  EXPECT_EQ(lines_of(bytes, 1 << 20), expected);
  EXPECT_EQ(lines_of(bytes, 1 << 20, 65537), expected);
}

TEST(LineSource, QuotedFieldsSpanLinesWhereToldTo) {
  for (const std::size_t step : {1u, 3u, 100u}) {
    EXPECT_THAT(lines_of("a,\"b\r\nc\",d\nx,\"y\"\"\n\"\"\",z\n9\n", 100, step, ','),
                ElementsAre("1:a,\"b\r\nc\",d", "3:x,\"y\"\"\n\"\"\",z", "5:9"));
  }
  EXPECT_THAT(lines_of("a,\"b\nc\",d\n", 100, 100, 0), ElementsAre("1:a,\"b", "2:c\",d"));
}

TEST(LineSource, AStrayQuoteCostsItsOwnLineOnly) {
  EXPECT_THAT(lines_of("a,\"b\nc,d\ne,f\n", 100, 100, ','), ElementsAre("1:a,\"b unterminated", "2:c,d", "3:e,f"));
  EXPECT_THAT(lines_of("a,\"b\n" + std::string(50, 'c') + "\n" + std::string(60, 'd') + "\nx\n", 100, 100, ','),
              ElementsAre("1:a,\"b unterminated", "2:" + std::string(50, 'c'), "3:" + std::string(60, 'd'), "4:x"));
  EXPECT_THAT(lines_of("a,\"b\"c\nd\n", 100, 100, ','), ElementsAre("1:a,\"b\"c", "2:d"));
  EXPECT_THAT(lines_of("a,\"b\n\"c\nd\n", 100, 100, ','), ElementsAre("1:a,\"b", "2:\"c unterminated", "3:d"));
  EXPECT_THAT(lines_of("a\"b,\"c\"\n", 100, 100, ','), ElementsAre("1:a\"b,\"c\""));
}

TEST(LineSource, HeadShowsWholeLinesAndTakesNothing) {
  LineSource source(std::make_unique<Dribble>("\xef\xbb\xbf# c\n\n1 2\n3 4\n", 3), 100);
  EXPECT_TRUE(std::string(source.head()).starts_with("# c\n\n1 2\n"));
  Record record;
  ASSERT_TRUE(source.next(record));
  EXPECT_EQ(record.bytes, "# c");
  EXPECT_EQ(LineSource(std::make_unique<Dribble>("1 2", 1), 100).head(), "1 2");
  EXPECT_EQ(LineSource(std::make_unique<Dribble>("", 1), 100).head(), "");
  EXPECT_LE(LineSource(std::make_unique<Dribble>(std::string(1 << 22, 'x'), 1 << 16), 1 << 20).head().size(),
            std::size_t{1} << 16);
}

TEST(LineSource, SaysWhereAndHowFar) {
  LineSource source(memory_bytes("a\nb\nc\n", "file.txt"), 100);
  Record record;
  while (source.next(record)) {
  }
  EXPECT_EQ(source.where(record.position), "file.txt:3");
  EXPECT_EQ(source.progress().records, 3u);
  EXPECT_EQ(source.progress().bytes_read, 6u);
  EXPECT_EQ(source.progress().bytes_total, 6u);
}

}  // namespace
}  // namespace deltamatch::ingest
