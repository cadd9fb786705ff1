#include "ingest/service/loop/status_json.hpp"

#include "ingest/text/exact_json.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::json;

TEST(StatusTest, IfTheCpuMatchesNoBackendIsTold) {
  Pipeline::Status status;
  status.committed.batch = 17;
  status.updates = 800;
  status.graph.edges = 4;
  status.graph.vertex_labels = 5;
  status.graph.edge_labels = 6;
  const Json told = to_json(status);
  EXPECT_EQ(told.at("batch"), 17);
  EXPECT_EQ(told.at("updates"), 800);
  EXPECT_EQ(told.at("graph").at("edges"), 4);
  EXPECT_EQ(told.at("graph").at("vertex_labels"), 5);
  EXPECT_EQ(told.at("graph").at("edge_labels"), 6);
  EXPECT_FALSE(told.contains("gpu"));
}

TEST(StatusTest, TellsEveryMetricOfABackend) {
  Pipeline::Status status;
  status.backend = BackendStatistics{"tape", {{"hits", std::uint64_t{11}}, {"busy_seconds", 0.5}}, ""};
  EXPECT_EQ(to_json(status).at("tape"), (Json{{"hits", 11}, {"busy_seconds", 0.5}}));
  status.backend->notice = "the graph exceeds device memory";
  EXPECT_EQ(to_json(status).at("tape"),
            (Json{{"hits", 11}, {"busy_seconds", 0.5}, {"notice", "the graph exceeds device memory"}}));
}

TEST(StatusTest, OfPartitionsItTellsWhatIsCommittedAndRead) {
  Pipeline::Status status;
  status.committed.ends[{"payments", 3}] = 12;
  kafka::Progress progress;
  progress.id = {"payments", 3};
  progress.seen = 17;
  progress.taken = 17;
  progress.end = 20;
  status.input.push_back(progress);
  EXPECT_EQ(to_json(status).at("partitions"),
            (Json{{"payments[3]", {{"committed", 12}, {"read", 17}, {"end", 20}, {"lag", 8}}}}));
}

TEST(StatusTest, OfQueriesItTellsWhichAreSuspendedAndOfABatchHowLongItTakes) {
  Pipeline::Status status;
  EXPECT_EQ(to_json(status).at("suspended"), Json::object());
  EXPECT_FALSE(to_json(status).contains("under_way"));
  status.suspended = {{"hub", "00ff", 16, Shortfall::limit}, {"ring", "00aa", 17, Shortfall::timeout}};
  status.under_way = BatchMonitor::Now{18, 2.5, "path", 7};
  EXPECT_EQ(to_json(status).at("suspended"),
            (Json{{"hub", {{"batch", 16}, {"over", "limit"}}}, {"ring", {{"batch", 17}, {"over", "timeout"}}}}));
  EXPECT_EQ(to_json(status).at("under_way"),
            (Json{{"batch", 18}, {"seconds", 2.5}, {"query", "path"}, {"matches", 7}, {"existing", false}}));
}

TEST(StatusTest, OfEachQueryItTellsWhatMatchingTook) {
  Pipeline::Status status;
  EXPECT_EQ(to_json(status).at("query_seconds"), Json::object());
  status.queries = {{"ring", ""}, {"new", ""}};
  status.matches["gone"].seconds = 9;
  status.matches["ring"].seconds = 0.25;
  EXPECT_EQ(to_json(status).at("query_seconds"), (Json{{"ring", 0.25}, {"new", 0.0}}));
}

TEST(StatusTest, OfAStandbyItTellsWhetherItCouldTakeOver) {
  StandbyStatus status;
  status.why_not = "payments[0]: offset 7 is needed";
  EXPECT_EQ(to_json(status), (Json{{"could_take_over", false},
                                   {"why_not", "payments[0]: offset 7 is needed"},
                                   {"warm", false},
                                   {"doing", ""},
                                   {"batch", nullptr},
                                   {"committed", nullptr},
                                   {"behind_batches", 0},
                                   {"behind_seconds", 0.0},
                                   {"from", ""}}));
  status.could_take_over = true;
  status.batch = 16;
  status.committed = 17;
  status.behind_batches = 1;
  status.behind_seconds = 0.5;
  status.share_failures = 3;
  status.share_error = "gone";
  status.refused = {"a.dms: broken"};
  const Json told = to_json(status);
  EXPECT_EQ(told.at("could_take_over"), true);
  EXPECT_EQ(told.at("batch"), 16);
  EXPECT_EQ(told.at("behind_seconds"), 0.5);
  EXPECT_EQ(told.at("share"), (Json{{"failures", 3}, {"last_error", "gone"}}));
  EXPECT_EQ(told.at("refused_snapshots"), (Json{"a.dms: broken"}));
}

TEST(StatusTest, OfAShareItTellsWhatWasPublished) {
  EXPECT_EQ(to_json(ShareStatistics{17, 4, 2, "full"}),
            (Json{{"batch", 17}, {"published", 4}, {"failures", 2}, {"last_error", "full"}}));
}

TEST(StatusTest, OfAlertOnceItTellsHowManyMatchesAreLeftOut) {
  Pipeline::Status status;
  EXPECT_EQ(to_json(status).at("suppressed"), Json::object());
  status.suppressed = {{"fan", 12}};
  EXPECT_EQ(to_json(status).at("suppressed"), (Json{{"fan", 12}}));
}

TEST(StatusTest, CountsBeyond64BitsKeepTheirDigits) {
  const Count largest = ~Count{0};
  Pipeline::Status status;
  status.queries = {{"ring", ""}};
  status.matches["ring"].added = largest;
  status.matches["ring"].removed = Count{1} << 64;
  status.suppressed = {{"ring", UINT64_MAX}};
  const std::string text = dump_exact(to_json(status));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("appeared":340282366920938463463374607431768211455,)"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("vanished":18446744073709551616})"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("suppressed":{"ring":18446744073709551615})"));
  EXPECT_EQ(dump_exact(Json{{"text", "\x1a"}, {"and", "\x1aq7"}}), Json({{"text", "\x1a"}, {"and", "\x1aq7"}}).dump());
}

TEST(StatusTest, TellsRatesAndTimesOfCommittedBatches) {
  Pipeline::Status status;
  EXPECT_FALSE(to_json(status).contains("batches"));
  EXPECT_FALSE(to_json(status).at("snapshot").contains("age"));
  EXPECT_EQ(to_json(status).at("time_at"), nullptr);
  status.committed.watermark = 1'795'772'220'786'844;
  EXPECT_EQ(to_json(status).at("time"), 1'795'772'220'786'844);
  EXPECT_EQ(to_json(status).at("time_at"), "2026-11-27T09:37:00.786844Z");
  status.matches["ring"] = {"00ff", 12, 3, 0.25};
  status.matches["removed"] = {"00aa", 1, 1, 0.5};
  status.queries.resize(1);
  status.queries[0].name = "ring";
  status.batch_times.add(0.5);
  status.commits.waiting = 4;
  status.snapshots.last_made = std::chrono::steady_clock::now() - std::chrono::seconds(90);
  const Json told = to_json(status);
  EXPECT_EQ(told.at("matches"), (Json{{"ring", {{"appeared", 12}, {"vanished", 3}, {"seconds", 0.25}}}}));
  EXPECT_EQ(told.at("batches"), (Json{{"of", 1}, {"last", 0.5}, {"median", 0.5}, {"p99", 0.5}, {"longest", 0.5}}));
  EXPECT_EQ(told.at("queue"), (Json{{"batches", 4}}));
  EXPECT_NEAR(told.at("snapshot").at("age").get<double>(), 90, 5);
}

TEST(StatusTest, OfReadingItTellsWhatIsRefusedAndDoubtful) {
  Pipeline::Status status;
  EXPECT_EQ(to_json(status).at("warnings"), Json::array());
  status.refused.share.add(4, 3);
  status.refused.last = "t[0] at offset 7: bad_id: x";
  status.warnings.push_back({"time_unit", "t[0] at offset 1", "what", "remedy", 3});
  const Json told = to_json(status);
  EXPECT_EQ(told.at("refused"), (Json{{"records", 3}, {"of", 4}, {"last", "t[0] at offset 7: bad_id: x"}}));
  EXPECT_EQ(told.at("warnings"),
            (Json::array({{{"code", "time_unit"}, {"where", "t[0] at offset 1"}, {"what", "what"}, {"remedy", "remedy"}}})));
}

}  // namespace
}  // namespace deltamatch::ingest
