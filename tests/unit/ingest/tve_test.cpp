#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

TEST(Tve, Graphs) {
  EXPECT_THAT(decode(Format::tve, {"t 3112 12519", "v 0 3 150", "v 1 0", "v 2", "e 0 1", "e 4670 4671 0", "# done", ""}),
              ElementsAre("+ 0 (3)", "+ 1 (0)", "+ 2", "+ 0 -> 1", "+ 4670 -> 4671 [0]"));
}

TEST(Tve, UpdateStreams) {
  EXPECT_THAT(decode(Format::tve, {"e 0 1 5", "-e 0 1 5", "-e 0 1", "v 7 x", "-v 7", "+e 1 2", "+v 8 y"}),
              ElementsAre("+ 0 -> 1 [5]", "- 0 -> 1 [5]", "- 0 -> 1", "+ 7 (x)", "- 7", "+ 1 -> 2", "+ 8 (y)"));
}

TEST(Tve, DeletionsByNegativeIds) {
  CodecOptions options;
  options.negative_ids = true;
  EXPECT_THAT(
      decode(Format::tve, {"e -2 -15786", "e 0 1745", "e -1 -1", "e -1 5", "-e -1 -2", "e -9223372036854775808 -1"}, options),
      ElementsAre("- 1 -> 15785", "+ 0 -> 1745", "- 0 -> 0", HasSubstr("! bad_id: only one id is negative"),
                  HasSubstr("! bad_id"), "- 9223372036854775807 -> 0"));
  options.ids = IdKind::string;
  EXPECT_THAT(error_of([&] { (void)make_codec(Format::tve, options); }), HasSubstr("need integer ids"));
}

TEST(Tve, NegativeIdsAreRefusedUnlessAskedFor) {
  EXPECT_THAT(decode(Format::tve, {"e -2 -15786", "e 1 -3", "v -1 x"}),
              ElementsAre(HasSubstr("! bad_id: an id is negative (of a stream, --negative-ids"), HasSubstr("! bad_id"),
                          HasSubstr("! bad_id")));
}

TEST(Tve, AGarbageLineIsRefusedAndTheRestIsRead) {
  EXPECT_THAT(decode(Format::tve, {"e 1 2", "hello world", "x 1 2", "-", "e", "e 1", "e 1 2 3 4", "e a b",
                                   "e 1 99999999999999999999", "v", "v 1 2 3 4", "-x 1 2", "e 2 3"}),
              ElementsAre("+ 1 -> 2", "! malformed: `hello` is not one of t, v, e, -v and -e", HasSubstr("! malformed"),
                          HasSubstr("! malformed"), HasSubstr("! wrong_arity"), HasSubstr("! wrong_arity"),
                          "! wrong_arity: 5 fields, but an edge has 3 or 4", "! bad_id: source `a` is not an integer",
                          "! bad_id: target `99999999999999999999` exceeds 64 bits", HasSubstr("! wrong_arity"),
                          HasSubstr("! wrong_arity"), HasSubstr("! malformed"), "+ 2 -> 3"));
}

TEST(Tve, AHeaderHoldsTwoSizes) {
  CodecOptions whole;
  whole.whole = true;
  for (const CodecOptions& options : {CodecOptions(), whole}) {
    EXPECT_THAT(
        decode(Format::tve,
               {"t 3 x", "t x y", "t 3", "t", "t 3 -3", "t -3 3", "t 3.0 3", "t 18446744073709551616 3",
                "t 3 18446744073709551615", "t 3 3 3", "t # x", "t 3 1", "e 0 1"},
               options),
        ElementsAre("! malformed: the header's `x` is not an integer", "! malformed: the header's `x` is not an integer",
                    "! wrong_arity: 2 fields, but a header has 3: t N M", HasSubstr("! wrong_arity: 1 fields"),
                    "! malformed: the header's `-3` is negative", "! malformed: the header's `-3` is negative",
                    "! malformed: the header's `3.0` is not an integer",
                    "! malformed: the header's `18446744073709551616` exceeds 64 bits",
                    "! malformed: the header's `18446744073709551615` exceeds 64 bits",
                    "! wrong_arity: 4 fields, but a header has 3: t N M",
                    "! malformed: a header of this kind is written t # NUMBER", "+ 0 -> 1"));
  }
  EXPECT_THAT(decode(Format::tve, {"t 2 1", "e 0 1", "t 2 1"}), ElementsAre("+ 0 -> 1"));
  EXPECT_THAT(decode(Format::tve, {"t 2 1", "e 0 1", "t 2 1"}, whole),
              ElementsAre("+ 0 -> 1", "! malformed: there is a second header, but a file holds one graph"));
}

TEST(Tve, AVerticesLabelDoesNotStickToTheNextEdge) {
  const auto codec = make_codec(Format::tve, {});
  (void)codec->decode("v 1 A");
  const Decoded edge = codec->decode("e 1 2");
  ASSERT_EQ(edge.updates.size(), 1u);
  EXPECT_FALSE(edge.updates[0].source_label);
  EXPECT_FALSE(edge.updates[0].time);
}

}  // namespace
}  // namespace deltamatch::ingest
