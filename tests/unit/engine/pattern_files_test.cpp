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
  EXPECT_EQ(files, 7U);
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

TEST(PatternFiles, RingsHaveThreeToSixPayments) {
  static constexpr const char* accounts[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (int length = 2; length <= 7; ++length) {
    std::vector<Payment> stream;
    for (int i = 0; i < length; ++i)
      stream.push_back({accounts[i], transfer, accounts[(i + 1) % length], 10 * i, 2000'00 - 100 * i});
    EXPECT_TRUE(found("ring", stream) == (length >= 3 && length <= 6 ? 1 : 0)) << length;
    stream.back().amount = 1000'00;  // the last account passes on half of what it got
    EXPECT_TRUE(found("ring", stream) == 0) << length;
  }
}

TEST(PatternFiles, Smurfing) {
  static constexpr const char* senders[] = {"a", "b", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  // `count` accounts send money to c from minute 0 on. The last one is another time and amount, and then it leaves.
  const auto smurfing = [](int count, int last, int out, std::int64_t amount) {
    std::vector<Payment> stream;
    for (int i = 0; i + 1 < count; ++i) stream.push_back({senders[i], transfer, "c", i, 750'00});
    stream.push_back({senders[count - 1], transfer, "c", last, amount});
    stream.push_back({"c", transfer, "z", out, 7000'00});
    return found("smurfing", stream);
  };
  EXPECT_TRUE(smurfing(10, 50, 59, 999'99) == 1);
  EXPECT_TRUE(smurfing(10, 50, 59, 500'01) == 1);
  EXPECT_TRUE(smurfing(11, 50, 59, 600'00) == 1);
  EXPECT_TRUE(smurfing(9, 50, 59, 600'00) == 0);    // too few
  EXPECT_TRUE(smurfing(10, 50, 59, 1000'00) == 0);  // one payment is large
  EXPECT_TRUE(smurfing(10, 50, 59, 500'00) == 0);   // one payment is small
  EXPECT_TRUE(smurfing(10, 50, 60, 600'00) == 0);   // too slow
  EXPECT_TRUE(smurfing(11, 50, 60, 600'00) == 1);   // one too slow, ten in time
  EXPECT_TRUE(smurfing(10, 59, 59, 600'00) == 0);   // it leaves before all came
}

TEST(PatternFiles, SmurfingCountsSendersNotPayments) {
  std::vector<Payment> stream;
  for (int i = 0; i < 30; ++i) {
    static constexpr const char* senders[] = {"a", "b", "d", "e", "f", "g", "h", "i", "j"};
    stream.push_back({senders[i % 9], transfer, "c", i, 750'00});
  }
  stream.push_back({"c", transfer, "z", 40, 9000'00});
  EXPECT_TRUE(found("smurfing", stream) == 0);
  stream.push_back({"k", transfer, "c", 35, 750'00});
  EXPECT_TRUE(found("smurfing", stream) == 1);
}

TEST(PatternFiles, UnpaidRefund) {
  const auto refund = [](const std::vector<Payment>& paid, std::int64_t amount = 600'00) {
    std::vector<Payment> stream = paid;
    stream.push_back({"shop", "REFUND", "a", 2000, amount});
    return found("unpaid_refund", stream);
  };
  EXPECT_TRUE(refund({}) == 1);
  EXPECT_TRUE(refund({}, 499'99) == 0);                                 // too small
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop", 1000, 600'00}}) == 0);   // paid
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop", 561, 700'00}}) == 0);    // paid a minute less than a day before
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop", 560, 700'00}}) == 1);    // paid a day before
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop", 1000, 599'99}}) == 1);   // paid less
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop", 2000, 600'00}}) == 1);   // paid at the same time
  EXPECT_TRUE(refund({{"b", "PAYMENT", "shop", 1000, 600'00}}) == 1);   // another account paid
  EXPECT_TRUE(refund({{"a", "PAYMENT", "shop2", 1000, 600'00}}) == 1);  // another shop was paid
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
