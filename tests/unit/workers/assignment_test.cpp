// Which worker publishes what, as the cuts say, and which map comes next.
#include "ingest/service/workers/assignment.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "a" has it, "b<" has moved there, "c!" takes it over.
Place place(const std::string& text) {
  const Change change = text.ends_with('<') ? Change::move : text.ends_with('!') ? Change::take_over : Change::none;
  return {.worker = change == Change::none ? text : text.substr(0, text.size() - 1), .change = change};
}

Cut cut(std::uint64_t batch, const std::vector<std::string>& places) {
  Cut cut{.mark = {}, .first = 1, .places = {}};
  cut.mark.batch = batch;
  for (const std::string& text : places) cut.places.push_back(place(text));
  return cut;
}

std::vector<std::string> texts(const std::vector<Place>& places) {
  std::vector<std::string> texts;
  for (const Place& each : places) {
    texts.push_back(each.worker + (each.change == Change::move ? "<" : each.change == Change::take_over ? "!" : ""));
  }
  return texts;
}

CutBook book(const std::vector<std::vector<std::string>>& cuts, std::uint64_t first = 1) {
  CutBook book;
  for (const auto& places : cuts) book.add(cut(first++, places));
  return book;
}

TEST(CutBook, TheCutOfABatchSaysWhoPublishesIt) {
  const CutBook cuts = book({{"a"}, {"a"}, {"b<"}, {"b"}});
  EXPECT_EQ(cuts.publisher(0, 2), "a");
  EXPECT_EQ(cuts.publisher(0, 3), "b");
  EXPECT_THAT(cuts.owing(0, 0), ElementsAre("b", "a"));
  EXPECT_THAT(cuts.owing(0, 2), ElementsAre("b"));
  EXPECT_THAT(cuts.owing(0, 4), IsEmpty());
}

TEST(CutBook, TheLastHeirPublishesWhatIsBeforeItsCut) {
  const CutBook cuts = book({{"a"}, {"b!"}, {"b"}, {"c!"}, {"d<"}});
  for (const std::uint64_t batch : {1U, 2U, 3U, 4U}) EXPECT_EQ(cuts.publisher(0, batch), "c");
  EXPECT_EQ(cuts.publisher(0, 5), "d");
  EXPECT_THAT(cuts.owing(0, 0), ElementsAre("d", "c"));
}

TEST(CutBook, ForgetsAllButTheNewest) {
  CutBook cuts = book({{"a"}, {"a"}, {"b<"}}, 7);
  EXPECT_EQ(cuts.oldest(), 7U);
  cuts.forget_before(8);
  EXPECT_FALSE(cuts.holds(7));
  EXPECT_TRUE(cuts.holds(8));
  cuts.forget_before(100);
  EXPECT_EQ(cuts.oldest(), 9U);
  EXPECT_EQ(cuts.newest(), 9U);
  cuts.add(cut(8, {"z"}));  // an old one that comes again
  EXPECT_EQ(cuts.oldest(), 9U);
}

TEST(CutBook, RefusesGapsOtherSlotsAndContradictions) {
  CutBook cuts = book({{"a", "b"}}, 5);
  cuts.add(cut(5, {"a", "b"}));
  const auto refused = [&](const Cut& wrong) -> std::string {
    try {
      cuts.add(wrong);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refused(cut(7, {"a", "b"})), HasSubstr("cut of batch 7: it follows the cut of batch 5"));
  EXPECT_THAT(refused(cut(6, {"a"})), HasSubstr("it has 1 slots, and the cut before it has 2"));
  EXPECT_THAT(refused(cut(5, {"b", "a"})), HasSubstr("two different cuts of this batch"));
  EXPECT_EQ(cuts.newest(), 5U);
}

TEST(NextPlaces, TheFirstMapDividesSlotsEvenly) {
  const std::vector<std::uint64_t> progress(5);
  const std::vector<Member> members = {{.worker = "b"}, {.worker = "a"}};
  EXPECT_THAT(texts(next_places({}, progress, members)), ElementsAre("a<", "b<", "a<", "b<", "a<"));
  const std::vector<Member> wanting = {{.worker = "a"}, {.worker = "b", .wanted = {0, 1}}};
  EXPECT_THAT(texts(next_places({}, progress, wanting)), ElementsAre("b<", "b<", "a<", "a<", "a<"));
}

TEST(NextPlaces, ASlotMovesToTheOnlyOneThatWantsItAndKeepsUp) {
  const CutBook cuts = book({{"a", "a", "a"}});
  const std::vector<std::uint64_t> progress(3, 1);
  const std::vector<Member> members = {{.worker = "a"},
                                       {.worker = "b", .wanted = {0, 1}},
                                       {.worker = "c", .wanted = {1}},
                                       {.worker = "d", .wanted = {2}, .keeps_up = false}};
  EXPECT_THAT(texts(next_places(cuts, progress, members)), ElementsAre("b<", "a", "a"));
  EXPECT_FALSE(needs_take_over(cuts, progress, members));
}

TEST(NextPlaces, ASpareTakesOverFirst) {
  const CutBook cuts = book({{"a", "b", "gone", "gone"}});
  const std::vector<std::uint64_t> progress(4, 1);
  const std::vector<Member> members = {{.worker = "a"}, {.worker = "b"}, {.worker = "spare"}};
  EXPECT_TRUE(needs_take_over(cuts, progress, members));
  EXPECT_THAT(texts(next_places(cuts, progress, members)), ElementsAre("a", "b", "spare!", "a!"));
  const std::vector<Member> late = {{.worker = "a"}, {.worker = "b"}, {.worker = "joins", .keeps_up = false}};
  EXPECT_THAT(texts(next_places(cuts, progress, late)), ElementsAre("a", "b", "a!", "b!"));
  const std::vector<Member> alone = {{.worker = "joins", .keeps_up = false}};
  EXPECT_THAT(texts(next_places(cuts, progress, alone)), ElementsAre("joins!", "joins!", "joins!", "joins!"));
}

TEST(NextPlaces, WhatOneThatIsGoneStillOwesIsTakenOver) {
  const CutBook cuts = book({{"gone"}, {"gone"}, {"a<"}});
  const std::vector<Member> members = {{.worker = "a"}, {.worker = "b"}};
  EXPECT_THAT(texts(next_places(cuts, std::vector<std::uint64_t>{1}, members)), ElementsAre("a!"));
  // If that is published, the slot has simply moved.
  EXPECT_THAT(texts(next_places(cuts, std::vector<std::uint64_t>{2}, members)), ElementsAre("a"));
}

TEST(NextPlaces, WithoutMembersNothingChanges) {
  const CutBook cuts = book({{"a", "b<"}});
  EXPECT_THAT(texts(next_places(cuts, std::vector<std::uint64_t>(2), {})), ElementsAre("a", "b"));
  EXPECT_FALSE(needs_take_over(cuts, std::vector<std::uint64_t>(2), {}));
}

}  // namespace
}  // namespace deltamatch::ingest::workers
