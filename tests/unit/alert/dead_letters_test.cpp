#include "ingest/service/alert/dead_letters.hpp"

#include <nlohmann/json.hpp>

#include "ingest/batch/refusals.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

RefusedRecord record() { return {{"payments", 3}, 17, RejectReason::bad_id, "an \"id\"", "k\xff", "x 1", 3}; }

TEST(DeadLetters, HeadersAreNamedAsKafkaConnectNamesThem) {
  EXPECT_THAT(dead_letter_headers(record()),
              ElementsAre(Pair("__connect.errors.topic", "payments"), Pair("__connect.errors.partition", "3"),
                          Pair("__connect.errors.offset", "17"), Pair("__connect.errors.exception.class.name", "bad_id"),
                          Pair("__connect.errors.exception.message", "an \"id\"")));
}

TEST(DeadLetters, OneThatIsCutTellsItsLength) {
  RefusedRecord cut = record();
  cut.length = 70'000;
  EXPECT_THAT(dead_letter_headers(cut), ::testing::Contains(Pair("deltamatch.length", "70000")));
}

TEST(DeadLetters, ALineOfAFileIsThatOfAReplayAndWhereInKafkaItWas) {
  std::string text;
  append_dead_letter(text, record());
  EXPECT_EQ(text,
            R"({"v":1,"reason":"bad_id","source":"payments[3]","part":3,"position":17,"message":"an \"id\"","record":"x 1",)"
            R"("length":3,"topic":"payments","partition":3,"offset":17,"key":"k\udcff"})");
  EXPECT_EQ(alert_id(text), "");

  const testing::Folder folder;
  const auto file = make_dead_letter_file(folder.file("dead.jsonl"));
  file->write({"payments[3]", {17, 3}, RejectReason::bad_id, "an \"id\"", "x 1", 3});
  file->commit();
  std::string replayed = testing::read_file(folder.file("dead.jsonl"));
  replayed.resize(replayed.size() - 2);  // }\n
  EXPECT_TRUE(text.starts_with(replayed)) << replayed;
}

TEST(DeadLetters, ARecordWithoutAKeyHasNone) {
  RefusedRecord without = record();
  without.key.reset();
  std::string text;
  append_dead_letter(text, without);
  EXPECT_TRUE(nlohmann::json::parse(text).at("key").is_null());
}

}  // namespace
}  // namespace deltamatch::ingest
