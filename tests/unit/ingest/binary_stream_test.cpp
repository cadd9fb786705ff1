// Binary streams in blocks. Damage is noticed wherever it is, and never gives another graph.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/binary_source.hpp"
#include "support.hpp"
#include "support/properties.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::read_all;
using testing::text_of;
using namespace std::string_literals;

Update edge(Id source, Id target) {
  Update update;
  update.source = source;
  update.target = target;
  return update;
}

/// A stream of edges from `first` on, in blocks of `each`.
std::string blocks(std::int64_t first, std::int64_t count, std::int64_t each) {
  std::string out;
  BinaryStreamWriter writer(out);
  for (std::int64_t i = 0; i < count; ++i) {
    Update update = edge(first + i, std::string_view("acct"));
    update.label = "PAYS";
    update.time = 1'700'000'000'000'000 + i;
    writer.add(out, update);
    if ((i + 1) % each == 0) writer.flush(out);
  }
  writer.finish(out);
  return out;
}

/// What is read of it before it is refused, if it is.
struct Outcome {
  std::vector<std::string> updates;
  std::uint64_t refused = 0;
  std::string error;
};

Outcome outcome_of(std::string_view bytes, bool recognise) {
  ReadOptions options;
  if (!recognise) options.format = Format::binary;
  options.on_error = OnError::skip;
  options.limits.max_updates = 3;
  options.read_ahead = 0;
  Outcome outcome;
  outcome.error = error_of([&] {
    const auto opened = open_memory(bytes, "test", options);
    PositionedBatch batch;
    while (opened->next(batch)) {
      for (const Update& update : batch.updates.updates()) outcome.updates.push_back(text_of(update));
    }
    outcome.refused = opened->refused().total();
  });
  return outcome;
}

/// Expects that the stream is refused, and that what was read before is the beginning of the whole.
void expect_refused(std::string_view bytes, const std::vector<std::string>& whole, const std::string& how) {
  for (const bool recognise : {false, true}) {
    const Outcome outcome = outcome_of(bytes, recognise);
    EXPECT_NE(outcome.error, "") << how << ", " << outcome.updates.size() << " updates, " << outcome.refused << " refused";
    ASSERT_LE(outcome.updates.size(), whole.size()) << how;
    EXPECT_TRUE(std::equal(outcome.updates.begin(), outcome.updates.end(), whole.begin())) << how;
  }
}

TEST(BinaryBlocks, BytesAreAsDocumented) {
  std::string out;
  BinaryStreamWriter writer(out);
  EXPECT_EQ(out, testing::binary_preamble(2));
  writer.add(out, edge(1, 2));
  EXPECT_EQ(out, testing::binary_preamble(2)) << "too little for a block";
  writer.finish(out);
  EXPECT_EQ(out,
            "\x8f"
            "DMUPD\r\n\x02\x80\x00"
            "\x05\x00\x00\x00\xd1\x22\x65\xd3\x67\x15\xb8\x60\xbf\xd2\xce\xa3"
            "\x04\x10\x00\x02\x04"
            "\x00\x00\x00\x00\x03\x67\x6f\x82\xcc\xb0\xc5\x4d\x6e\x0e\xe2\x3a"s);
}

TEST(BinaryBlocks, RecordsAreReadWhateverBlocksTheyLieIn) {
  std::mt19937_64 draw(3);
  std::string out;
  BinaryStreamWriter writer(out);
  std::vector<std::string> expected;
  const std::string text(3'000'000, 'x');  // more than a block may hold
  for (int i = 0; i < 5000; ++i) {
    Update update = edge(static_cast<std::int64_t>(draw()), i);
    if (i % 1000 == 7) update.label = text;
    if (i % 1000 == 8) update.label = std::string_view(text).substr(0, BinaryBlock::most_bytes - 20);
    writer.add(out, update);
    append_binary(expected.emplace_back(), update);
    if (draw() % 500 == 0) writer.flush(out);
  }
  writer.finish(out);
  for (const std::size_t step : {7'001U, 1U << 18, 1U << 25}) {
    BinarySource source(ByteBuffer(std::make_unique<testing::Dribble>(out, step)), std::size_t{1} << 23);
    std::size_t count = 0;
    for (Record record; source.next(record); ++count) ASSERT_TRUE(count < 5000 && record.bytes == expected[count]) << count;
    EXPECT_EQ(count, 5000U);
  }
  BinarySource source(ByteBuffer(std::make_unique<testing::Dribble>(out, 1 << 18)), 1000);
  std::size_t cut = 0;
  for (Record record; source.next(record);) cut += record.fault == RecordFault::too_long ? 1 : 0;
  EXPECT_EQ(cut, 10U);
  EXPECT_EQ(source.progress().records, 5000U);
}

TEST(BinaryBlocks, KeysAndAttributesComeBack) {
  test::PropertiesDraw properties(9);
  std::string out;
  BinaryStreamWriter writer(out);
  std::vector<std::string> expected;
  const auto text = [](const Update& update) { return text_of(update) + test::properties_text(update); };
  for (int i = 0; i < 3000; ++i) {
    Update update = edge(i % 50, i % 7 + 100);
    update.kind = static_cast<UpdateKind>(properties.below(3));
    if (i % 3 == 0) update.time = 1'700'000'000'000'000 + i;
    properties.add_to(update);
    writer.add(out, update);
    expected.push_back(text(update));
    if (i % 700 == 0) writer.flush(out);
  }
  writer.finish(out);
  std::vector<std::string> found;
  const auto stream = open_memory(out, "test");
  for (PositionedBatch batch; stream->next(batch); stream->settle(batch, {})) {
    for (const Update& update : batch.updates.updates()) found.push_back(text(update));
  }
  EXPECT_EQ(found, expected);
}

TEST(BinaryBlocks, StreamsOfBothVersionsAreJoined) {
  const std::string old = testing::binary_preamble(1) + "\x04\x10\x00\x02\x04"s;
  const std::string empty = blocks(0, 0, 1);
  const auto one = read_all(old);
  const auto three = read_all(blocks(10, 3, 2));
  EXPECT_EQ(three.size(), 3U);
  EXPECT_THAT(read_all(empty), ElementsAre());
  std::vector<std::string> expected;
  for (const auto* part : {&one, &three, &three, &one}) expected.insert(expected.end(), part->begin(), part->end());
  EXPECT_EQ(read_all(old + blocks(10, 3, 2) + empty + blocks(10, 3, 2) + empty + old), expected);
}

TEST(BinaryBlocks, EveryDamagedByteIsNoticed) {
  const std::string whole = blocks(1, 10, 4) + blocks(100, 3, 3);
  const std::vector<std::string> updates = read_all(whole);
  ASSERT_EQ(updates.size(), 13U);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int change = 1; change < 256; change += change < 128 && (change & (change - 1)) == 0 ? change : 37) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      expect_refused(damaged, updates, fmt::format("byte {} ^ {:#x}", at, change));
    }
  }
}

TEST(BinaryBlocks, FlippedBitsOfAStreamAreNoticed) {
  const std::string whole = blocks(1, 300, 100);
  const std::vector<std::string> updates = read_all(whole);
  std::mt19937 draw(5);
  for (int i = 0; i < 1500; ++i) {
    std::string damaged = whole;
    const std::size_t bit = draw() % (8 * whole.size());
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_refused(damaged, updates, fmt::format("bit {}", bit));
  }
}

TEST(BinaryBlocks, EveryCutIsNoticed) {
  const std::string whole = blocks(1, 30, 8);
  const std::vector<std::string> updates = read_all(whole);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    expect_refused(std::string_view(whole).substr(0, size), updates, fmt::format("cut at {}", size));
  }
}

TEST(BinaryBlocks, BlocksThatAreMissingRepeatedOrMovedAreNoticed) {
  const std::string whole = blocks(1, 30, 10);
  const std::vector<std::string> updates = read_all(whole);
  std::vector<std::string> parts;
  for (std::size_t at = binary_preamble_size + binary_seal.size(); at < whole.size(); at += parts.back().size()) {
    parts.push_back(whole.substr(
        at, BinaryBlock::head_size + static_cast<unsigned char>(whole[at]) + 256U * static_cast<unsigned char>(whole[at + 1])));
  }
  ASSERT_EQ(parts.size(), 4U);
  const auto joined = [&](const std::vector<std::size_t>& order) {
    std::string bytes = testing::binary_preamble(2);
    for (const std::size_t part : order) bytes += parts[part];
    return bytes;
  };
  ASSERT_EQ(joined({0, 1, 2, 3}), whole);
  for (const auto& order : std::vector<std::vector<std::size_t>>{
           {1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}, {0, 1, 1, 2, 3}, {1, 0, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 3, 3}, {3}}) {
    expect_refused(joined(order), updates, ::testing::PrintToString(order));
  }
}

TEST(BinaryBlocks, TheRefusalNamesThePlaceAndTheRemedy) {
  std::string bytes = blocks(1, 30, 10);
  const std::size_t second = binary_preamble_size + binary_seal.size() + BinaryBlock::head_size +
                             static_cast<unsigned char>(bytes[binary_preamble_size + binary_seal.size()]);
  bytes[second + BinaryBlock::head_size + 5] ^= 1;
  EXPECT_EQ(
      error_of([&] { (void)read_all(bytes); }),
      fmt::format("test: the stream is damaged: a checksum does not match in the block at byte {}; fetch or write it again; "
                  "the records before are whole",
                  second));
}

TEST(BinaryBlocks, ASizeIsCheckedBeforeItIsBelieved) {
  std::string bytes = testing::binary_preamble(2);
  std::string head(BinaryBlock::head_size, '\0');
  bytes += "\xff\xff\xff\xff"s + head.substr(4);
  EXPECT_THAT(error_of([&] { (void)read_all(bytes); }), HasSubstr("there is no head of block 0 at byte 11"));
}

}  // namespace
}  // namespace deltamatch::ingest
