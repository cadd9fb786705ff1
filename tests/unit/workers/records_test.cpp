// The records by which workers know of each other survive their text, and damage is named.
#include "ingest/service/workers/records.hpp"

#include <gtest/gtest.h>

#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest::workers {
namespace {

Cut cut() {
  Cut cut{.mark = {}, .first = 7, .places = {{"a", Change::none}, {"b", Change::move}, {"\"c\"", Change::take_over}}};
  cut.mark.batch = 18;
  cut.mark.ends[{"payments", 0}] = 1200;
  cut.mark.digest = RunningDigest{{1, 2}, {3, 4}};
  return cut;
}

TEST(Records, SurviveTheirText) {
  const std::string text = to_json(cut());
  EXPECT_EQ(text.substr(0, text.find("\"mark\"")),
            R"({"v":1,"workers":["a","b","\"c\""],"moves":[1],"take_overs":[2],"first":7,)");
  EXPECT_EQ(parse_cut(text, "here"), cut());

  const SlotProgress progress{.slot = 3, .batch = 17, .digest = RunningDigest{{1, 2}, {3, ~std::uint64_t{0}}}};
  EXPECT_EQ(to_json(progress), R"({"v":1,"slot":3,"batch":17,"digest":{"begin":"00000000000000010000000000000002",)"
                               R"("now":"0000000000000003ffffffffffffffff"}})");
  EXPECT_EQ(parse_slot_progress(to_json(progress), "here"), progress);
  const SlotProgress unknown{.slot = 0, .batch = 1};
  EXPECT_EQ(parse_slot_progress(to_json(unknown), "here"), unknown);

  const Claim claim{.worker = "münchen-1", .applied = 17, .spare = true, .leaves = true, .gone = false, .semantics = 1};
  EXPECT_EQ(to_json(claim),
            R"({"v":1,"worker":"münchen-1","applied":17,"spare":true,"leaves":true,"gone":false,"semantics":1})");
  EXPECT_EQ(parse_claim(to_json(claim), "here"), claim);
}

TEST(Records, OfOtherKindsAreNone) {
  for (const std::string& text :
       {std::string(), to_json(cut().mark), to_json(cut()), to_json(SlotProgress{}), to_json(Claim{})}) {
    EXPECT_EQ(parse_cut(text, "here").has_value(), text == to_json(cut())) << text;
    EXPECT_EQ(parse_slot_progress(text, "here").has_value(), text == to_json(SlotProgress{})) << text;
    EXPECT_EQ(parse_claim(text, "here").has_value(), text == to_json(Claim{})) << text;
  }
}

/// Replaces a part of the text.
std::string with(std::string text, const std::string& old, const std::string& now) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

TEST(Records, DamageIsNamed) {
  const std::string whole = to_json(cut());
  for (const auto& [old, now] : {std::pair{R"("moves":[1])", R"("moves":[3])"},
                                 {R"("moves":[1])", R"("moves":[2])"},
                                 {R"("moves":[1])", R"("moves":[-1])"},
                                 {R"("moves":[1])", R"("moves":1)"},
                                 {R"("first":7)", R"("first":0)"},
                                 {R"("first":7)", R"("first":19)"},
                                 {R"("first":7)", R"("last":7)"},
                                 {R"("batch":18)", R"("batch":"x")"},
                                 {R"(["a","b","\"c\""])", R"([])"},
                                 {R"(["a","b","\"c\""])", R"(["a",1])"}}) {
    EXPECT_THROW(static_cast<void>(parse_cut(with(whole, old, now), "here")), Error) << now;
  }
  EXPECT_THROW(static_cast<void>(parse_cut(whole.substr(0, whole.size() - 1), "here")), Error);
  for (const char* text : {R"({"v":1,"slot":-3,"batch":1})", R"({"v":1,"slot":4294967296,"batch":1})", R"({"v":1,"slot":1})",
                           R"({"v":1,"slot":1,"batch":1,"digest":{"begin":"0","now":"1"}})"}) {
    EXPECT_THROW(static_cast<void>(parse_slot_progress(text, "here")), Error) << text;
  }
  for (const char* text : {R"({"v":1,"worker":"a","applied":1,"wanted":[2,2],"semantics":1})", R"({"v":1,"worker":"a"})",
                           R"({"v":1,"worker":"a","applied":1,"wanted":3,"semantics":1})",
                           R"({"v":1,"worker":7,"applied":1,"wanted":[],"semantics":1})"}) {
    EXPECT_THROW(static_cast<void>(parse_claim(text, "here")), Error) << text;
  }
}

TEST(Records, ANameThatIsNotUtf8IsRefused) {
  Cut bad = cut();
  bad.places[0].worker = "\xff";
  EXPECT_THROW(static_cast<void>(to_json(bad)), Error);
  EXPECT_THROW(static_cast<void>(to_json(Claim{.worker = "\xff"})), Error);
}

}  // namespace
}  // namespace deltamatch::ingest::workers
