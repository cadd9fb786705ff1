// Which times lie far ahead of the rest: the reader against the definition, written down once more.
#include "ingest/batch/record_reader.hpp"

#include <random>

#include "deltamatch/engine.hpp"
#include "ingest/source/line_source.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Timestamp max_ahead = 100;

/// A line: a record with a time or without, one that is refused, or a comment.
struct Line {
  enum class Kind { timed, untimed, refused, comment } kind = Kind::timed;
  Timestamp time = 0;
};

/// Whether a gap above the larger half of `times` (sorted) sets `time` and others apart.
bool stands_out(Timestamp time, const std::vector<Timestamp>& times) {
  const Timestamp median = times[(times.size() - 1) / 2];
  std::vector<Timestamp> steps = times;
  std::erase_if(steps, [&](Timestamp each) { return each < median || each >= time; });
  steps.push_back(time);
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const Timestamp gap = steps[k] - steps[k - 1];
    if (gap > std::max(max_ahead, steps[k - 1] - median)) return true;
  }
  return false;
}

std::vector<bool> far_ahead(const std::vector<Line>& lines) {
  std::vector<Line> records;
  for (const Line& line : lines) {
    if (line.kind != Line::Kind::comment) records.push_back(line);
  }
  const auto timed = [&](std::size_t i) { return records[i].kind == Line::Kind::timed; };
  std::vector<bool> ahead(records.size());
  std::vector<Timestamp> passed;
  std::vector<Timestamp> steps;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!timed(i)) continue;
    const Timestamp time = records[i].time;
    const Timestamp watermark = passed.empty() ? time : std::ranges::max(passed);
    const bool leaps = passed.empty() || time - watermark > max_ahead;
    const std::size_t recent = std::min<std::size_t>(steps.size(), 100);
    const bool unlike =
        recent >= 2 && (time - watermark) / 10 > *std::max_element(steps.end() - static_cast<long>(recent), steps.end());
    std::vector<Timestamp> rest;
    for (std::size_t j = i + 1; j < records.size() && j <= i + 100; ++j) {
      if (timed(j)) rest.push_back(records[j].time);
    }
    const auto near =
        static_cast<std::size_t>(std::ranges::count_if(rest, [&](Timestamp other) { return time - other <= max_ahead; }));
    const bool few_are_near = 4 * near < rest.size();
    const bool ends = i + 100 >= records.size();
    for (std::size_t back = 1; ends && back <= passed.size() && rest.size() < 100; ++back)
      rest.push_back(passed[passed.size() - back]);
    std::ranges::sort(rest);
    bool far = leaps;
    if (near != 0) {  // no lead here is a century
      far = far && unlike && few_are_near && (!ends || rest.size() >= 2) && stands_out(time, rest);
    } else if (!ends) {
      far = far && !rest.empty();
    } else {
      Timestamp widest = 0;
      for (std::size_t k = 1; k < rest.size(); ++k) widest = std::max(widest, rest[k] - rest[k - 1]);
      far = far && rest.size() >= 2 && time - rest.back() > std::max(max_ahead, widest);
    }
    ahead[i] = far;
    if (far) continue;
    steps.push_back(passed.empty() ? 0 : std::max<Timestamp>(0, time - watermark));
    passed.push_back(time);
  }
  return ahead;
}

std::vector<Line> draw(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int count = below(4) == 0 ? below(12) : 50 + below(250);
  const int leaps = 10 + below(100);  // one in this many
  const int pace = below(3) == 0 ? 90 : 3;
  const int far = below(3) == 0 ? 100'000 : 0;
  int row = 0;  // number of next lines that are probably ahead
  std::vector<Line> lines;
  Timestamp now = below(1000);
  for (int i = 0; i < count; ++i) {
    now += below(pace) - (below(5) == 0 ? below(40) : 0);
    if (below(100) == 0) now += 150;  // permanently
    Line line{Line::Kind::timed, now};
    if (below(leaps) == 0 || (row > 0 && below(4) != 0)) line.time += 80 + below(1000) + far;
    row = row > 0 ? row - 1 : below(150) == 0 ? 1 + below(60) : 0;
    const int kind = below(20);
    if (kind == 0) line.kind = Line::Kind::untimed;
    if (kind == 1) line.kind = Line::Kind::refused;
    if (kind == 2) line.kind = Line::Kind::comment;
    lines.push_back(line);
  }
  return lines;
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text = "source,target,time\n";
  int number = 0;
  for (const Line& line : lines) {
    ++number;
    switch (line.kind) {
      case Line::Kind::timed:
        text += fmt::format("{},x,{}\n", number, line.time);
        break;
      case Line::Kind::untimed:
        text += fmt::format("{},x,\n", number);
        break;
      case Line::Kind::refused:
        text += "bad\n";
        break;
      case Line::Kind::comment:
        text += "\n";
        break;
    }
  }
  return text;
}

ReadOptions options_of(std::size_t batch, unsigned read_ahead) {
  ReadOptions options;
  options.codec.time_unit = TimeUnit::microseconds;
  options.limits.max_updates = batch;
  options.max_ahead = max_ahead;
  options.on_error = OnError::skip;
  options.read_ahead = read_ahead;
  return options;
}

TEST(RecordReader, FindsWhatTheDefinitionSaysWhateverTheBatches) {
  std::mt19937 random(17);
  std::size_t found = 0;
  std::size_t kept = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<Line> lines = draw(random);
    const std::vector<bool> wanted = far_ahead(lines);
    const std::string text = text_of(lines);
    const auto flagged = static_cast<std::uint64_t>(std::ranges::count(wanted, true));
    found += flagged;
    kept += wanted.size() - flagged;
    for (const auto& [batch_size, read_ahead] : {std::pair{1u, 0u}, {7u, 1u}, {0u, 0u}}) {
      const auto stream = open_memory(text, "t.csv", options_of(batch_size, read_ahead));
      Engine engine(EngineOptions{.window = 50});
      std::optional<Timestamp> watermark;
      PositionedBatch batch;
      std::size_t record = 0;
      std::size_t read = 0;
      while (stream->next(batch)) {
        for (const Update& update : batch.updates.updates()) {
          while (lines[read].kind == Line::Kind::refused || lines[read].kind == Line::Kind::comment) {
            record += lines[read++].kind == Line::Kind::refused ? 1 : 0;
          }
          ASSERT_EQ(update.ahead, wanted[record]) << "record " << record << " of\n" << text;
          ASSERT_EQ(update.time, lines[read].kind == Line::Kind::timed ? std::optional(lines[read].time) : std::nullopt);
          if (update.time && !wanted[record]) watermark = std::max(watermark, update.time);
          ++record;
          ++read;
        }
        const BatchResult result = engine.process(batch.updates, OnReject::skip);
        ASSERT_EQ(result.watermark, watermark);  // the largest time so far of those that are not ahead
        stream->settle(batch, result.rejects);
      }
      std::vector<Warning> warnings = stream->warnings();
      std::erase_if(warnings, [](const Warning& warning) { return warning.code == "empty_times"; });
      ASSERT_EQ(warnings.size(), flagged == 0 ? 0u : 1u);
      if (flagged != 0) {
        EXPECT_EQ(warnings[0].code, "time_ahead");
        EXPECT_EQ(warnings[0].count, flagged);
      }
    }
  }
  EXPECT_GT(found, 250u);
  EXPECT_GT(kept, 5 * found);
}

/// Gives bytes until it fails, which happens when the lines have been read.
class Failing final : public ByteSource {
 public:
  explicit Failing(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(std::span<char> buffer) override {
    if (at_ == bytes_.size()) throw Error("disk", "cannot be read");
    const std::size_t size = std::min(buffer.size(), bytes_.size() - at_);
    std::copy_n(bytes_.data() + at_, size, buffer.data());
    at_ += size;
    return size;
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return std::nullopt; }
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  std::string name_ = "failing";
};

TEST(RecordReader, AFailureBehindATimeThatMayBeAheadComesAfterAllRecordsBeforeIt) {
  LineSource source(std::make_unique<Failing>("1 2 0\n1 3 1\n1 4 900\n1 5 2\n1 6 3\n"), 1000);
  CodecOptions reading;
  reading.time_unit = TimeUnit::microseconds;
  const auto codec = make_codec(Format::snap, reading);
  Doubts doubts;
  RecordReader reader(source, *codec, doubts, max_ahead, false);
  std::vector<std::string> read;
  DecodedRecord reading_now;
  const std::string failure = testing::error_of([&] {
    while (reader.next(reading_now)) {
      read.push_back(testing::text_of(reading_now.updates[0]) + (reading_now.ahead ? " ahead" : ""));
    }
  });
  EXPECT_THAT(read, ElementsAre("+ 1 -> 2 @0", "+ 1 -> 3 @1", "+ 1 -> 4 @900 ahead", "+ 1 -> 5 @2", "+ 1 -> 6 @3"));
  EXPECT_EQ(failure, "disk: cannot be read");
}

TEST(RecordReader, ReadsNoFurtherThanItNeedsTo) {
  // Ascending times are confirmed by the next record. Within max_ahead of earlier times, nothing is read in advance.
  for (const auto& [lines, gap, expected] : {std::tuple{40, 50, 0}, {40, 500, 1}}) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += fmt::format("1 2 {}\n", i * gap);
    LineSource source(memory_bytes(text, "t"), 1000);
    CodecOptions reading;
    reading.time_unit = TimeUnit::microseconds;
    const auto codec = make_codec(Format::snap, reading);
    Doubts doubts;
    RecordReader reader(source, *codec, doubts, max_ahead, false);
    DecodedRecord now;
    ASSERT_TRUE(reader.next(now));
    ASSERT_TRUE(reader.next(now));  // the first waits for the second
    for (std::uint64_t given = 3; given < 40; ++given) {
      ASSERT_TRUE(reader.next(now));
      EXPECT_EQ(source.progress().records, given + static_cast<std::uint64_t>(expected)) << gap;
    }
  }
}

TEST(RecordReader, TimesThatLieFurtherApartThan64BitsHold) {
  const auto ahead = [](const std::string& text) {
    std::vector<bool> found;
    const auto stream = open_memory(text, "t.txt", options_of(0, 0));
    PositionedBatch batch;
    while (stream->next(batch)) {
      for (const Update& update : batch.updates.updates()) found.push_back(update.ahead);
    }
    return found;
  };
  const std::string least = "-9223372036854775807";
  const std::string largest = "9223372036854775807";
  EXPECT_THAT(ahead("1 2 " + least + "\n1 3 " + largest + "\n1 4 " + least + "\n"), ElementsAre(false, true, false));
  EXPECT_THAT(ahead("1 2 " + largest + "\n1 3 " + largest + "\n"), ElementsAre(false, false));
  EXPECT_THAT(ahead(""), IsEmpty());
}

TEST(RecordReader, ATimeThatIsAheadDoesNotCutABatchBySpan) {
  ReadOptions options = options_of(0, 0);
  options.limits.max_span = 10;
  const auto stream = open_memory("1 2 0\n1 3 900\n1 4 5\n1 5 6\n", "t.txt", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  EXPECT_EQ(batch.updates.size(), 4u);
}

TEST(RecordReader, BothUpdatesOfARecordAreAhead) {
  ReadOptions options = options_of(0, 0);
  options.codec.envelope = Envelope::debezium;
  options.codec.columns = "time=.ts_ms";
  std::string text;
  for (const int time : {0, 900, 5, 6}) {
    text += fmt::format(R"({{"op":"u","before":{{"source":1,"target":{0}}},"after":{{"source":2,"target":{0}}},"ts_ms":{1}}})",
                        7 + time, time);
    text += '\n';
  }
  const auto stream = open_memory(text, "t.jsonl", options);
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  std::vector<bool> ahead;
  for (const Update& update : batch.updates.updates()) ahead.push_back(update.ahead);
  EXPECT_THAT(ahead, ElementsAre(false, false, true, true, false, false, false, false));
}

}  // namespace
}  // namespace deltamatch::ingest
