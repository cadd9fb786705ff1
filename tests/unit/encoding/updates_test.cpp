// Whatever an update holds comes back from its bytes, in both forms, and no other bytes stand for it.
#include "encoding/updates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/properties.hpp"

namespace deltamatch::encoding {
namespace {

using namespace std::string_literals;

/// Draws updates of every shape, with texts and numbers from the limits of their ranges. Heads and labels repeat.
class Draw {
 public:
  /// Rows have up to `most` values.
  explicit Draw(unsigned seed, std::size_t most = max_attributes) : random_(seed), properties_(seed, most) {}

  Update update() {
    Update update;
    if (below(3) != 0) shape_ = random_();
    std::uint64_t shape = shape_;
    const auto flag = [&] { return (shape >>= 1) % 2 == 0; };
    update.kind = static_cast<UpdateKind>(shape >> 60 & 3);
    update.source = id(flag());
    if (flag()) update.source_label = text();
    if (flag()) update.time = number();
    const Head head{update.kind};
    if (head.edge()) {
      update.target = id(flag());
      if (flag()) update.label = text();
      if (flag()) update.target_label = text();
    }
    if (flag()) properties_.add_to(update);
    return update;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::int64_t number() {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 8> edges = {0, -1, 63, 64, -64, -65, Limits::max(), Limits::min()};
    if (below(2) == 0) return edges[below(edges.size())];
    return static_cast<std::int64_t>(random_() >> below(64)) * (below(2) == 0 ? 1 : -1);
  }

  std::string_view text() {
    if (texts_.size() > 20) return texts_[below(texts_.size())];
    std::string& made = texts_.emplace_back(std::array<std::size_t, 6>{0, 1, 5, 127, 128, 300}[below(6)], ' ');
    for (char& c : made) c = static_cast<char>(random_());
    return made;
  }

  Id id(bool is_text) { return is_text ? Id(text()) : Id(number()); }

  std::mt19937_64 random_;
  std::uint64_t shape_ = 0;
  std::deque<std::string> texts_;
  test::PropertiesDraw properties_;
};

bool equal(const Update& a, const Update& b) {
  return a.kind == b.kind && a.source == b.source && a.target == b.target && a.label == b.label &&
         a.source_label == b.source_label && a.target_label == b.target_label && a.time == b.time &&
         test::properties_text(a) == test::properties_text(b);
}

using Form = PackedForm<TextsByFirstUse>;

std::string packed(std::span<const Update> updates) {
  std::string bytes;
  ByteWriter out(bytes);
  Form form;
  put_packed(out, form, updates);
  return bytes;
}

/// The updates, or nothing if they are refused.
std::optional<UpdateBatch> unpacked(std::string_view bytes, std::uint64_t count) {
  ByteReader in(bytes);
  Form form;
  UpdateBatch updates;
  const PackedOutcome outcome = take_packed(in, form, count, [&](const Update& update) { updates.add(update); });
  if (outcome.fault != PackedFault::none || !in.finished()) return std::nullopt;
  return updates;
}

std::string plain(const Update& update) {
  std::string bytes;
  put_plain(bytes, update);
  return bytes;
}

/// Reads an update in the plain form into the batch, or returns false.
bool take_plain(std::string_view bytes, UpdateBatch& updates) {
  ByteReader in(bytes);
  const Head head{static_cast<UpdateKind>(in.byte() & 3), in.number()};
  if (!in.sound() || unreadable(head)) return false;
  PlainForm form;
  Update update;
  update.kind = head.kind;
  take_fields(in, form, head, update);
  if (in.finished()) updates.add(update);
  return in.finished();
}

TEST(Packed, BytesAreAsDocumented) {
  Update first;
  first.source = std::string_view("acct-1");
  first.target = 7;
  first.label = "PAYS";
  first.time = 100;
  Update second = first;
  second.target = 5;
  second.time = 99;
  Update vertex;
  vertex.kind = UpdateKind::insert_vertex;
  vertex.source = -1;
  vertex.source_label = "A";
  EXPECT_EQ(packed(std::array{first, second, vertex}),
            "\x94\x01\x02"  // a run of two insertions of edges: a text as source, a label, a time
            "\x06"
            "acct-1"
            "\x0e\x00\x04PAYS\xc8\x01"
            "\x06"
            "acct-1"
            "\x03\x00\x01"
            "\x22\x01"  // a run of one insertion of a vertex: a label of the source
            "\x01\x01\x01"
            "A"s);
  EXPECT_EQ(packed({}), "");
}

TEST(Packed, WhatIsWrittenIsReadAgain) {
  Draw draw(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Update> updates(draw.below(60));
    for (Update& update : updates) update = draw.update();
    const std::string bytes = packed(updates);
    const auto again = unpacked(bytes, updates.size());
    ASSERT_TRUE(again);
    ASSERT_EQ(again->size(), updates.size());
    for (std::size_t i = 0; i < updates.size(); ++i) ASSERT_TRUE(equal(again->updates()[i], updates[i])) << round << " " << i;
  }
}

TEST(Plain, WhatIsWrittenIsReadAgain) {
  Draw draw(5);
  UpdateBatch again;
  for (int round = 0; round < 3000; ++round) {
    const Update update = draw.update();
    again.clear();
    ASSERT_TRUE(take_plain(plain(update), again)) << round;
    ASSERT_TRUE(equal(again.updates()[0], update)) << round;
  }
}

TEST(Plain, EveryPrefixIsRefusedAndEveryFlippedBitIsRefusedOrReadAsItself) {
  Draw draw(17, 4);
  UpdateBatch again;
  for (int round = 0; round < 100; ++round) {
    const std::string bytes = plain(draw.update());
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_FALSE(take_plain(std::string_view(bytes).substr(0, size), again));
    for (std::size_t bit = 8; bit < 8 * bytes.size(); ++bit) {
      std::string broken = bytes;
      broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
      again.clear();
      if (!take_plain(broken, again)) continue;
      const Update& update = again.updates()[0];
      ASSERT_TRUE(plain(update) == broken || update.label.empty());  // an empty label may be written, and is left out
    }
  }
}

TEST(Packed, EveryPrefixIsRefusedAndEveryFlippedBitIsRefusedOrReadAsItself) {
  Draw draw(11, 4);
  std::size_t accepted = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Update> updates(1 + draw.below(6));
    for (Update& update : updates) update = draw.update();
    const std::string bytes = packed(updates);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_FALSE(unpacked(std::string_view(bytes).substr(0, size), updates.size()));
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string broken = bytes;
      broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
      const auto again = unpacked(broken, updates.size());
      if (!again) continue;
      ++accepted;
      ASSERT_TRUE(packed(again->updates()) == broken || std::ranges::any_of(again->updates(), [](const Update& update) {
                    return update.label.empty();  // may be written, and is left out
                  }));
    }
  }
  EXPECT_GT(accepted, 0U);
}

TEST(Packed, RunsAreChecked) {
  const auto refused = [](const std::vector<encoding::Run>& runs, std::uint64_t count) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const encoding::Run& run : runs) {
      put_run(out, run);
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(run.count, 9); ++i) bytes += "\2\4";
    }
    return !unpacked(bytes, count);
  };
  const Head edge{UpdateKind::insert_edge, 0};
  const Head other{UpdateKind::delete_edge, 0};
  EXPECT_FALSE(refused({{edge, 2}, {other, 1}, {edge, 1}}, 4));
  EXPECT_TRUE(refused({{edge, 2}, {edge, 2}}, 4));
  EXPECT_TRUE(refused({{edge, 0}, {other, 4}}, 4));
  EXPECT_TRUE(refused({{edge, 5}}, 4));
  EXPECT_TRUE(refused({{edge, 3}}, 4));
  EXPECT_TRUE(refused({{edge, std::numeric_limits<std::uint64_t>::max()}}, 4));
}

TEST(Packed, LabelsAreKnownBeforeTheyAreUsed) {
  EXPECT_TRUE(unpacked("\x10\x01\x02\x04\x00\x01L"s, 1));
  EXPECT_FALSE(unpacked("\x10\x01\x02\x04\x01\x01L"s, 1));
  EXPECT_TRUE(unpacked("\x10\x02\x02\x04\x00\x01L\x02\x04\x00"s, 2));
  EXPECT_FALSE(unpacked("\x10\x02\x02\x04\x00\x01L\x02\x04\x01\x01L"s, 2));
}

TEST(Packed, ManyLabelsHaveOneNumberEach) {
  std::vector<std::string> labels;
  for (int i = 0; i < 40; ++i) labels.push_back("label " + std::to_string(i % 20));
  std::string bytes;
  ByteWriter out(bytes);
  TextsByFirstUse writer;
  for (const std::string& label : labels) writer.put(out, label);
  ByteReader in(bytes);
  TextsByFirstUse reader;
  for (const std::string& label : labels) ASSERT_EQ(reader.take(in), label);
  EXPECT_TRUE(in.finished());
  for (const int again : {3, 15}) {  // a text that has a number already, met long ago or lately
    std::string twice;
    ByteWriter forger(twice);
    for (std::uint64_t i = 0; i < 20; ++i) {
      forger.number(i);
      forger.text(labels[i]);
    }
    forger.number(20);
    forger.text(labels[static_cast<std::size_t>(again)]);
    ByteReader forged(twice);
    TextsByFirstUse refuses;
    for (int i = 0; i < 21; ++i) static_cast<void>(refuses.take(forged));
    EXPECT_FALSE(forged.sound());
  }
}

TEST(Packed, LabelsWithTheSameEndsAndLengthTakeTurns) {
  const std::vector<std::string> labels = {"abc", "axc", "abc", "", "axc", "axc", "", "abc", "abcabcabc", "abc"};
  std::string bytes;
  ByteWriter out(bytes);
  TextsByFirstUse writer;
  for (const std::string& label : labels) writer.put(out, label);
  EXPECT_EQ(bytes,
            "\x00\x03"
            "abc\x01\x03"
            "axc\x00\x02\x00\x01\x01\x02\x00\x03\x09"
            "abcabcabc\x00"s);
  ByteReader in(bytes);
  TextsByFirstUse reader;
  for (const std::string& label : labels) ASSERT_EQ(reader.take(in), label);
  EXPECT_TRUE(in.finished());
}

TEST(Heads, WhatThisVersionDoesNotReadIsNamed) {
  const auto reason = [](UpdateKind kind, std::uint64_t fields) { return unreadable({kind, fields}).value_or(""); };
  EXPECT_EQ(reason(UpdateKind::insert_edge, field::of_edge | field::attributes), "");
  EXPECT_EQ(reason(UpdateKind::delete_edge, field::of_edge), "");
  EXPECT_EQ(reason(UpdateKind::insert_vertex, field::of_vertex | field::attributes), "");
  EXPECT_EQ(reason(UpdateKind::delete_vertex, field::of_vertex), "");
  EXPECT_EQ(reason(UpdateKind::insert_vertex, field::of_vertex | field::label_changes), "");
  EXPECT_EQ(reason(UpdateKind::delete_vertex, field::label_changes), "the flags 0x14 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_vertex, field::of_edge), "the flags 0xff have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_edge, field::text_key), "the flags 0x80 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::delete_edge, field::attributes), "the flags 0x100 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::delete_vertex, field::attributes), "the flags 0x100 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_vertex, field::key), "the flags 0x40 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_vertex, field::implied), "the flags 0x200 have no meaning here");
  EXPECT_EQ(unreadable({UpdateKind::insert_vertex, field::implied}, field::implied), std::nullopt);
  const std::uint64_t by_key = field::by_key | field::key;
  EXPECT_EQ(reason(UpdateKind::delete_edge, by_key | field::text_key | field::time), "");
  EXPECT_EQ(reason(UpdateKind::delete_edge, by_key | field::label), "the flags 0x444 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::delete_edge, by_key | field::text_source), "the flags 0x441 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::delete_edge, field::by_key), "the flags 0x400 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_edge, by_key), "the flags 0x440 have no meaning here");
  EXPECT_EQ(reason(UpdateKind::insert_edge, std::uint64_t{1} << 40),
            "it has the field 0x10000000000, which this version does not read");
}

/// The edge of the examples in docs/reference/formats.md, and another one after it.
struct Payments {
  std::array<AttributeValue, 6> values{std::int64_t{1250}, {}, {}, true, std::string_view("web"), 0.5};
  std::array<AttributeValue, 6> other{std::int64_t{1249}, {}, {}, false, std::string_view("web"), 0.5};
  std::array<AttributeValue, 6> third{std::int64_t{1251}, {}, {}, true, std::string_view("web"), 0.5};
  Properties properties{Id(77), values};
  Properties next{Id(79), other};
  Properties last{Id("tx"), third};
  std::vector<Update> updates{{.source = 1, .target = 2, .properties = &properties},
                              {.source = 1, .target = 3, .properties = &next},
                              {.source = 1, .target = 3, .properties = &last}};
};

TEST(Plain, KeysAndAttributesAreAsDocumented) {
  const Payments payments;
  EXPECT_EQ(plain(payments.updates[0]),
            "\x10\xc0\x02"  // an insertion of an edge with a key and attributes
            "\x02\x04"
            "\x9a\x01"
            "\x05\x02\x81\x01\x04\x03"  // an integer, two NULLs, true, a symbol, a real
            "\xc4\x13"
            "\x03web"
            "\x00\x00\x00\x00\x00\x00\xe0\x3f"s);
  Update deletion = payments.updates[0];
  deletion.kind = UpdateKind::delete_edge;
  EXPECT_EQ(plain(deletion), "\x11\x40\x02\x04\x9a\x01"s);
  deletion.by_key = true;
  EXPECT_EQ(plain(deletion), "\x11\xc0\x08\x9a\x01"s);
}

TEST(Packed, KeysAndAttributesAreAsDocumented) {
  const Payments payments;
  EXPECT_EQ(packed(payments.updates),
            "\x80\x0a\x02"  // a run of two insertions of edges with keys and attributes
            "\x02\x04\x9a\x01"
            "\x00\x05\x02\x81\x01\x04\x03"
            "\xc4\x13"
            "\x00\x03web"
            "\x00\x00\x00\x00\x00\x00\xe0\x3f"
            "\x00\x02\x04"                  // the key is larger by 2
            "\x01\x05\x02\x81\x00\x04\x03"  // another shape
            "\x01\x00"                      // the integer is smaller by 1, the symbol known
            "\x00\x00\x00\x00\x00\x00\xe0\x3f"
            "\x80\x0e\x01"  // a run of one, whose key is a text
            "\x00\x00\x02tx"
            "\x00"
            "\x04\x00"
            "\x00\x00\x00\x00\x00\x00\xe0\x3f"s);
}

TEST(Shapes, EachRowHasOne) {
  std::vector<AttributeValue> row;
  for (const std::size_t nulls : {1, 2, 127, 128, 129, 255}) {
    std::string shape;
    append_shape(shape, std::vector<AttributeValue>(nulls));
    EXPECT_EQ(shape.size(), nulls > 128 ? 2U : 1U);
    ASSERT_TRUE(read_shape(shape, row));
    EXPECT_EQ(row, std::vector<AttributeValue>(nulls));
  }
  for (const std::string& none : {""s, "\x05"s, "\x7f"s, "\x80\x80"s, "\x81\x80"s, "\xff\xff"s, std::string(256, '\2')})
    EXPECT_FALSE(read_shape(none, row)) << testing::PrintToString(none);
  EXPECT_TRUE(read_shape("\xff\xfe"s, row));
  EXPECT_EQ(row.size(), 255U);
  EXPECT_TRUE(read_shape("\x80\x02\x80"s, row));
}

TEST(Numbers, HaveOneEncodingEach) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1} << 35, ~std::uint64_t{0}}) {
    std::string bytes;
    put_number(bytes, value);
    ByteReader in(bytes);
    EXPECT_EQ(in.number(), value);
    EXPECT_TRUE(in.finished());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ByteReader cut(std::string_view(bytes).substr(0, size));
      EXPECT_EQ(cut.number(), 0U);
      EXPECT_FALSE(cut.sound());
    }
  }
  for (const std::string& none : {"\x80\x00"s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s, std::string(11, '\xff')}) {
    ByteReader in(none);
    EXPECT_EQ(in.number(), 0U);
    EXPECT_FALSE(in.sound());
    EXPECT_EQ(in.text(), "");
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(unfold(fold(value)), value);
    for (const std::int64_t other : {std::int64_t{5}, INT64_MIN}) EXPECT_EQ(advance(other, difference(other, value)), value);
  }
}

}  // namespace
}  // namespace deltamatch::encoding
