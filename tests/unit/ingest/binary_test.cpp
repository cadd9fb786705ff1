#include "ingest/codec/binary.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <random>

#include "ingest/codec/binary_source.hpp"
#include "support.hpp"
#include "support/properties.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::read_all;
using ::testing::StartsWith;
using testing::text_of;
using namespace std::string_literals;

std::string encoded(const Update& update) {
  std::string out;
  append_binary(out, update);
  return out;
}

Update edge(Id source, Id target) {
  Update update;
  update.source = source;
  update.target = target;
  return update;
}

/// A version 1 stream of these records.
std::string stream(const std::vector<std::string>& records) {
  std::string out = testing::binary_preamble(1);
  for (const std::string& record : records) out += static_cast<char>(record.size()) + record;
  return out;
}

TEST(Binary, TheLeastIntegerIsNoTime) {
  Update update = edge(1, 2);
  update.time = std::numeric_limits<Timestamp>::min();
  EXPECT_THAT(decode(Format::binary, {encoded(update)}),
              ElementsAre("! bad_time: time -9223372036854775808 is beyond the range"));
  update.time = *update.time + 1;
  EXPECT_THAT(decode(Format::binary, {encoded(update)}), ElementsAre("+ 1 -> 2 @-9223372036854775807"));
}

TEST(Binary, BytesAreAsDocumented) {
  Update update = edge(std::string_view("acct-1"), 7);
  update.label = "PAYS";
  update.source_label = "A";
  update.target_label = "";
  update.time = 1700000000000000;
  EXPECT_EQ(encoded(update),
            "\x10\x3d\x06"
            "acct-1"
            "\x0e"
            "\x04PAYS"
            "\x01"
            "A"
            "\x00"
            "\x80\x80\xf2\x81\x83\x89\x85\x06"s);
  EXPECT_EQ(encoded(edge(-1, 64)), "\x10\x00\x01\x80\x01"s);
  update = {};
  update.kind = UpdateKind::delete_vertex;
  update.source = 5;
  update.label = "is no part of it";
  update.target = 9;
  EXPECT_EQ(encoded(update), "\x13\x00\x0a"s);
  std::string framed;
  append_binary_framed(framed, update);
  EXPECT_EQ(framed, "\x03\x13\x00\x0a"s);
}

TEST(Binary, RefusesEachByItsReason) {
  const auto one = [](std::string record) {
    const auto out = decode(Format::binary, {record});
    return out.size() == 1 ? out[0] : "not one";
  };
  EXPECT_EQ(one("\x10\x00\x02\x04"s), "+ 1 -> 2");
  EXPECT_EQ(one(""), "! malformed: the record is cut short");
  EXPECT_EQ(one("\x10"), "! malformed: the record is cut short");
  EXPECT_EQ(one("{}"), "! malformed: the first byte 0x7b does not exist in version 1");
  EXPECT_EQ(one("\x20\x00\x02\x04"s), "! malformed: the first byte 0x20 does not exist in version 1");
  EXPECT_EQ(one("\x14\x00\x02\x04"s), "! bad_operation: the first byte 0x14 is not a kind of update");
  EXPECT_EQ(one("\x10\x40\x02\x04"s), "! malformed: the record is cut short, or a number is not in its shortest form");
  EXPECT_EQ(one("\x10\x80\x01\x02\x04"s), "! malformed: the flags 0x80 have no meaning here");
  EXPECT_EQ(one("\x11\x80\x02\x02\x04\x01\x02\x04"s), "! malformed: the flags 0x100 have no meaning here");
  EXPECT_EQ(one("\x10\xc0\x01\x02\x04\x00"s), "! bad_id: key `` is empty");
  for (const std::string& shape : {""s, "\x05"s, "\x80\x80"s, "\xff\xff"s}) {
    EXPECT_EQ(one("\x10\x80\x02\x02\x04"s + static_cast<char>(shape.size()) + shape),
              "! malformed: the record is cut short, or a number or its attributes are not in their only form");
  }
  EXPECT_EQ(one("\x10\x80\x10\x02\x04"s), "! malformed: it has the field 0x800, which this version does not read");
  EXPECT_EQ(one("\x12\x80\x04\x02"s), "! malformed: the flags 0x200 have no meaning here");
  EXPECT_EQ(one("\x10\x84\x00\x02\x04"s), "! malformed: the record is cut short, or a number is not in its shortest form");
  EXPECT_EQ(one("\x12\x04\x02\x01L"s), "+ 1 adds L");
  EXPECT_EQ(one("\x12\x10\x02\x01L"s), "+ 1 removes L");
  EXPECT_EQ(one("\x13\x04\x02\x01L"s), "! malformed: the flags 0x04 have no meaning here");
  for (const std::string& bad : {
           "\x10\x00\x02"s,                                              // no target
           "\x10\x00\x02\x80"s,                                          // a number that is cut short
           "\x10\x00\x02\x80\x00"s,                                      // longer than it needs to be
           "\x10\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,      // beyond 64 bits
           "\x10\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // an eleventh byte
           "\x10\x01\x03"
           "ab\x02"s,                                                    // a text beyond the end
           "\x10\x04\x02\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a text of almost 2^64 bytes
           "\x10\x20\x02\x04"s,                                          // no time
           "\x10\x08\x02\x04"s,                                          // no label of the source
       }) {
    EXPECT_EQ(one(bad), "! malformed: the record is cut short, or a number is not in its shortest form");
  }
  EXPECT_EQ(one("\x10\x00\x02\x04\x00\x00"s), "! malformed: 2 bytes follow the record");
  EXPECT_EQ(one("\x10\x01\x00\x04"s), "! bad_id: source `` is empty");
  EXPECT_EQ(one("\x10\x02\x02\x00"s), "! bad_id: target `` is empty");
}

TEST(Binary, IdsAreWhatTheyAreToBe) {
  const std::vector<std::string> records = {encoded(edge(std::string_view("7"), -8)), encoded(edge(std::string_view("a"), 1))};
  EXPECT_THAT(decode(Format::binary, records), ElementsAre("+ '7' -> -8", "+ 'a' -> 1"));
  CodecOptions options;
  options.ids = IdKind::integer;
  EXPECT_THAT(decode(Format::binary, records, options), ElementsAre("+ 7 -> -8", "! bad_id: source `a` is not an integer"));
  options.ids = IdKind::string;
  EXPECT_THAT(decode(Format::binary, records, options), ElementsAre("+ '7' -> '-8'", "+ 'a' -> '1'"));
}

TEST(Binary, KeysAreWhatIdsAreToBe) {
  const auto key_of = [](Id key, std::optional<IdKind> ids) {
    const Properties properties{key, {}};
    Update update = edge(1, 2);
    update.properties = &properties;
    CodecOptions options;
    options.ids = ids;
    const auto codec = make_codec(Format::binary, options);
    const std::string bytes = encoded(update);
    const Decoded decoded = codec->decode(bytes);
    return decoded.refused ? std::string(decoded.message) : test::properties_text(decoded.updates[0]);
  };
  EXPECT_EQ(key_of(7, {}), " key 7");
  EXPECT_EQ(key_of("7", {}), " key '7'");
  EXPECT_EQ(key_of(7, IdKind::string), " key '7'");
  EXPECT_EQ(key_of("7", IdKind::integer), " key 7");
  EXPECT_EQ(key_of("tx", IdKind::integer), "key `tx` is not an integer");
}

TEST(Binary, EdgesWithoutALabelBearTheOneThatIsGiven) {
  CodecOptions options;
  options.edge_label = "PAYS";
  EXPECT_THAT(decode(Format::binary, {"\x10\x00\x02\x04"s, "\x10\x04\x02\x04\x01L"s, "\x12\x00\x02"s}, options),
              ElementsAre("+ 1 -> 2 [PAYS]", "+ 1 -> 2 [L]", "+ 1"));
}

TEST(Binary, OptionsOfTextAreWrongUsage) {
  const auto error = [](void (*set)(CodecOptions&)) {
    CodecOptions options;
    set(options);
    return error_of([&] { (void)make_codec(Format::binary, options); });
  };
  EXPECT_THAT(error([](CodecOptions& o) { o.columns = "source,target"; }),
              HasSubstr("columns: binary records have no columns"));
  EXPECT_THAT(error([](CodecOptions& o) { o.time_unit = TimeUnit::seconds; }),
              HasSubstr("time: binary records have times in microseconds"));
  EXPECT_THAT(error([](CodecOptions& o) { o.time_format = "%Y"; }),
              HasSubstr("time: binary records have times in microseconds"));
}

/// Draws updates of every shape, with texts and numbers from the limits of their ranges.
class Draw {
 public:
  /// Rows have up to `most` values.
  explicit Draw(unsigned seed, std::size_t most = max_attributes) : random_(seed), properties_(seed, most) {}

  Update update() {
    texts_.clear();
    Update update;
    update.kind = static_cast<UpdateKind>(below(4));
    update.source = id();
    if (below(2) == 0) update.source_label = text();
    if (below(2) == 0) update.time = std::max(number(), std::numeric_limits<std::int64_t>::min() + 1);
    if (update.kind == UpdateKind::insert_vertex) properties_.add_to(update);
    if (update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::delete_vertex) return update;
    update.target = id();
    update.label = text();
    if (below(2) == 0) update.target_label = text();
    if (below(2) == 0) properties_.add_to(update);
    return update;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::int64_t number() {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 8> edges = {0, -1, 63, 64, -64, -65, Limits::max(), Limits::min()};
    if (below(2) == 0) return edges[below(edges.size())];
    return static_cast<std::int64_t>(random_() >> below(64)) * (below(2) == 0 ? 1 : -1);
  }

  std::string_view text() {
    std::string& made = texts_.emplace_back(std::array<std::size_t, 6>{0, 1, 5, 127, 128, 300}[below(6)], ' ');
    for (char& c : made) c = static_cast<char>(random_());
    return made;
  }

  Id id() {
    if (below(2) == 0) return number();
    const std::string_view made = text();
    return made.empty() ? Id(std::string_view("x")) : Id(made);
  }

  std::mt19937_64 random_;
  std::deque<std::string> texts_;
  test::PropertiesDraw properties_;
};

bool equal(const Update& a, const Update& b) {
  return a.kind == b.kind && a.source == b.source && a.target == b.target && a.label == b.label &&
         a.source_label == b.source_label && a.target_label == b.target_label && a.time == b.time &&
         test::properties_text(a) == test::properties_text(b);
}

TEST(Binary, WhatIsWrittenIsReadAgain) {
  Draw draw(7);
  const auto codec = make_codec(Format::binary, {});
  std::string all = testing::binary_preamble(1);
  std::vector<std::string> expected;
  for (int i = 0; i < 20000; ++i) {
    const Update update = draw.update();
    const std::string bytes = encoded(update);
    const Decoded decoded = codec->decode(bytes);
    ASSERT_FALSE(decoded.refused) << decoded.message;
    ASSERT_TRUE(equal(decoded.updates[0], update)) << text_of(update);
    ASSERT_EQ(encoded(decoded.updates[0]), bytes);
    append_binary_framed(all, update);
    expected.push_back(text_of(update));
  }
  EXPECT_EQ(read_all(all), expected);
}

TEST(Binary, EveryPrefixAndEveryFlippedBitIsRefusedOrReadAsItself) {
  Draw draw(11, 4);
  const auto codec = make_codec(Format::binary, {});
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = encoded(draw.update());
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(codec->decode(std::string_view(bytes).substr(0, size)).refused, RejectReason::malformed);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string broken = bytes;
      broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
      const Decoded decoded = codec->decode(broken);
      if (decoded.refused) continue;
      const std::string again = encoded(decoded.updates[0]);
      // An empty label of an edge may be written. It is then left out.
      EXPECT_TRUE(again == broken || (decoded.updates[0].label.empty() && again.size() + 1 == broken.size()));
    }
  }
}

TEST(BinaryStream, IsRecognisedUnpackedAndJoined) {
  const std::string one = stream({"\x10\x00\x02\x04"s, "\x11\x00\x02\x04"s});
  EXPECT_THAT(read_all(one), ElementsAre("+ 1 -> 2", "- 1 -> 2"));
  EXPECT_THAT(read_all(one + one), ElementsAre("+ 1 -> 2", "- 1 -> 2", "+ 1 -> 2", "- 1 -> 2"));
  EXPECT_THAT(read_all(stream({})), ElementsAre());
  ReadOptions options;
  options.format = Format::binary;
  EXPECT_THAT(read_all("", options), ElementsAre());
  const auto opened = open_memory(one, "test");
  EXPECT_EQ(opened->format(), Format::binary);
  EXPECT_TRUE(opened->directed());
}

TEST(BinaryStream, BadRecordsCostNoOther) {
  ReadOptions options;
  options.on_error = OnError::skip;
  const std::string bytes = stream({"\x10\x00\x02\x04"s, "", "\x10\x00\x02"s, "\x10\x00\x06\x08"s});
  const auto opened = open_memory(bytes, "test", options);
  EXPECT_THAT(read_all(*opened), ElementsAre("+ 1 -> 2", "+ 3 -> 4"));
  EXPECT_EQ(opened->refused().of(RejectReason::malformed), 2);
  EXPECT_THAT(error_of([&] { (void)read_all(bytes); }), StartsWith("test: record 2: malformed: the record is cut short"));
}

TEST(BinaryStream, RecordsBeyondTheLimitArePassedOver) {
  ReadOptions options;
  options.on_error = OnError::skip;
  options.max_record = 100;
  Update update = edge(1, 2);
  const std::string text(1 << 20, 'x');
  update.label = text;
  std::string bytes = stream({"\x10\x00\x02\x04"s});
  append_binary_framed(bytes, update);
  bytes += "\x04\x10\x00\x06\x08"s;
  const auto opened = open_memory(bytes, "test", options);
  EXPECT_THAT(read_all(*opened), ElementsAre("+ 1 -> 2", "+ 3 -> 4"));
  EXPECT_EQ(opened->refused().of(RejectReason::too_long), 1);
}

/// Each record of a stream that comes in small pieces, as "number:length first last".
std::vector<std::string> records_of(const std::string& bytes, std::size_t step, std::size_t max = 1 << 21) {
  BinarySource source(ByteBuffer(std::make_unique<testing::Dribble>(bytes, step)), max);
  std::vector<std::string> out;
  for (Record record; source.next(record);) {
    out.push_back(fmt::format("{}:{} {:02x} {:02x}{}", record.position.number, record.length,
                              static_cast<unsigned char>(record.bytes.front()), static_cast<unsigned char>(record.bytes.back()),
                              record.fault == RecordFault::none ? "" : " too long"));
  }
  EXPECT_EQ(source.progress().records, out.size());
  EXPECT_EQ(source.where({3, 0}), "test: record 3");
  return out;
}

TEST(BinaryStream, ComesInPiecesOfAnySize) {
  Update small = edge(1, 2);
  Update large = edge(3, 4);
  const std::string text(1'000'000, 'x');
  large.label = text;
  large.time = 0;
  std::string bytes;
  for (int part = 0; part < 2; ++part) {
    bytes += testing::binary_preamble(1);
    append_binary_framed(bytes, small);
    append_binary_framed(bytes, large);
    append_binary_framed(bytes, small);
  }
  const auto whole = ElementsAre("1:4 10 04", "2:1000008 10 00", "3:4 10 04", "4:4 10 04", "5:1000008 10 00", "6:4 10 04");
  for (const std::size_t step : {1U, 7U, 4096U, 1U << 18, 1U << 22}) EXPECT_THAT(records_of(bytes, step), whole) << step;
  const auto cut =
      ElementsAre("1:4 10 04", "2:1000008 10 78 too long", "3:4 10 04", "4:4 10 04", "5:1000008 10 78 too long", "6:4 10 04");
  for (const std::size_t step : {7U, 1U << 18}) EXPECT_THAT(records_of(bytes, step, 100), cut) << step;
}

TEST(BinaryStream, EndsWhenItIsCancelled) {
  BinarySource source(ByteBuffer(memory_bytes(std::string_view("\x8f"
                                                               "DMUPD\r\n\x01\x04\x10",
                                                               11),
                                              "test")),
                      100);
  source.cancel();
  Record record;
  EXPECT_FALSE(source.next(record));
}

TEST(BinaryStream, ATornTailIsAnErrorWithItsOffsetAfterWhatStandsBefore) {
  const std::string whole = stream({"\x10\x00\x02\x04"s, "\x10\x00\x06\x08"s});
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (size == binary_preamble_size || size == binary_preamble_size + 5) continue;  // between records
    std::vector<std::string> found;
    ReadOptions options;
    options.format = Format::binary;
    options.limits.max_updates = 1;
    const std::string error = error_of([&] {
      const auto opened = open_memory(std::string_view(whole).substr(0, size), "test", options);
      PositionedBatch batch;
      while (opened->next(batch)) found.push_back(text_of(batch.updates.updates()[0]));
    });
    const std::size_t start = size < binary_preamble_size ? 0 : size < binary_preamble_size + 5 ? 9 : 14;
    EXPECT_THAT(error,
                StartsWith("test: the stream is torn: it ends within what begins at byte " + std::to_string(start) + ";"));
    EXPECT_EQ(found.size(), start == 14 ? 1U : 0U);
  }
  Update large = edge(1, 2);
  large.label = std::string_view("0123456789");
  std::string bytes = stream({});
  append_binary_framed(bytes, large);
  bytes.pop_back();
  ReadOptions options;
  options.max_record = 5;
  EXPECT_THAT(error_of([&] { (void)read_all(bytes, options); }), HasSubstr("ends within what begins at byte 9"));
}

TEST(BinaryStream, WhatIsNoneIsRefused) {
  ReadOptions options;
  options.format = Format::binary;
  EXPECT_THAT(error_of([&] { (void)read_all("1 2\n", options); }), HasSubstr("does not begin as a binary stream does"));
  EXPECT_THAT(error_of([&] {
                (void)read_all(
                    "\x8f"
                    "DMUPD\n\x01",
                    options);
              }),
              HasSubstr("does not begin as a binary"));
  EXPECT_THAT(error_of([&] {
                (void)read_all(
                    "\x8f"
                    "DMUPD\r\n\x04",
                    options);
              }),
              HasSubstr("binary stream of version 4"));
  EXPECT_THAT(error_of([&] { (void)read_all(stream({}) + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"); }),
              HasSubstr("there is no length of a record at byte 9"));
  EXPECT_THAT(error_of([&] { (void)read_all(stream({}) + "\x80\x00"s); }),
              HasSubstr("there is no length of a record at byte 9"));
}

}  // namespace
}  // namespace deltamatch::ingest
