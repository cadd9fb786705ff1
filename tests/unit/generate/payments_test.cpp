#include "generate/payments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <source_dir.hpp>

#include "brute_force.hpp"
#include "deltamatch/error.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

using test::written;

constexpr Timestamp hour = 3'600LL * 1'000'000;

// Few accounts and much traffic. Any pattern that the background could form by accident would occur here.
PaymentsOptions crowded(std::uint64_t seed = 1) {
  PaymentsOptions options;
  options.updates = 1'500;
  options.accounts = 110;
  options.merchants = 6;
  options.atms = 2;
  options.planted = {2, 2, 2, 2, 2, 2};
  options.charge_backs = 0.05;
  options.recalled = 0.3;
  options.repeated = 0.4;
  options.duration = 48 * hour;
  options.window = 12 * hour;
  options.planted_span = 2 * hour;
  options.seed = seed;
  return options;
}

std::vector<PlantedKind> kinds() {
  std::vector<PlantedKind> result;
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind) result.push_back(static_cast<PlantedKind>(kind));
  return result;
}

// The standing patterns as the program reads them.
Query standing(std::string_view name) {
  const auto path = std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "config" / "patterns" / (std::string(name) + ".pattern");
  return parse_pattern(test::read_text(path), name, path.string());
}

TEST(Payments, RecordsAreAsManyAsAskedAndInOrderOfTime) {
  for (const std::uint64_t updates : {1'000U, 20'000U}) {
    PaymentsOptions options = crowded();
    options.updates = updates;
    std::uint64_t count = 0;
    Timestamp last = options.start;
    const auto summary = generate_payments(options, [&](const PaymentRecord& record) {
      ++count;
      EXPECT_GE(*record.update.time, last);
      last = *record.update.time;
      EXPECT_NE(record.update.source, record.update.target);
      EXPECT_GT(record.amount, 0U);
    });
    EXPECT_EQ(count, updates);
    EXPECT_EQ(summary.inserts + summary.deletes, updates);
    EXPECT_EQ(summary.last_time, last);
    EXPECT_NEAR(static_cast<double>(last - summary.first_time), static_cast<double>(options.duration),
                0.15 * static_cast<double>(options.duration));
    EXPECT_EQ(summary.planted.size(), 12U);
  }
}

TEST(Payments, FirstRowsAreGolden) {
  PaymentsOptions options;
  options.updates = 20'000;
  options.planted = {50, 50, 50, 50, 50, 50};
  options.amounts = true;
  std::string truth;
  const std::string rows =
      written([&](std::FILE* stream) { truth = written([&](std::FILE* out) { write_payments(options, stream, out); }); });
  EXPECT_THAT(rows, testing::StartsWith("op,source,target,label,source_label,target_label,time,amount\n"
                                        "+,acct-47101,shop-1752,PAYMENT,Account,Merchant,1700000002.061137,119291\n"));
  test::Checksum sum;
  sum.add(rows);
  sum.add(truth);
  EXPECT_EQ(sum.value(), 3310130916314944015U);
}

TEST(Payments, SeedsDiffer) {
  const auto rows = [](std::uint64_t seed) {
    return written([&](std::FILE* stream) { write_payments(crowded(seed), stream); });
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
}

TEST(Payments, AmountsDoNotChangeTheStream) {
  PaymentsOptions options = crowded();
  const auto rows = [&] { return test::split(written([&](std::FILE* stream) { write_payments(options, stream); }), '\n'); };
  const auto without = rows();
  options.amounts = true;
  const auto with = rows();
  ASSERT_EQ(without.size(), with.size());
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_EQ(with[i].substr(0, with[i].rfind(',')), without[i]);
}

// Replays a stream under a window. Compares the living edges with the truth after every instant.
class Truth {
 public:
  explicit Truth(const PaymentsOptions& options) : options_(options) {
    for (const PlantedKind kind : kinds()) queries_.push_back(standing(planted_name(kind)));
  }

  void check() {
    std::vector<std::pair<Update, PlainGraph::Key>> records;
    const auto summary = generate_payments(options_, [&](const PaymentRecord& record) {
      const Update& u = record.update;
      records.emplace_back(u, PlainGraph::Key{test::name_of(u.source), std::string(u.label), test::name_of(u.target)});
    });
    ASSERT_EQ(summary.planted.size(), 12U);
    for (std::size_t i = 0; i < records.size(); ++i) {
      apply(records[i].first, records[i].second);
      const Timestamp now = *records[i].first.time;
      if (i + 1 < records.size() && *records[i + 1].first.time == now) continue;
      expire(now);
      compare(summary, now);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(appeared_.size(), 12U) << "a planted pattern never lived";
  }

 private:
  using PlainGraph = test::PlainGraph;

  void apply(const Update& update, const PlainGraph::Key& key) {
    if (update.kind == UpdateKind::insert_edge) {
      graph_.labels[std::get<0>(key)] = *update.source_label;
      graph_.labels[std::get<2>(key)] = *update.target_label;
      changed_ |= graph_.insert(key);
      times_[key] = *update.time;
    } else {
      EXPECT_TRUE(graph_.erase(key)) << "a charge-back of nothing";
      changed_ = true;
      times_.erase(key);
    }
  }

  void expire(Timestamp now) {
    if (options_.window == 0) return;
    std::erase_if(times_, [&](const auto& entry) {
      if (entry.second + options_.window > now) return false;
      changed_ = graph_.erase(entry.first) || changed_;
      return true;
    });
  }

  void compare(const PaymentsSummary& summary, Timestamp now) {
    if (changed_) {
      for (std::size_t kind = 0; kind < queries_.size(); ++kind)
        found_[kind] = test::PlainMatcher(graph_, queries_[kind]).run();
      changed_ = false;
    }
    std::array<std::set<std::vector<std::string>>, planted_kind_count> expected;
    for (const PlantedPattern& pattern : summary.planted) {
      if (pattern.closes > now || (pattern.end != PlantedEnd::alive && pattern.vanishes <= now)) continue;
      expected[static_cast<std::size_t>(pattern.kind)].insert(pattern.vertices);
      appeared_.insert(pattern.vertices);
    }
    for (std::size_t kind = 0; kind < queries_.size(); ++kind) {
      std::set<std::vector<std::string>> found;
      for (const test::Names& names : found_[kind]) found.insert(test::texts_of(names));
      EXPECT_EQ(found, expected[kind]) << queries_[kind].name << " at " << now;
    }
  }

  const PaymentsOptions options_;
  std::vector<Query> queries_;
  PlainGraph graph_;
  std::map<PlainGraph::Key, Timestamp> times_;
  bool changed_ = false;
  std::array<std::set<test::Names>, planted_kind_count> found_;
  std::set<std::vector<std::string>> appeared_;
};

TEST(Payments, TruthIsWhatABruteForceMatcherFindsAtEveryInstant) {
  for (const std::uint64_t seed : {1U, 2U}) {
    SCOPED_TRACE(seed);
    Truth(crowded(seed)).check();
  }
}

TEST(Payments, TruthHoldsForNumbersAsIds) {
  PaymentsOptions options = crowded(4);
  options.ids = IdStyle::number;
  Truth(options).check();
}

TEST(Payments, TruthHoldsWithoutAWindow) {
  PaymentsOptions options = crowded(5);
  options.updates = 800;
  options.window = 0;
  Truth(options).check();
}

TEST(Payments, EveryEndOccursAndEveryPatternOutlivesABatch) {
  PaymentsOptions options = crowded();
  options.accounts = 4'000;
  options.updates = 20'000;
  options.planted = {60, 60, 60, 60, 60, 60};
  const auto summary = generate_payments(options, [](const PaymentRecord&) {});
  std::map<PlantedEnd, int> ends;
  Timestamp longest = 0;
  for (const PlantedPattern& pattern : summary.planted) {
    ++ends[pattern.end];
    if (pattern.end == PlantedEnd::alive) {
      EXPECT_EQ(pattern.vanishes, 0);
      continue;
    }
    EXPECT_GE(pattern.vanishes - pattern.closes, options.window / 8);
    EXPECT_LE(pattern.vanishes, summary.last_time);
    longest = std::max(longest, pattern.vanishes - pattern.closes);
  }
  EXPECT_GT(ends[PlantedEnd::expired], 150);
  EXPECT_GT(ends[PlantedEnd::recalled], 50);
  EXPECT_GT(ends[PlantedEnd::alive], 10);
  EXPECT_GT(longest, options.window) << "no pattern was kept alive by repeated payments";
}

// A stream of the demo's size. Take every edge that ever was, as if nothing expired: there is no pattern but the planted ones.
// What holds for this union holds at every instant.
class AtScale : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    PaymentsOptions options;
    options.updates = 200'000;
    union_ = std::make_unique<test::PlainGraph>();
    summary_ = generate_payments(options, [](const PaymentRecord& record) {
      if (record.update.kind == UpdateKind::insert_edge) union_->insert(record.update);
    });
  }
  static void TearDownTestSuite() { union_.reset(); }

  static std::set<std::vector<std::string>> planted(PlantedKind kind) {
    std::set<std::vector<std::string>> result;
    for (const PlantedPattern& pattern : summary_.planted) {
      if (pattern.kind == kind) result.insert(pattern.vertices);
    }
    return result;
  }
  static std::set<std::vector<std::string>> found(const test::PlainGraph& graph, PlantedKind kind) {
    std::set<std::vector<std::string>> result;
    for (const test::Names& names : test::PlainMatcher(graph, standing(planted_name(kind))).run())
      result.insert(test::texts_of(names));
    return result;
  }

  // The edges of a label that are left after removing each vertex through which no ring passes.
  static test::PlainGraph peeled(const std::string& label) {
    test::PlainGraph graph;
    graph.labels = union_->labels;
    for (const auto& [source, target] : union_->edges.at(label)) graph.insert({source, label, target});
    std::vector<test::Name> candidates;
    for (const auto& [name, of] : graph.labels) candidates.push_back(name);
    while (!candidates.empty()) {
      const test::Name name = candidates.back();
      candidates.pop_back();
      const std::set<test::Name> targets = graph.out[{name, label}];
      const std::set<test::Name> sources = graph.in[{name, label}];
      if (!targets.empty() && !sources.empty()) continue;
      for (const auto& target : targets) graph.erase({name, label, target});
      for (const auto& source : sources) graph.erase({source, label, name});
      candidates.insert(candidates.end(), targets.begin(), targets.end());
      candidates.insert(candidates.end(), sources.begin(), sources.end());
    }
    return graph;
  }

  static std::unique_ptr<test::PlainGraph> union_;
  static PaymentsSummary summary_;
};
std::unique_ptr<test::PlainGraph> AtScale::union_;
PaymentsSummary AtScale::summary_;

TEST_F(AtScale, TransfersFormNoRingButThePlantedOnes) {
  const test::PlainGraph rings = peeled("TRANSFER");
  EXPECT_EQ(rings.edges.at("TRANSFER").size(), 100U * (3 + 4 + 5)) << "a ring of some length formed by accident";
  for (const PlantedKind kind : {PlantedKind::ring3, PlantedKind::ring4, PlantedKind::ring5}) {
    EXPECT_EQ(found(rings, kind), planted(kind)) << planted_name(kind);
  }
}

TEST_F(AtScale, CashPatternsAreThePlantedOnes) {
  for (const PlantedKind kind : {PlantedKind::scatter_gather, PlantedKind::fan_in, PlantedKind::chain}) {
    EXPECT_EQ(planted(kind).size(), 100U);
    EXPECT_EQ(found(*union_, kind), planted(kind)) << planted_name(kind);
  }
}

TEST_F(AtScale, CountedPatternsOccur) {
  EXPECT_GT(test::PlainMatcher(*union_, standing("refund")).run().size(), 1'000U);
  EXPECT_GT(test::PlainMatcher(*union_, standing("shared_shop")).run().size(), 1'000U);
}

TEST_F(AtScale, ActivityFollowsAPowerLaw) {
  std::vector<std::size_t> degrees;
  for (const auto& [key, targets] : union_->out) {
    if (key.second == "PAYMENT") degrees.push_back(targets.size());
  }
  std::ranges::sort(degrees, std::greater<>());
  const double average = static_cast<double>(union_->edges.at("PAYMENT").size()) / static_cast<double>(degrees.size());
  EXPECT_GT(static_cast<double>(degrees.front()), 30 * average);
}

TEST_F(AtScale, LabelsOfVerticesFollowTheirNames) {
  const std::map<std::string, std::string> labels = {{"acct", "Account"}, {"shop", "Merchant"}, {"atm", "Atm"}};
  for (const auto& [name, label] : union_->labels) {
    const std::string text = test::text_of(name);
    ASSERT_EQ(labels.at(text.substr(0, text.find('-'))), label) << text;
  }
}

TEST(Payments, EveryPatternFileIsReadAndNamed) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "config" / "patterns")) {
    if (entry.path().extension() == ".pattern") names.insert(entry.path().stem());
  }
  std::set<std::string> expected = {"refund", "shared_shop"};
  for (const PlantedKind kind : kinds()) expected.emplace(planted_name(kind));
  EXPECT_EQ(names, expected);
  for (const std::string& name : names) EXPECT_NO_THROW((void)standing(name)) << name;
}

TEST(Payments, MemoryOfThePlanIsAllThatIsHeld) {
  // The generator hands over each record at once: the first one arrives before the second exists.
  PaymentsOptions options = crowded();
  options.updates = std::uint64_t{1} << 37;  // never finished
  options.duration = std::int64_t{1} << 50;
  int seen = 0;
  struct Enough {};
  EXPECT_THROW(generate_payments(options,
                                 [&](const PaymentRecord&) {
                                   if (++seen == 1'000) throw Enough();
                                 }),
               Enough);
  EXPECT_EQ(seen, 1'000);
}

}  // namespace
}  // namespace deltamatch::generate
