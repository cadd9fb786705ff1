#include "generate/payments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <source_dir.hpp>
#include <string>
#include <tuple>
#include <utility>

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
  options.accounts = 300;
  options.merchants = 6;
  options.atms = 2;
  options.planted = {2, 2, 2, 2};
  options.decoys = 1;
  options.charge_backs = 0.05;
  options.recalled = 0.5;
  options.duration = 72 * hour;
  options.seed = seed;
  return options;
}
constexpr std::size_t crowded_instances = 8 + 19;

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
  options.planted = {50, 50, 50, 50};
  std::string truth;
  const std::string rows =
      written([&](std::FILE* stream) { truth = written([&](std::FILE* out) { write_payments(options, stream, out); }); });
  EXPECT_THAT(rows,
              testing::StartsWith("op,txn_id,source,target,label,source_label,target_label,time,amount,channel\n"
                                  "+,tx-1,acct-31484,shop-104,PAYMENT,Account,Merchant,1700000058.425506,1081.66,card\n"));
  test::Checksum sum;
  sum.add(rows);
  sum.add(truth);
  EXPECT_EQ(sum.value(), 12823337985710007617U);
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

TEST(Payments, TruthNamesThePaymentsOfEachPattern) {
  for (const IdStyle ids : {IdStyle::text, IdStyle::number}) {
    PaymentsOptions options = crowded(3);
    options.ids = ids;
    PaymentsSummary summary;
    const auto payments = payments_of(options, summary);
    std::set<std::string> used;
    std::map<std::pair<PlantedKind, Miss>, int> kinds;
    for (const PlantedPattern& pattern : summary.planted) {
      constexpr std::array<std::size_t, planted_kind_count> edges = {3, 5, 2, 3};
      ASSERT_EQ(pattern.keys.size(), edges[static_cast<std::size_t>(pattern.kind)]) << pattern.name;
      Timestamp closes = 0;
      Timestamp recalled = 0;
      for (const std::string& key : pattern.keys) {
        EXPECT_TRUE(used.insert(key).second) << key << " belongs to two patterns";
        closes = std::max(closes, payments.at(key).time);
        recalled = std::max(recalled, payments.at(key).deleted.value_or(0));
      }
      EXPECT_EQ(pattern.closes, closes) << pattern.name;
      EXPECT_EQ(pattern.recalled, recalled) << pattern.name;
      ++kinds[{pattern.kind, pattern.misses}];
    }
    EXPECT_EQ(kinds.size(), 4U + 19U);
  }
}

TEST(Payments, ChargeBacksComeInTimeAndAfterABatch) {
  PaymentsOptions options = crowded();
  options.accounts = 4'000;
  options.updates = 20'000;
  options.planted = {60, 60, 60, 60};
  options.recalled = 1;
  PaymentsSummary summary;
  const auto payments = payments_of(options, summary);
  int recalled = 0;
  for (const PlantedPattern& pattern : summary.planted) {
    if (pattern.recalled == 0) continue;
    ++recalled;
    EXPECT_EQ(pattern.misses, Miss::nothing) << pattern.name;
    EXPECT_NE(pattern.kind, PlantedKind::smurfing) << pattern.name;
    EXPECT_GE(pattern.recalled - pattern.closes, 3 * hour) << pattern.name;
    Timestamp oldest = pattern.closes;
    for (const std::string& key : pattern.keys) oldest = std::min(oldest, payments.at(key).time);
    EXPECT_LT(pattern.recalled - oldest, 24 * hour) << pattern.name;
  }
  EXPECT_GT(recalled, 120);
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
  std::set<std::string> expected;
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind)
    expected.insert(std::string(planted_name(static_cast<PlantedKind>(kind))) + ".pattern");
  EXPECT_EQ(names, expected);
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
