#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "deltamatch/error.hpp"
#include "generate/payments.hpp"
#include "ingest/codec/codec.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

using test::split;
using test::written;

PaymentsOptions small() {
  PaymentsOptions options;
  options.updates = 2'000;
  options.accounts = 400;
  options.merchants = 20;
  options.atms = 5;
  options.planted = {2, 2, 2, 2, 2};
  options.decoys = 1;
  options.charge_backs = 0.05;
  options.start = 1'700'000'000'000'007;
  return options;
}

std::string amount(const PaymentRecord& record) {
  const std::string cents = std::to_string(100 + record.amount % 100);
  return std::to_string(record.amount / 100) + '.' + cents.substr(1);
}

struct Texts {
  std::vector<std::string> rows;
  std::vector<std::string> truth;
};

Texts texts(const PaymentsOptions& options) {
  Texts result;
  std::string truth;
  result.rows =
      split(written([&](std::FILE* stream) { truth = written([&](std::FILE* out) { write_payments(options, stream, out); }); }),
            '\n');
  result.truth = split(truth, '\n');
  return result;
}

TEST(PaymentsText, CsvStatesEveryRecord) {
  const PaymentsOptions options = small();
  const auto rows = texts(options).rows;
  ASSERT_EQ(rows.size(), 2'001U);
  EXPECT_EQ(rows[0], "op,txn_id,source,target,label,source_label,target_label,time,amount,channel");
  std::size_t i = 0;
  generate_payments(options, [&](const PaymentRecord& record) {
    auto fields = split(rows.at(++i), ',');
    fields.resize(10);  // without the empty ones at the end
    const Update& u = record.update;
    const bool insert = u.kind == UpdateKind::insert_edge;
    EXPECT_EQ(fields[0], insert ? "+" : "-");
    EXPECT_EQ(fields[1], u.key()->text());
    EXPECT_EQ(fields[2], u.source.text());
    EXPECT_EQ(fields[3], u.target.text());
    EXPECT_EQ(fields[4], u.label);
    EXPECT_EQ(fields[5], *u.source_label);
    EXPECT_EQ(fields[6], *u.target_label);
    ASSERT_THAT(fields[7], testing::MatchesRegex("[0-9]{10}\\.[0-9]{6}"));
    EXPECT_EQ(std::stoll(fields[7].substr(0, 10)) * 1'000'000 + std::stoll(fields[7].substr(11)), *u.time);
    EXPECT_EQ(fields[8], insert ? amount(record) : "");
    EXPECT_EQ(fields[9], record.channel);
    EXPECT_EQ(record.channel.empty(), !insert);
  });
}

TEST(PaymentsText, JsonlStatesEveryRecord) {
  PaymentsOptions options = small();
  options.format = PaymentsFormat::jsonl;
  for (const bool numbers : {false, true}) {
    options.ids = numbers ? IdStyle::number : IdStyle::text;
    const auto rows = texts(options).rows;
    ASSERT_EQ(rows.size(), 2'000U);
    std::size_t i = 0;
    generate_payments(options, [&](const PaymentRecord& record) {
      const Update& u = record.update;
      const auto id = [&](const Id& x) { return x.is_text() ? '"' + std::string(x.text()) + '"' : std::to_string(x.number()); };
      const bool insert = u.kind == UpdateKind::insert_edge;
      std::string expected = std::string(R"({"op":")") + (insert ? "+" : "-") + R"(","txn_id":)" + id(*u.key()) +
                             R"(,"source":)" + id(u.source) + R"(,"target":)" + id(u.target) + R"(,"label":")" +
                             std::string(u.label) + R"(","source_label":")" + std::string(*u.source_label) +
                             R"(","target_label":")" + std::string(*u.target_label) + R"(","time":)" + std::to_string(*u.time);
      if (insert) expected += R"(,"amount":")" + amount(record) + R"(","channel":")" + std::string(record.channel) + '"';
      EXPECT_EQ(rows.at(i++), expected + "}");
    });
  }
}

// What replay reads from the text without an option, or with one for keys and attributes.
TEST(PaymentsText, CodecsReadWhatIsWritten) {
  PaymentsOptions options = small();
  for (const bool csv : {true, false}) {
    for (const IdStyle ids : {IdStyle::text, IdStyle::number}) {
      options.format = csv ? PaymentsFormat::csv : PaymentsFormat::jsonl;
      options.ids = ids;
      auto rows = texts(options).rows;
      const auto format = ingest::detect_format(rows[0] + '\n' + rows[1] + '\n');
      ASSERT_EQ(format, csv ? ingest::Format::csv : ingest::Format::jsonl);
      const auto codec = ingest::make_codec(*format, {});
      auto row = rows.begin();
      if (csv) {
        EXPECT_TRUE(codec->decode(*row++).updates.empty());
      }
      generate_payments(options, [&](const PaymentRecord& record) {
        const ingest::Decoded decoded = codec->decode(*row++);
        ASSERT_EQ(decoded.updates.size(), 1U) << decoded.message;
        const Update& read = decoded.updates.front();
        EXPECT_EQ(read.kind, record.update.kind);
        EXPECT_EQ(read.source, record.update.source);
        EXPECT_EQ(read.target, record.update.target);
        EXPECT_EQ(read.label, record.update.label);
        EXPECT_EQ(read.source_label, record.update.source_label);
        EXPECT_EQ(read.target_label, record.update.target_label);
        EXPECT_EQ(read.time, record.update.time);
      });
      EXPECT_EQ(row, rows.end());
    }
  }
}

TEST(PaymentsText, NumbersAsIdsDoNotOverlap) {
  PaymentsOptions options = small();
  options.ids = IdStyle::number;
  generate_payments(options, [&](const PaymentRecord& record) {
    const auto check = [](std::int64_t id, std::string_view label) {
      EXPECT_EQ(label, id < 400 ? "Account" : id < 420 ? "Merchant" : "Atm") << id;
      EXPECT_LT(id, 425);
    };
    check(record.update.source.number(), *record.update.source_label);
    check(record.update.target.number(), *record.update.target_label);
  });
}

TEST(PaymentsText, TruthStatesEveryPlantedPattern) {
  const PaymentsOptions options = small();
  const auto truth = texts(options).truth;
  const auto planted = generate_payments(options, [](const PaymentRecord&) {}).planted;
  ASSERT_EQ(truth.size(), planted.size() + 1);
  EXPECT_EQ(truth[0], "name,pattern,kind,misses,keys,counted,closes,recalled");
  std::set<std::string> names;
  for (std::size_t i = 0; i < planted.size(); ++i) {
    auto fields = split(truth[i + 1], ',');
    fields.resize(8);  // without the empty ones at the end
    EXPECT_EQ(fields[0], planted[i].name);
    EXPECT_TRUE(names.insert(fields[0]).second) << fields[0];
    EXPECT_EQ(fields[1], planted_name(planted[i].kind));
    EXPECT_EQ(fields[2], planted[i].misses == Miss::nothing ? "planted" : "decoy");
    EXPECT_EQ(fields[3], miss_name(planted[i].misses));
    EXPECT_EQ(split(fields[4], ' '), planted[i].keys);
    EXPECT_EQ(fields[5].empty() ? std::vector<std::string>{} : split(fields[5], ' '), planted[i].counted);
    EXPECT_EQ(fields[6], std::to_string(planted[i].closes));
    EXPECT_EQ(fields[7], planted[i].recalled == 0 ? "" : std::to_string(planted[i].recalled));
  }
  EXPECT_TRUE(std::ranges::is_sorted(planted, {}, &PlantedPattern::closes));
}

TEST(PaymentsText, FilesHoldTheSameAsHandles) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const auto stream = folder / "deltamatch-payments-test.csv";
  const auto truth = folder / "deltamatch-payments-test-truth.csv";
  write_payments(small(), stream, truth);
  const Texts expected = texts(small());
  EXPECT_EQ(split(test::read_text(stream), '\n'), expected.rows);
  EXPECT_EQ(split(test::read_text(truth), '\n'), expected.truth);
  std::filesystem::remove(stream);
  std::filesystem::remove(truth);
}

TEST(PaymentsText, AFullDiskIsAnError) {
  if (std::FILE* full = std::fopen("/dev/full", "wb"); full != nullptr) {
    EXPECT_THROW(write_payments(small(), full), Error);
    std::fclose(full);
  }
}

TEST(PaymentsText, BadOptionsAreRefusedBeforeAFileIsTouched) {
  const auto path = std::filesystem::path(testing::TempDir()) / "deltamatch-payments-untouched.csv";
  std::filesystem::remove(path);
  PaymentsOptions options = small();
  options.accounts = 3;
  EXPECT_THROW(write_payments(options, path), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PaymentsText, EveryBoundIsRefusedByName) {
  const auto refusal = [](auto change) {
    PaymentsOptions options = small();
    change(options);
    try {
      generate_payments(options, [](const PaymentRecord&) {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using testing::HasSubstr;
  using Options = PaymentsOptions;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal([](Options& o) { o.updates = ~std::uint64_t{0}; }),
              HasSubstr("there are too many updates; give at most 2^40"));
  EXPECT_THAT(refusal([](Options& o) { o.accounts = 15; }), HasSubstr("the number of accounts is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.merchants = 0; }), HasSubstr("the number of merchants is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.atms = 0; }), HasSubstr("the number of cash machines is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.planted.fill(~0U); }), HasSubstr("more than half of the accounts"));
  EXPECT_THAT(refusal([](Options& o) { o.updates = 100; }), HasSubstr("more than half of the updates"));
  EXPECT_THAT(refusal([](Options& o) { o.exponent = 2; }), HasSubstr("exponent"));
  EXPECT_THAT(refusal([](Options& o) { o.exponent = nan; }), HasSubstr("exponent"));
  EXPECT_THAT(refusal([](Options& o) { o.charge_backs = 1.5; }), HasSubstr("charge-backs"));
  EXPECT_THAT(refusal([](Options& o) { o.recalled = 1.1; }), HasSubstr("the share of recalled patterns"));
  EXPECT_THAT(refusal([](Options& o) { o.recalled = nan; }), HasSubstr("the share of recalled patterns"));
  EXPECT_THAT(refusal([](Options& o) { o.repeated = -0.1; }), HasSubstr("repeated payments is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.start = -1; }), HasSubstr("the start is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.duration = 0; }), HasSubstr("the duration is out of range"));
  EXPECT_THAT(refusal([](Options& o) { o.duration = 36 * 3'600'000'000LL; }), HasSubstr("give more than 36 hours"));
  EXPECT_THAT(refusal([](Options& o) { o.planted.fill(0), o.decoys = 0, o.duration = 1'500; }), HasSubstr("more updates than"));
  EXPECT_THAT(refusal([](Options& o) { o.decoys = 100; }), HasSubstr("more than half of the accounts"));
  EXPECT_EQ(refusal([](Options& o) { o.planted.fill(0), o.decoys = 0, o.updates = 0; }), "accepted");
  EXPECT_EQ(refusal([](Options& o) { o.charge_backs = 1; }), "accepted");
}

}  // namespace
}  // namespace deltamatch::generate
