// scripts/check-planted, fed with alerts made from the truth, and with alerts that differ from it in one way each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "generate/payments.hpp"
#include "support.hpp"

namespace deltamatch::generate {
namespace {

struct Alert {
  std::string query;
  char sign;
  Timestamp time;
  std::vector<std::string> vertices;
};

std::string json(const Alert& alert, bool numbers) {
  std::string bindings;
  for (std::size_t i = 0; i < alert.vertices.size(); ++i) {
    const std::string quote = numbers ? "" : "\"";
    bindings += (i > 0 ? ",\"v" : "\"v") + std::to_string(i) + "\":" + quote + alert.vertices[i] + quote;
  }
  return R"({"v":1,"id":"00","query":")" + alert.query + R"(","sign":")" + alert.sign + R"(","batch":3,"time":)" +
         std::to_string(alert.time) + R"(,"bindings":{)" + bindings + R"(},"edges":[["x","TRANSFER","y"]],"cause":[0]})" + "\n";
}

class CheckPlanted : public testing::Test {
 protected:
  void generate(IdStyle ids = IdStyle::text) {
    options_.ids = ids;
    options_.updates = 5'000;
    options_.accounts = 400;
    options_.planted = {5, 5, 5, 5, 5, 5};
    const auto summary = write_payments(options_, stream_, truth_);
    alerts_.clear();
    for (const PlantedPattern& pattern : summary.planted) {
      const std::string query(planted_name(pattern.kind));
      alerts_.push_back({query, '+', pattern.closes + 1'000, pattern.vertices});
      if (pattern.end != PlantedEnd::alive) alerts_.push_back({query, '-', pattern.vanishes, pattern.vertices});
    }
    alerts_.push_back({"refund", '+', 17, {"a", "b"}});
  }

  // The exit code; what the script printed goes to output_.
  int check() {
    std::FILE* file = std::fopen(alert_file_.c_str(), "wb");
    for (const Alert& alert : alerts_) std::fputs(json(alert, options_.ids == IdStyle::number).c_str(), file);
    std::fclose(file);
    const std::string command = std::string("'") + DELTAMATCH_SOURCE_DIR + "/scripts/check-planted' '" + truth_.string() +
                                "' '" + alert_file_.string() + "' > '" + output_file_.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    output_ = test::read_text(output_file_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void TearDown() override {
    for (const auto& path : {stream_, truth_, alert_file_, output_file_}) std::filesystem::remove(path);
  }

  static std::filesystem::path temporary(const std::string& name) {
    return std::filesystem::path(testing::TempDir()) /
           (std::string("deltamatch-") + testing::UnitTest::GetInstance()->current_test_info()->name() + "-" + name);
  }

  PaymentsOptions options_;
  std::filesystem::path stream_ = temporary("stream");
  std::filesystem::path truth_ = temporary("truth");
  std::filesystem::path alert_file_ = temporary("alerts");
  std::filesystem::path output_file_ = temporary("output");
  std::vector<Alert> alerts_;
  std::string output_;
};

TEST_F(CheckPlanted, AcceptsWhatIsPlanted) {
  for (const IdStyle ids : {IdStyle::text, IdStyle::number}) {
    generate(ids);
    EXPECT_EQ(check(), 0) << output_;
    EXPECT_THAT(output_, testing::HasSubstr("found = planted"));
    EXPECT_THAT(output_, testing::ContainsRegex("ring3 +5 +5"));
    EXPECT_THAT(output_, testing::ContainsRegex("refund +- +1"));
  }
}

TEST_F(CheckPlanted, RefusesAnyDifference) {
  generate();
  const auto good = alerts_;
  const auto with_sign = [&](char sign) { return std::ranges::find(alerts_, sign, &Alert::sign); };
  const auto expect = [&](std::string_view fault) {
    EXPECT_EQ(check(), 1) << fault;
    EXPECT_THAT(output_, testing::HasSubstr(std::string(fault)));
    EXPECT_THAT(output_, testing::HasSubstr("found is not planted: "));
    alerts_ = good;
  };
  alerts_.erase(with_sign('+'));
  expect("not found");
  alerts_.erase(with_sign('-'));
  expect("did not vanish");
  alerts_.push_back(alerts_.front());
  expect("twice");
  alerts_.push_back({"ring3", '+', 17, {"acct-1", "acct-2", "acct-3"}});
  expect("not planted");
  alerts_.push_back({"ring3", '-', 17, {"acct-1", "acct-2", "acct-3"}});
  expect("should not have vanished");
  std::ranges::rotate(alerts_.front().vertices, alerts_.front().vertices.begin() + 1);
  expect("not planted");
  with_sign('+')->time -= 2'000;
  expect("another time than it closed");
  with_sign('-')->time += options_.window / 8;
  expect("another time than it vanished");
  alerts_.push_back({"ring3", '?', 17, {}});
  expect("not an alert");
}

TEST_F(CheckPlanted, RefusesFilesThatAreNotThere) {
  generate();
  std::filesystem::remove(truth_);
  EXPECT_EQ(check(), 2);
  EXPECT_THAT(output_, testing::HasSubstr("cannot read"));
}

TEST_F(CheckPlanted, RefusesATruthThatIsNone) {
  generate();
  std::filesystem::copy_file(stream_, truth_, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, testing::HasSubstr("not a truth file"));
}

}  // namespace
}  // namespace deltamatch::generate
