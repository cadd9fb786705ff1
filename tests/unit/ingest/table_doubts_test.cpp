// What lists of edges and tables may mean otherwise: sizes above edges, numbers as labels, ids in two forms.
#include "ingest/codec/id_doubts.hpp"
#include "ingest/codec/label_numbers.hpp"
#include "ingest/codec/size_line.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> codes(const std::vector<Doubts::Doubt>& doubts) {
  std::vector<std::string> found;
  for (const Doubts::Doubt& doubt : doubts) found.push_back(doubt.code);
  return found;
}

Update edge(const Id& source, const Id& target) {
  Update update;
  update.source = source;
  update.target = target;
  return update;
}

TEST(ReadSpelling, KnowsTheFormsOfAnInteger) {
  const auto spells = [](std::string_view text, Spelling form, std::optional<std::int64_t> value) {
    const SpeltInteger spelt = read_spelling(text);
    EXPECT_EQ(spelt.spelling, form) << text;
    EXPECT_EQ(spelt.value, value) << text;
  };
  spells("0", Spelling::canonical, 0);
  spells("-7", Spelling::canonical, -7);
  spells("-9223372036854775808", Spelling::canonical, std::numeric_limits<std::int64_t>::min());
  spells("9223372036854775808", Spelling::canonical, std::nullopt);
  spells("007", Spelling::padded, 7);
  spells("+7", Spelling::padded, 7);
  spells("-0", Spelling::padded, 0);
  spells("1.0", Spelling::fraction, 1);
  spells("0.00", Spelling::fraction, 0);
  spells("-12.000", Spelling::fraction, -12);
  spells("1e3", Spelling::exponent, 1000);
  spells("4.1E+15", Spelling::exponent, 4'100'000'000'000'000);
  spells("1500E-2", Spelling::exponent, 15);
  spells("1,001", Spelling::grouped, 1001);
  spells("-12,345,678", Spelling::grouped, -12'345'678);
  for (const char* text : {"1,2", "1,0011", "1234,567", ",001", "1,001,", "1,001.5", "9,223,372,036,854,775,808"})
    spells(text, Spelling::none, std::nullopt);
  spells("0e9999", Spelling::exponent, 0);
  spells("6.02E+23", Spelling::exponent, std::nullopt);
  for (const char* text : {"", "-", "1.5", "1.", ".5", "1e", "1e+", "1e-+3", "1e99999", "1.2.3", "7a", "0x10", "1 "})
    spells(text, Spelling::none, std::nullopt);
}

TEST(IdDoubts, CompareSpellingsOnlyOfTextFields) {
  for (const bool spellings : {false, true}) {
    Doubts doubts;
    doubts.watch_ids(spellings);
    doubts.see_ids(edge(Id(7), Id(8)));
    doubts.see_ids(edge(Id(std::string_view("007")), Id(std::string_view("8.0"))));
    doubts.see_ids(edge(Id(std::string_view("1e+05")), Id(9)));
    if (spellings)
      EXPECT_THAT(codes(doubts.all(0)), ElementsAre("ids_alike", "id_shortened"));
    else
      EXPECT_THAT(doubts.all(0), IsEmpty());
  }
}

TEST(IdDoubts, BeyondWhatIsRememberedSpellingsAreStillFoundIfNumbersGoOn) {
  Doubts doubts;
  doubts.watch_ids(true);
  for (std::int64_t i = 0; i < (1 << 17); ++i) doubts.see_ids(edge(Id(i), Id(i)));
  doubts.see_ids(edge(Id(std::string_view("0999999")), Id(1)));
  EXPECT_THAT(doubts.all(0), IsEmpty());
  doubts.see_ids(edge(Id(999'999), Id(1)));
  EXPECT_THAT(codes(doubts.all(0)), ElementsAre("ids_alike"));
}

TEST(IdDoubts, AreComparedBetweenInputs) {
  Doubts table;
  table.watch_ids(true);
  table.see_ids(edge(Id(std::string_view("1.0")), Id(std::string_view("2.0"))));
  Doubts json;
  json.watch_ids();
  json.see_ids(edge(Id(2), Id(3)));
  EXPECT_THAT(compare_ids(table, "t.csv", json, "j.jsonl")->what, HasSubstr("id `2.0` here"));
  EXPECT_THAT(compare_ids(json, "j.jsonl", table, "t.csv")->what, HasSubstr("id `2.0` in t.csv"));
  EXPECT_FALSE(compare_ids(json, "j.jsonl", json, "k.jsonl"));
  EXPECT_FALSE(compare_ids(json, "j.jsonl", Doubts(), "e.txt"));
}

/// The code of the doubt about a first line above edges; empty if there is none.
std::string about_sizes(std::string_view line, const std::vector<std::pair<std::int64_t, std::int64_t>>& edges) {
  std::optional<SizeLine> sizes = SizeLine::of(line, 1);
  if (!sizes) return "none";
  std::int64_t first = 0;
  std::int64_t second = 0;
  (void)std::sscanf(std::string(line).c_str(), "%ld %ld", &first, &second);
  std::uint64_t number = 1;
  if (!sizes->see(edge(Id(first), Id(second)), number)) return {};
  for (const auto& [source, target] : edges) {
    if (!sizes->see(edge(Id(source), Id(target)), ++number)) return {};
  }
  const auto doubt = sizes->doubt();
  return doubt ? doubt->code : std::string();
}

TEST(SizeLine, IsOneIfItStatesWhatFollows) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> from_1 = {{1, 2}, {2, 3}, {3, 1}, {1, 3}};
  const std::vector<std::pair<std::int64_t, std::int64_t>> from_0 = {{0, 1}, {1, 2}, {2, 0}, {0, 2}};
  for (const auto& edges : {from_1, from_0}) {
    EXPECT_EQ(about_sizes("3 4", edges), "sizes_as_edge");
    EXPECT_EQ(about_sizes("3 3 4", edges), "sizes_as_edge");
    EXPECT_EQ(about_sizes("3 4 0", edges), "none");  // 0 is no size
    EXPECT_EQ(about_sizes("3 4 1", edges), "sizes_as_edge");
    EXPECT_EQ(about_sizes("3 5", edges), "");
    EXPECT_EQ(about_sizes("4 3", edges), "");
  }
  EXPECT_EQ(about_sizes("3 4", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), "");  // from 0 to 3 are four
  EXPECT_EQ(about_sizes("2 4", from_1), "");
  EXPECT_EQ(about_sizes("2 2", {{1, 2}, {2, 1}}), "");  // too few
  // A small graph whose vertices all occur, from 1 or from 0.
  EXPECT_EQ(about_sizes("5 4", {{1, 2}, {2, 3}, {3, 4}, {4, 5}}), "sizes_as_edge");
  EXPECT_EQ(about_sizes("5 4", {{0, 1}, {1, 2}, {2, 3}, {3, 4}}), "sizes_as_edge");
  EXPECT_EQ(about_sizes("3 2", {{1, 2}, {2, 3}}), "sizes_as_edge");
  EXPECT_EQ(about_sizes("5 3", {{1, 2}, {2, 3}, {4, 5}}), "sizes_as_edge");
  // Edges in descending order: a ring, and a clique.
  for (std::int64_t n = 3; n < 20; ++n) {
    std::vector<std::pair<std::int64_t, std::int64_t>> ring;
    for (std::int64_t i = n - 1; i > 1; --i) ring.emplace_back(i, i - 1);
    ring.emplace_back(1, n);
    EXPECT_EQ(about_sizes(fmt::format("{} {}", n, n - 1), ring), "");
  }
  EXPECT_EQ(about_sizes("3 2", {{3, 1}, {2, 1}}), "");
  EXPECT_EQ(about_sizes("5 4", {{1, 2}, {2, 3}, {3, 1}, {3, 5}}), "");  // 4 does not occur
  for (const char* line : {"5", "1 2 3 4", "a b", "-3 4", "5 0", "1.5 2"}) EXPECT_EQ(about_sizes(line, from_1), "none");
}

std::string about_labels(const std::vector<std::string>& labels) {
  LabelNumbers numbers;
  for (const std::string& label : labels) {
    if (!numbers.see(label, {1, 0})) break;
  }
  const auto doubt = numbers.doubt({});
  return doubt ? doubt->what : std::string();
}

TEST(LabelNumbers, AreDoubtedIfTheyLookLikeWeightsOrTimes) {
  EXPECT_THAT(about_labels({"1", "0.5"}), HasSubstr("fractional or negative"));
  EXPECT_THAT(about_labels({"1", "-1"}), HasSubstr("fractional or negative"));
  EXPECT_THAT(about_labels({"1700000000", "1700000001"}), HasSubstr("as times do"));
  EXPECT_THAT(about_labels({"1700000000000"}), HasSubstr("as times do"));
  EXPECT_THAT(about_labels({"2023-05-01T10:00:00Z"}), HasSubstr("as times do"));
  std::vector<std::string> many;
  for (int i = 0; i < 16; ++i) many.push_back(std::to_string(i));
  EXPECT_THAT(about_labels(many), HasSubstr("mostly different"));
  many.pop_back();
  EXPECT_EQ(about_labels(many), "");
  EXPECT_EQ(about_labels({}), "");
  EXPECT_EQ(about_labels({"", "1", "2"}), "");
  EXPECT_EQ(about_labels({"0.5", "-1", "T"}), "");
  EXPECT_EQ(about_labels({"-", "0.5.1", "1e3"}), "");
}

TEST(LabelNumbers, LookAtABoundedNumber) {
  LabelNumbers numbers;
  std::uint64_t seen = 1;
  while (numbers.see(std::to_string(seen % 7), {seen, 0})) ++seen;
  EXPECT_EQ(seen, 1u << 16);
  EXPECT_FALSE(numbers.doubt({}));
}

}  // namespace
}  // namespace deltamatch::ingest
