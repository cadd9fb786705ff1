// Binary streams that state their schema. They are read with it, and with no other.
#include "ingest/codec/binary_schema.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/binary_source.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::read_all;
using testing::text_of;
using namespace std::string_literals;
using Kind = AttributeType::Kind;

const Schema payments{EdgeModel::keyed, {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol}}}, {}};

ReadOptions declared(const Schema& schema) {
  ReadOptions options;
  options.codec.edges = schema.model;
  for (const Attribute& attribute : schema.edges) options.codec.attributes.push_back({attribute});
  for (const Attribute& attribute : schema.vertices) options.codec.vertex_attributes.push_back({attribute});
  options.read_ahead = 0;
  return options;
}

/// A stream of payments with the keys from `first` on, in blocks of two.
std::string stream_of(const Schema& schema, std::int64_t first, std::int64_t count) {
  std::string out;
  BinaryStreamWriter writer(out, schema);
  for (std::int64_t key = first; key < first + count; ++key) {
    const std::array<AttributeValue, 2> values{std::int64_t{100 * key}, std::string_view("web")};
    const Properties properties{Id(key), values};
    Update update;
    update.source = Id(std::int64_t{1});
    update.target = Id(std::int64_t{2});
    update.properties = &properties;
    writer.add(out, update);
    if (key % 2 == 0) writer.flush(out);
  }
  writer.finish(out);
  return out;
}

std::vector<std::string> meant(std::int64_t first, std::int64_t count) {
  std::vector<std::string> all;
  for (std::int64_t key = first; key < first + count; ++key)
    all.push_back(fmt::format("+ 1 -> 2 #{} {{{}, 'web'}}", key, 100 * key));
  return all;
}

/// All updates, and "! " with the error if there is one.
std::vector<std::string> read(std::string_view bytes, const Schema& schema) {
  std::vector<std::string> out;
  const std::string error = error_of([&] {
    ReadOptions options = declared(schema);
    options.limits.max_updates = 1;
    const auto stream = open_memory(bytes, "test", options);
    for (PositionedBatch batch; stream->next(batch); stream->settle(batch, {})) {
      for (const Update& update : batch.updates.updates()) out.push_back(text_of(update));
    }
  });
  if (!error.empty()) out.push_back("! " + error);
  return out;
}

TEST(BinarySchema, BytesAreAsDocumented) {
  std::string out;
  BinaryStreamWriter(out, payments).finish(out);
  const std::string schema(
      "\x01\x02\x06"
      "amount\x01\x02\x07"
      "channel\x04\x00\x00",
      22);
  const BinaryBlock::Head first = BinaryBlock::head_of(schema, 0);
  const BinaryBlock::Head last = BinaryBlock::head_of({}, 1);
  EXPECT_EQ(out, std::string(binary_magic) + "\x03\x81\x00"s + std::string(first.data(), first.size()) + schema +
                     std::string(last.data(), last.size()));
  std::string plain;
  BinaryStreamWriter(plain, Schema{}).finish(plain);
  EXPECT_EQ(plain[binary_magic.size()], 2) << "there is nothing to state";
}

TEST(BinarySchema, IsKnownBeforeRecordsAreRead) {
  const std::string whole = stream_of(payments, 1, 5);
  Input input = memory_input(whole, "test");
  EXPECT_EQ(input.schema, payments);
  EXPECT_EQ(read_all(*open_stream(std::move(input), declared(payments))), meant(1, 5)) << "nothing was dropped";
  ByteBuffer pieces(std::make_unique<testing::Dribble>(whole, 1));
  EXPECT_EQ(stated_schema(pieces), payments);
  EXPECT_EQ(memory_input("", "test").schema, std::nullopt);
  EXPECT_EQ(memory_input("1 2\n", "test").schema, std::nullopt);
  EXPECT_EQ(memory_input(stream_of({}, 1, 5), "test").schema, std::nullopt);
}

TEST(BinarySchema, AnotherDeclarationIsRefused) {
  const std::string whole = stream_of(payments, 1, 5);
  EXPECT_EQ(read(whole, payments), meant(1, 5));
  std::vector<Schema> others(7, payments);
  others[0].edges[0].type.scale = 3;
  others[1].edges[0].type = {Kind::integer};
  others[2].edges[0].type = {Kind::time};
  others[3].edges[0].name = "channel2";
  std::swap(others[4].edges[0], others[4].edges[1]);
  others[5].model = EdgeModel::events;
  others[6] = {};
  for (const Schema& other : others) EXPECT_THAT(read(whole, other), ElementsAre(HasSubstr("declare the same")));
  EXPECT_THAT(read(whole, others[0]),
              ElementsAre("! test: the stream that begins at byte 0 was written with edges keyed, attributes "
                          "amount:decimal(2),channel:symbol, vertex attributes none, but is read with edges keyed, attributes "
                          "amount:decimal(3),channel:symbol, vertex attributes none; declare the same, with names, types and "
                          "order as written, or convert the stream to jsonl to declare something else"));
}

TEST(BinarySchema, EveryJoinedStreamIsCompared) {
  const std::string one = stream_of(payments, 1, 3);
  const std::string old = stream_of({}, 11, 2);
  Schema coarse = payments;
  coarse.edges[0].type.scale = 1;
  std::vector<std::string> expected = meant(1, 3);
  std::ranges::copy(meant(11, 2), std::back_inserter(expected));
  std::ranges::copy(meant(1, 3), std::back_inserter(expected));
  EXPECT_EQ(read(one + old + one, payments), expected) << "what states nothing is read as declared";
  const std::vector<std::string> found = read(one + stream_of(coarse, 1, 3), payments);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_THAT(found[3], HasSubstr(fmt::format("the stream that begins at byte {} was written with", one.size())));
}

TEST(BinarySchema, EveryDamageIsNoticed) {
  const std::string whole = stream_of(payments, 1, 5);
  const std::vector<std::string> all = meant(1, 5);
  const auto expect_refused = [&](std::string_view bytes, const std::string& how) {
    const std::vector<std::string> found = read(bytes, payments);
    ASSERT_FALSE(found.empty()) << how;
    EXPECT_TRUE(found.back().starts_with("! ")) << how << ": " << found.back();
    ASSERT_LE(found.size(), all.size() + 1) << how;
    EXPECT_TRUE(std::equal(found.begin(), found.end() - 1, all.begin())) << how;
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      expect_refused(damaged, fmt::format("byte {} ^ {}", at, change));
    }
    if (at > 0) expect_refused(std::string_view(whole).substr(0, at), fmt::format("cut at {}", at));
  }
}

TEST(BinarySchema, ContentsThatStateNothingAreRefused) {
  for (const std::string& contents :
       {""s, "\x01"s, "\x03\x00\x00"s, "\x01\x00\x00\x00"s, "\x00\x01\x01n\x00\x00\x00"s, "\x01\x01\x04time\x05\x00\x00"s}) {
    EXPECT_EQ(read_schema(contents), std::nullopt);
    std::string bytes(binary_magic);
    bytes += "\x03\x81\x00"s;
    for (const std::string& block : {contents, ""s}) {
      const BinaryBlock::Head head = BinaryBlock::head_of(block, block.empty() && !contents.empty() ? 1 : 0);
      bytes.append(head.data(), head.size()).append(block);
    }
    EXPECT_THAT(read(bytes, payments), ElementsAre(AllOf(HasSubstr("the block at byte 11 states no schema"),
                                                         HasSubstr("the deltamatch that wrote it, or a newer one"))));
  }
}

TEST(BinarySchema, NamesThatDoNotFitABlockAreRefused) {
  std::string out;
  const Schema large{EdgeModel::events, {{std::string(BinaryBlock::most_bytes, 'x'), {Kind::integer}}}, {}};
  EXPECT_THAT(error_of([&] { BinaryStreamWriter(out, large); }), HasSubstr("more than 1 MiB"));
  EXPECT_EQ(out, "");
}

TEST(BinarySchema, ARefusalOfAStreamWithoutOneSaysWhatToDeclare) {
  const auto stream = open_memory(stream_of({}, 1, 1), "test", declared({}));
  PositionedBatch batch;
  ASSERT_TRUE(stream->next(batch));
  const std::vector<Reject> rejects{{0, RejectReason::bad_value}};
  EXPECT_THAT(error_of([&] { stream->settle(batch, rejects); }),
              AllOf(HasSubstr("test: record 1: bad_value: the record has 2 values, but edges have 0 attributes"),
                    HasSubstr("that the stream was written with, in their order, in --edges, --attributes and")));
}

}  // namespace
}  // namespace deltamatch::ingest
