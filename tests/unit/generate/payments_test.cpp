#include "generate/payments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <source_dir.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

using test::written;

constexpr Timestamp hour = 3'600LL * 1'000'000;

// Few accounts and much traffic. tests/cli/payments_test.py searches such streams for patterns.
PaymentsOptions crowded(std::uint64_t seed = 1) {
  PaymentsOptions options;
  options.updates = 2'000;
  options.accounts = 400;
  options.merchants = 6;
  options.atms = 2;
  options.planted = {2, 2, 2, 2, 2};
  options.decoys = 1;
  options.charge_backs = 0.05;
  options.recalled = 0.5;
  options.duration = 72 * hour;
  options.seed = seed;
  return options;
}
constexpr std::size_t crowded_instances = 10 + 23;

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
      EXPECT_EQ(record.amount > 0, record.update.kind == UpdateKind::insert_edge);
    });
    EXPECT_EQ(count, updates);
    EXPECT_EQ(summary.inserts + summary.deletes, updates);
    EXPECT_EQ(summary.last_time, last);
    EXPECT_NEAR(static_cast<double>(last - summary.first_time), static_cast<double>(options.duration),
                0.15 * static_cast<double>(options.duration));
    EXPECT_EQ(summary.planted.size(), crowded_instances);
  }
}

TEST(Payments, FirstRowsAreGolden) {
  PaymentsOptions options;
  options.updates = 20'000;
  options.planted = {50, 50, 50, 50, 50};
  std::string truth;
  const std::string rows =
      written([&](std::FILE* stream) { truth = written([&](std::FILE* out) { write_payments(options, stream, out); }); });
  EXPECT_THAT(rows, testing::StartsWith("op,txn_id,source,target,label,source_label,target_label,time,amount,channel\n"
                                        "+,tx-1,acct-48012,acct-48841,TRANSFER,Account,Account,1700000003.208544,30.14,app\n"));
  test::Checksum sum;
  sum.add(rows);
  sum.add(truth);
  EXPECT_EQ(sum.value(), 12123455598098829121U);
}

TEST(Payments, SeedsDiffer) {
  const auto rows = [](std::uint64_t seed) {
    return written([&](std::FILE* stream) { write_payments(crowded(seed), stream); });
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
}

struct Payment {
  std::string source;
  std::string label;
  std::string target;
  Timestamp time = 0;
  std::optional<Timestamp> deleted;
};

std::string text_of(const Id& id) { return id.is_text() ? std::string(id.text()) : std::to_string(id.number()); }

// The payments by key. A charge-back must name a payment that is there, with its ends.
std::map<std::string, Payment> payments_of(const PaymentsOptions& options, PaymentsSummary& summary) {
  std::map<std::string, Payment> payments;
  summary = generate_payments(options, [&](const PaymentRecord& record) {
    const Update& update = record.update;
    const std::string key = text_of(*update.key());
    const Payment payment{text_of(update.source), std::string(update.label), text_of(update.target), *update.time, {}};
    if (update.kind == UpdateKind::insert_edge) {
      EXPECT_TRUE(payments.emplace(key, payment).second) << key << " is there twice";
      return;
    }
    Payment& there = payments.at(key);
    EXPECT_EQ(std::tie(there.source, there.label, there.target), std::tie(payment.source, payment.label, payment.target));
    EXPECT_FALSE(there.deleted) << key;
    there.deleted = payment.time;
  });
  return payments;
}

// How many payments a pattern has, and how many are made for its COUNT.
std::pair<std::set<std::size_t>, std::set<std::size_t>> sizes_of(const PlantedPattern& pattern) {
  switch (pattern.kind) {
    case PlantedKind::ring:
      if (pattern.misses == Miss::too_long) return {{7}, {0}};
      return {{3, 4, 5, 6}, {0}};
    case PlantedKind::smurfing:
      if (pattern.misses == Miss::too_few) return {{1}, {9}};
      if (pattern.misses != Miss::nothing) return {{1}, {10}};
      return {{1}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}};
    case PlantedKind::refund_round_trip:
      return {{2}, {0}};
    case PlantedKind::fee_chain:
      return {{3}, {0}};
    case PlantedKind::unpaid_refund:
      return {{1}, {0, 1}};
  }
  return {};
}

TEST(Payments, TruthNamesThePaymentsOfEachPattern) {
  for (const IdStyle ids : {IdStyle::text, IdStyle::number}) {
    PaymentsOptions options = crowded(3);
    options.ids = ids;
    PaymentsSummary summary;
    const auto payments = payments_of(options, summary);
    std::set<std::string> used;
    std::map<std::pair<PlantedKind, Miss>, int> kinds;
    for (const PlantedPattern& pattern : summary.planted) {
      const auto [edges, counted] = sizes_of(pattern);
      EXPECT_TRUE(edges.contains(pattern.keys.size())) << pattern.name;
      EXPECT_TRUE(counted.contains(pattern.counted.size())) << pattern.name;
      Timestamp closes = 0;
      for (const std::string& key : pattern.keys) {
        EXPECT_TRUE(used.insert(key).second) << key << " belongs to two patterns";
        closes = std::max(closes, payments.at(key).time);
      }
      for (const std::string& key : pattern.counted) EXPECT_TRUE(used.insert(key).second) << key << " belongs to two patterns";
      EXPECT_EQ(pattern.closes, closes) << pattern.name;
      ++kinds[{pattern.kind, pattern.misses}];
    }
    EXPECT_EQ(kinds.size(), 5U + 23U);
  }
}

TEST(Payments, RingsAndSmurfingHaveAllTheirSizes) {
  PaymentsOptions options;
  options.planted = {15, 15, 15, 15, 15};
  options.updates = 5'000;
  std::set<std::size_t> lengths;
  std::set<std::size_t> senders;
  for (const PlantedPattern& pattern : generate_payments(options, [](const PaymentRecord&) {}).planted) {
    if (pattern.misses != Miss::nothing) continue;
    if (pattern.kind == PlantedKind::ring) lengths.insert(pattern.keys.size());
    if (pattern.kind == PlantedKind::smurfing) senders.insert(pattern.counted.size());
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{3, 4, 5, 6}));
  EXPECT_EQ(senders.size(), 15U);
  EXPECT_EQ(*senders.begin(), 10U);
}

TEST(Payments, ChargeBacksComeInTimeAndAfterABatch) {
  PaymentsOptions options = crowded();
  options.accounts = 8'000;
  options.updates = 20'000;
  options.planted = {60, 60, 60, 60, 60};
  options.recalled = 1;
  PaymentsSummary summary;
  const auto payments = payments_of(options, summary);
  int recalled = 0;
  std::set<bool> recalls_of_smurfing;  // whether senders' payments are charged back, or the one that leaves
  for (const PlantedPattern& pattern : summary.planted) {
    std::vector<Timestamp> gone;
    for (const auto* keys : {&pattern.keys, &pattern.counted}) {
      for (const std::string& key : *keys) {
        if (const auto deleted = payments.at(key).deleted) gone.push_back(*deleted);
      }
    }
    if (pattern.recalled == 0) continue;
    ++recalled;
    EXPECT_EQ(pattern.misses, Miss::nothing) << pattern.name;
    EXPECT_EQ(pattern.recalled, std::ranges::max(gone)) << pattern.name;
    EXPECT_GE(std::ranges::min(gone) - pattern.closes, 3 * hour) << pattern.name;
    Timestamp oldest = pattern.closes;
    for (const std::string& key : pattern.keys) oldest = std::min(oldest, payments.at(key).time);
    EXPECT_LT(pattern.recalled - oldest, 24 * hour) << pattern.name;
    if (pattern.kind != PlantedKind::smurfing) continue;
    const bool of_senders = !payments.at(pattern.keys[0]).deleted;
    EXPECT_EQ(gone.size(), of_senders ? pattern.counted.size() - 9 : 1) << pattern.name;
    recalls_of_smurfing.insert(of_senders);
  }
  EXPECT_GT(recalled, 180);
  EXPECT_EQ(recalls_of_smurfing.size(), 2U);
}

TEST(Payments, ActivityFollowsAPowerLaw) {
  PaymentsOptions options;
  options.updates = 200'000;
  std::map<std::string, std::size_t> payments;
  std::size_t all = 0;
  std::set<std::pair<std::string, std::string>> pairs;
  generate_payments(options, [&](const PaymentRecord& record) {
    if (record.update.label != "PAYMENT" || record.update.kind != UpdateKind::insert_edge) return;
    ++all;
    ++payments[text_of(record.update.source)];
    pairs.emplace(text_of(record.update.source), text_of(record.update.target));
  });
  std::size_t most = 0;
  for (const auto& [account, count] : payments) most = std::max(most, count);
  EXPECT_GT(static_cast<double>(most), 30 * static_cast<double>(all) / static_cast<double>(payments.size()));
  EXPECT_LT(pairs.size(), all) << "some pairs pay more than once";
}

TEST(Payments, LabelsOfVerticesFollowTheirNames) {
  const std::map<std::string, std::string_view> labels = {{"acct", "Account"}, {"shop", "Merchant"}, {"atm", "Atm"}};
  generate_payments(crowded(), [&](const PaymentRecord& record) {
    for (const auto& [id, label] : {std::pair(record.update.source, *record.update.source_label),
                                    std::pair(record.update.target, *record.update.target_label)}) {
      const std::string text = text_of(id);
      EXPECT_EQ(labels.at(text.substr(0, text.find('-'))), label) << text;
    }
  });
}

TEST(Payments, EveryPatternHasItsFile) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "config" / "patterns"))
    names.insert(entry.path().filename());
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind)
    EXPECT_TRUE(names.contains(std::string(planted_name(static_cast<PlantedKind>(kind))) + ".pattern")) << kind;
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
