// The patterns that come with the program: each of them is valid. Each finds what its comment says, and nothing that misses one
// condition.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <source_dir.hpp>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(DELTAMATCH_SOURCE_DIR) / "config" / "patterns"; }

Query read(const fs::path& path) {
  std::ifstream in(path);
  return parse_pattern(std::string(std::istreambuf_iterator<char>(in), {}), path.stem().string(), path.string());
}

Schema payments() { return {EdgeModel::events, {{"amount", {AttributeType::Kind::decimal, 2}}}, {}}; }

struct Payment {
  const char* source;
  const char* label;
  const char* target;
  int minute;
  std::int64_t amount;  ///< in cents
};

/// How many matches of a pattern appear in one batch of payments. Ids that begin with s are shops, all others accounts.
Count found(const std::string& name, const std::vector<Payment>& stream) {
  Engine engine({.threads = 1, .schema = payments()});
  engine.add_query(read(folder() / (name + ".pattern")));
  const auto label = [](const char* id) { return id[0] == 's' ? "Merchant" : "Account"; };
  UpdateBatch batch;
  for (const Payment& payment : stream) {
    const AttributeValue amount = payment.amount;
    Properties properties;
    properties.attributes = {&amount, 1};
    Update update{.source = Id(payment.source), .target = Id(payment.target), .label = payment.label};
    update.source_label = label(payment.source);
    update.target_label = label(payment.target);
    update.time = payment.minute * 60'000'000LL;
    update.properties = &properties;
    batch.add(update);
  }
  const BatchResult result = engine.process(batch);
  EXPECT_TRUE(result.rejects.empty());
  return result.queries.at(0).added;
}

TEST(PatternFiles, AllAreValidAndAreWrittenBack) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (entry.path().extension() != ".pattern") continue;
    ++files;
    const Query query = read(entry.path());
    EXPECT_EQ(parse_pattern(to_pattern(query), query.name), query) << entry.path();
    EXPECT_TRUE(query.where.has_value()) << entry.path();
    EXPECT_TRUE(query.within.has_value()) << entry.path();
    Engine engine({.threads = 1, .schema = payments()});
    EXPECT_NO_THROW(engine.add_query(query)) << entry.path();
  }
  EXPECT_EQ(files, 6U);
}

constexpr const char* transfer = "TRANSFER";

TEST(PatternFiles, Ring) {
  const auto ring = [](int t1, int t2, int t3, std::int64_t a1, std::int64_t a2, std::int64_t a3) {
    return found("ring", {{"a", transfer, "b", t1, a1}, {"b", transfer, "c", t2, a2}, {"c", transfer, "a", t3, a3}});
  };
  EXPECT_TRUE(ring(0, 30, 60, 1500'00, 1200'00, 960'00) == 1);
  EXPECT_TRUE(ring(0, 60, 30, 1500'00, 1400'00, 1300'00) == 0);    // out of order
  EXPECT_TRUE(ring(0, 30, 1440, 1500'00, 1400'00, 1300'00) == 0);  // too slow
  EXPECT_TRUE(ring(0, 30, 60, 1000'00, 900'00, 800'00) == 0);      // too small
  EXPECT_TRUE(ring(0, 30, 60, 1500'00, 1199'99, 1100'00) == 0);    // loses too much
  EXPECT_TRUE(ring(0, 30, 60, 1500'00, 1500'01, 1500'00) == 0);    // grows
}

TEST(PatternFiles, Smurfing) {
  const auto five = [](int last, int out, std::int64_t amount, std::int64_t last_amount, std::int64_t leaves) {
    return found("smurfing", {{"p", transfer, "c", 0, amount},
                              {"q", transfer, "c", 10, amount},
                              {"r", transfer, "c", 20, amount},
                              {"t", transfer, "c", last, last_amount},
                              {"c", transfer, "z", out, leaves}});
  };
  EXPECT_TRUE(five(50, 59, 501'00, 501'00, 2004'00) == 1);
  EXPECT_TRUE(five(50, 59, 501'00, 501'00, 1803'60) == 1);
  EXPECT_TRUE(five(50, 59, 501'00, 501'00, 1803'59) == 0);   // too much stays
  EXPECT_TRUE(five(50, 59, 501'00, 501'00, 2004'01) == 0);   // more leaves than came
  EXPECT_TRUE(five(50, 60, 501'00, 501'00, 2004'00) == 0);   // too slow
  EXPECT_TRUE(five(50, 49, 501'00, 501'00, 2004'00) == 0);   // it leaves before all came
  EXPECT_TRUE(five(50, 59, 500'00, 500'00, 2000'00) == 0);   // too little in all
  EXPECT_TRUE(five(50, 59, 501'00, 1000'00, 2503'00) == 0);  // one payment is large
}

TEST(PatternFiles, RefundRoundTrip) {
  const auto refund = [](int pay, int back, std::int64_t paid, std::int64_t refunded) {
    return found("refund_round_trip", {{"a", "PAYMENT", "shop", pay, paid}, {"shop", "REFUND", "a", back, refunded}});
  };
  EXPECT_TRUE(refund(0, 90, 500'00, 500'00) == 1);
  EXPECT_TRUE(refund(0, 90, 499'99, 499'99) == 0);    // too small
  EXPECT_TRUE(refund(0, 90, 500'00, 499'99) == 0);    // another amount
  EXPECT_TRUE(refund(90, 0, 500'00, 500'00) == 0);    // out of order
  EXPECT_TRUE(refund(0, 1440, 500'00, 500'00) == 0);  // too slow
}

TEST(PatternFiles, FeeChain) {
  const auto chain = [](int t3, std::int64_t a2, std::int64_t a3) {
    return found("fee_chain", {{"a", transfer, "b", 0, 1000'00}, {"b", transfer, "c", 60, a2}, {"c", transfer, "d", t3, a3}});
  };
  EXPECT_TRUE(chain(120, 900'00, 720'00) == 1);
  EXPECT_TRUE(chain(120, 800'00, 640'00) == 1);
  EXPECT_TRUE(chain(120, 901'00, 800'00) == 0);   // keeps too little
  EXPECT_TRUE(chain(120, 900'00, 719'99) == 0);   // keeps too much
  EXPECT_TRUE(chain(30, 900'00, 720'00) == 0);    // out of order
  EXPECT_TRUE(chain(1440, 900'00, 720'00) == 0);  // too slow
}

TEST(PatternFiles, FanIn) {
  const auto fan = [](int senders, int apart) {
    static const char* const ids[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    std::vector<Payment> payments;
    for (int s = 0; s < senders; ++s) payments.push_back({ids[s], transfer, "z", apart * s, 10'00});
    return found("alerts/fan_in", payments);
  };
  EXPECT_TRUE(fan(10, 6) == 1);
  EXPECT_TRUE(fan(12, 5) == 1);
  EXPECT_TRUE(fan(9, 6) == 0);   // too few
  EXPECT_TRUE(fan(10, 7) == 0);  // too slow
}

TEST(PatternFiles, Unconfirmed) {
  const auto payment = [](std::int64_t amount, int confirmed, int last) {
    return found(
        "alerts/unconfirmed",
        {{"a", "PAYMENT", "shop", 1, amount}, {"shop", "CONFIRMATION", "a", confirmed, 0}, {"x", "OTHER", "y", last, 0}});
  };
  EXPECT_TRUE(payment(500'00, 7, 8) == 1);
  EXPECT_TRUE(payment(500'00, 0, 8) == 1);  // the confirmation is of another payment
  EXPECT_TRUE(payment(500'00, 6, 8) == 0);
  EXPECT_TRUE(payment(499'99, 7, 8) == 0);  // too small
  EXPECT_TRUE(payment(500'00, 5, 6) == 0);
  EXPECT_TRUE(payment(500'00, 0, 6) == 0);  // it can still come
}

}  // namespace
}  // namespace deltamatch
