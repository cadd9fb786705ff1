#include "ingest/service/http/metrics.hpp"

#include <charconv>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::HasSubstr;

/// Reads the text exposition as Prometheus does: "name{label="value"}" to value. Fails the test at a line that it cannot read.
std::map<std::string, double> parse(const std::string& text) {
  static const std::regex comment("# (HELP|TYPE) [a-z_]+ .+");
  static const std::regex sample(R"(([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_]+="(?:[^"\\\n]|\\.)*",?)*\})?) (\S+))");
  std::map<std::string, double> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (line.starts_with('#')) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
    } else if (std::regex_match(line, parts, sample)) {
      EXPECT_TRUE(found.emplace(parts[1], std::stod(parts[2])).second) << "twice: " << line;
    } else {
      ADD_FAILURE() << "no sample: " << line;
    }
  }
  return found;
}

BatchResult result() {
  BatchResult result;
  result.batch = 17;
  result.consumed = 800;
  result.inserted = 700;
  result.deleted = 60;
  result.expired = 10;
  result.ignored = {1, 2, 3, 4, 5};
  result.watermark = Timestamp{1'700'000'000'500'000};
  result.seconds = {0.001, 0, 0, 0.02, 0.003};
  result.queries = {{QueryId{0}, 5, 2, {}, {}}, {QueryId{1}, 0, 0, {}, {}}};
  result.queries[0].seconds = 0.015;
  return result;
}

TEST(MetricsTest, ABatch) {
  Metrics metrics("1.2.3");
  const std::vector<std::string> names{"ring", "say \"x\"\n"};
  metrics.batch(result(), names, 0.03);
  metrics.batch(result(), names, 3);
  metrics.step("fetch", 0.5);
  const auto found = parse(metrics.text());
  EXPECT_EQ(found.at(R"(deltamatch_build_info{version="1.2.3"})"), 1);
  EXPECT_EQ(found.at("deltamatch_updates_total"), 1600);
  EXPECT_EQ(found.at("deltamatch_batches_total"), 2);
  EXPECT_EQ(found.at("deltamatch_batch_seconds_count"), 2);
  EXPECT_NEAR(found.at("deltamatch_batch_seconds_sum"), 3.03, 1e-9);
  EXPECT_EQ(found.at(R"(deltamatch_batch_seconds_bucket{le="0.025"})"), 0);
  EXPECT_EQ(found.at(R"(deltamatch_batch_seconds_bucket{le="0.05"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_batch_seconds_bucket{le="+Inf"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_edge_changes_total{change="inserted"})"), 1400);
  EXPECT_EQ(found.at(R"(deltamatch_edge_changes_total{change="deleted"})"), 100);
  EXPECT_EQ(found.at(R"(deltamatch_edge_changes_total{change="expired"})"), 20);
  EXPECT_EQ(found.at(R"(deltamatch_ignored_updates_total{cause="duplicate_insert"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_ignored_updates_total{cause="absent_delete"})"), 4);
  EXPECT_EQ(found.at(R"(deltamatch_ignored_updates_total{cause="superseded"})"), 6);
  EXPECT_EQ(found.at(R"(deltamatch_ignored_updates_total{cause="late"})"), 8);
  EXPECT_EQ(found.at(R"(deltamatch_ignored_updates_total{cause="self_loop"})"), 10);
  EXPECT_NEAR(found.at(R"(deltamatch_step_seconds_sum{step="match"})"), 0.04, 1e-9);
  EXPECT_NEAR(found.at(R"(deltamatch_step_seconds_sum{step="apply"})"), 0.002, 1e-9);
  EXPECT_EQ(found.at(R"(deltamatch_step_seconds_count{step="settle"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_step_seconds_count{step="fetch"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_matches_total{query="ring",sign="+"})"), 10);
  EXPECT_EQ(found.at(R"(deltamatch_matches_total{query="ring",sign="-"})"), 4);
  EXPECT_EQ(found.at(R"(deltamatch_matches_total{query="say \"x\"\n",sign="-"})"), 0);
  EXPECT_NEAR(found.at(R"(deltamatch_query_seconds_total{query="ring"})"), 0.03, 1e-9);
  EXPECT_EQ(found.at(R"(deltamatch_query_seconds_total{query="say \"x\"\n"})"), 0) << "it is there before it costs anything";
  EXPECT_NEAR(found.at("deltamatch_watermark_seconds"), 1'700'000'000.5, 1e-3);

  metrics.forget_query("ring");
  const auto after = parse(metrics.text());
  EXPECT_FALSE(after.contains(R"(deltamatch_matches_total{query="ring",sign="+"})"));
  EXPECT_FALSE(after.contains(R"(deltamatch_query_seconds_total{query="ring"})"));
  EXPECT_TRUE(after.contains(R"(deltamatch_matches_total{query="say \"x\"\n",sign="+"})"));
}

TEST(MetricsTest, AQueryThatIsGoneLeavesNoSeriesBehind) {
  Metrics metrics("1");
  BatchResult result;
  result.queries.resize(2);
  for (QueryDelta& delta : result.queries) delta.suppressed = 1;
  const std::vector<std::string> names{"gone", "stays"};
  metrics.batch(result, names, 0);
  for (const std::string& name : names) {
    metrics.over_budget(name, Shortfall::limit);
    metrics.over_budget(name, Shortfall::timeout);
    metrics.suspended(name, true);
    metrics.alerts_suppressed(name, "file", 3);
    metrics.alerts_suppressed(name, "web", 3);
  }
  metrics.forget_query("gone");
  const std::string text = metrics.text();
  EXPECT_EQ(text.find("query=\"gone\""), std::string::npos) << text;
  const auto found = parse(text);
  for (const char* series :
       {R"(deltamatch_matches_suppressed_total{query="stays"})", R"(deltamatch_query_suspended{query="stays"})",
        R"(deltamatch_query_over_budget_total{over="limit",query="stays"})",
        R"(deltamatch_alerts_suppressed_total{query="stays",sink="web"})"})
    EXPECT_TRUE(found.contains(series)) << series;
}

TEST(MetricsTest, TheRest) {
  Metrics metrics("1");
  auto found = parse(metrics.text());
  EXPECT_EQ(found.at(R"(deltamatch_bad_records_total{reason="label_conflict"})"), 0) << "reasons are there before they occur";
  EXPECT_FALSE(found.contains("deltamatch_snapshot_age_seconds")) << "there is none before the first snapshot";

  EXPECT_EQ(found.at("deltamatch_standby_ready"), 0);
  metrics.standby(true, 3, 0.5);
  metrics.share(2, 7);
  metrics.share(2, 9);
  found = parse(metrics.text());
  EXPECT_EQ(found.at("deltamatch_standby_ready"), 1);
  EXPECT_EQ(found.at("deltamatch_standby_behind_batches"), 3);
  EXPECT_EQ(found.at("deltamatch_standby_behind_seconds"), 0.5);
  EXPECT_EQ(found.at("deltamatch_shared_snapshots_total"), 2);
  EXPECT_EQ(found.at("deltamatch_share_failures_total"), 9);
  metrics.graph({.vertices = 3,
                 .edges = 4,
                 .bytes = 5,
                 .adjacency_bytes = 0,
                 .dictionary_bytes = 0,
                 .vertex_labels = 6,
                 .edge_labels = 7});
  EXPECT_FALSE(found.contains("deltamatch_gpu_cached_bytes")) << "there is none where the CPU matches";
  const auto backend = [&](std::uint64_t hits, std::uint64_t misses, std::uint64_t copied, std::uint64_t cached,
                           double seconds) {
    metrics.backend({"gpu",
                     {{"hits", hits},
                      {"misses", misses},
                      {"copied_bytes", copied},
                      {"cached_bytes", cached, BackendMetric::Kind::gauge},
                      {"kernel_seconds", seconds, BackendMetric::Kind::counter, "Seconds that kernels ran."}},
                     ""});
  };
  backend(7, 0, 0, 100, 0.25);
  backend(11, 2, 300, 90, 1.5);
  metrics.consumer_lag({"payments", 3}, 17);
  metrics.consumer_lag({"payments", 3}, 12);
  metrics.bad_records(RejectReason::bad_id, 2);
  metrics.dead_letters(RejectReason::too_long);
  metrics.transaction(Metrics::Outcome::committed, 0.01, 1);
  metrics.transaction(Metrics::Outcome::failed, 0.01, 0);
  metrics.snapshot_written(std::chrono::steady_clock::now() - std::chrono::seconds(100));
  metrics.snapshot_failed();
  metrics.alerts_suppressed("ring", "mail", 7);
  DeliveryStatistics mail;
  mail.alerts = 9;
  mail.failures = 2;
  mail.dropped = 1;
  mail.undelivered = 5;
  metrics.sink("mail", mail);
  mail.alerts = 12;
  mail.dropped = 3;
  mail.left_out = 2;
  mail.undelivered = 4;
  metrics.sink("mail", mail);
  metrics.alerts_delivered("kafka", 3);
  metrics.state(ServiceState::recovering);
  metrics.state(ServiceState::running);
  found = parse(metrics.text());
  EXPECT_EQ(found.at("deltamatch_graph_vertices"), 3);
  EXPECT_EQ(found.at("deltamatch_graph_edges"), 4);
  EXPECT_EQ(found.at("deltamatch_graph_bytes"), 5);
  EXPECT_EQ(found.at(R"(deltamatch_graph_labels{of="vertices"})"), 6);
  EXPECT_EQ(found.at(R"(deltamatch_graph_labels{of="edges"})"), 7);
  EXPECT_EQ(found.at(R"(deltamatch_gpu_look_ups_total{result="hit"})"), 11);
  EXPECT_EQ(found.at(R"(deltamatch_gpu_look_ups_total{result="miss"})"), 2);
  EXPECT_EQ(found.at("deltamatch_gpu_copied_bytes_total"), 300);
  EXPECT_EQ(found.at("deltamatch_gpu_cached_bytes"), 90);
  EXPECT_EQ(found.at("deltamatch_gpu_kernel_seconds_total"), 1.5);
  EXPECT_EQ(found.at(R"(deltamatch_consumer_lag{partition="3",topic="payments"})"), 12);
  EXPECT_EQ(found.at(R"(deltamatch_bad_records_total{reason="bad_id"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_dead_letters_total{reason="too_long"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_transactions_total{outcome="committed"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_transactions_total{outcome="aborted"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_transactions_total{outcome="fenced"})"), 0);
  EXPECT_EQ(found.at("deltamatch_transaction_seconds_count"), 2);
  EXPECT_NEAR(found.at("deltamatch_snapshot_age_seconds"), 100, 20);
  EXPECT_EQ(found.at("deltamatch_snapshot_failures_total"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_alerts_suppressed_total{query="ring",sink="mail"})"), 7);
  EXPECT_EQ(found.at(R"(deltamatch_alerts_delivered_total{sink="mail"})"), 12);
  EXPECT_EQ(found.at(R"(deltamatch_alerts_delivered_total{sink="kafka"})"), 3);
  EXPECT_EQ(found.at(R"(deltamatch_sink_undelivered_batches{sink="mail"})"), 4);
  EXPECT_EQ(found.at(R"(deltamatch_delivery_failures_total{sink="mail"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_alerts_dropped_total{reason="given_up",sink="mail"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_alerts_dropped_total{reason="max_messages",sink="mail"})"), 2);
  EXPECT_EQ(found.at(R"(deltamatch_state{state="running"})"), 1);
  EXPECT_EQ(found.at(R"(deltamatch_state{state="recovering"})"), 0);
  EXPECT_EQ(found.at(R"(deltamatch_state{state="standby"})"), 0);
  EXPECT_EQ(found.at(R"(deltamatch_state{state="stopping"})"), 0);
}

TEST(MetricsTest, ManyThreadsCount) {
  Metrics metrics("1");
  const std::vector<std::string> names{"ring", "path"};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        metrics.batch(result(), names, 0.001);
        metrics.forget_query("path");
        if (j % 50 == 0) parse(metrics.text());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(parse(metrics.text()).at("deltamatch_batches_total"), 800);
  EXPECT_EQ(parse(metrics.text()).at(R"(deltamatch_matches_total{query="ring",sign="+"})"), 4000);
}

TEST(MetricsTest, CountsBeyond64BitsHold) {
  Metrics metrics("1");
  BatchResult large = result();
  large.queries = {{QueryId{0}, Count{1} << 100, 0, {}, {}}};
  metrics.batch(large, std::vector<std::string>{"star"}, 1);
  EXPECT_NEAR(parse(metrics.text()).at(R"(deltamatch_matches_total{query="star",sign="+"})"), 1.2676506002282294e30, 1e20);
}

TEST(MetricsTest, WhatIsRefusedAndWhatIsDoubtful) {
  Metrics metrics("1");
  EXPECT_EQ(parse(metrics.text()).at("deltamatch_refused_share"), 0);
  metrics.refused_share(0.75);
  metrics.doubtful_reading("time_unit");
  metrics.doubtful_reading("time_unit");
  const auto found = parse(metrics.text());
  EXPECT_EQ(found.at("deltamatch_refused_share"), 0.75);
  EXPECT_EQ(found.at(R"(deltamatch_doubtful_readings_total{code="time_unit"})"), 2);
}

}  // namespace
}  // namespace deltamatch::ingest
