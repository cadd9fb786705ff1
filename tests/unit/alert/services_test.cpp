// Webhooks with templates, Slack, Teams and PagerDuty, against servers that follow the rules of their APIs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "http_support.hpp"
#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/router.hpp"
#include "rules_support.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::deliver;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::error_of;
using testing::eventually;
using ::testing::HasSubstr;
using testing::milliseconds;
using ::testing::Not;
using testing::Notes;
using testing::RuleServer;
using ::testing::StartsWith;
using testing::WebServer;
using Kind = SinkOptions::Kind;
using Json = nlohmann::json;

const std::string routing_key = "0123456789abcdef0123456789ABCDEF";

/// An alert as the router writes it, with any text as an id.
std::string alert(const std::string& id, const std::string& vertex, bool added = true, std::size_t edges = 2,
                  const std::string& query = "ring") {
  std::string text = R"({"v":2,"id":")" + id + R"(","query":)" + Json(query).dump() + R"(,"sign":")" + (added ? "+" : "-") +
                     R"(","batch":17,"time":1767614400500000,"bindings":{"a":)" + Json(vertex).dump() + R"(,"b":9},"edges":[)";
  for (std::size_t i = 0; i < edges; ++i) {
    text += i == 0 ? "" : ",";
    text += R"({"source":)" + Json(vertex).dump() + R"(,"label":"TRANSFER","target":9,"key":"tx-)" + std::to_string(i) +
            R"(","time":1767614400500000,"attributes":{"amount":"1200.00","channel":"web"}})";
  }
  return text + R"(],"cause":[0]})";
}

std::string id_of(int number) { return fmt::format("{:032x}", number); }

const std::string suppressed = R"({"v":1,"query":"ring","batch":17,"suppressed":123})";
const std::string suspended = R"({"v":1,"query":"ring","batch":17,"partial":"limit","matches":0})";

AlertList list_of(const std::vector<std::string>& alerts) {
  AlertList list;
  for (const std::string& each : alerts) list.add(each);
  return list;
}

/// Ids that break what is not escaped, or are too long.
const std::vector<std::string> hostile{R"(","blocks":[]},{"x":")",
                                       "<!channel> <@U123> <http://evil.example|bank>",
                                       "[bank](http://evil.example) *b* `code`",
                                       "a&b&amp;<>",
                                       "\n\t\x01 line",
                                       std::string(5000, 'x'),
                                       "\U0001F600 ü ß",
                                       ""};

class Services : public ::testing::Test {
 protected:
  Services() {
    options_.name = "team";
    options_.timeout = milliseconds(5000);
    options_.link = "https://dm.example/#{{query}}/{{bindings.a}}";
  }
  std::unique_ptr<AlertSink> sink(Kind kind, const std::string& url) {
    options_.kind = kind;
    options_.url = url;
    return make_alert_sink("fraud", options_, notes_);
  }
  static std::vector<std::string> hostile_alerts(std::size_t edges = 2) {
    std::vector<std::string> alerts;
    for (const std::string& id : hostile) alerts.push_back(alert(id_of(static_cast<int>(alerts.size())), id, true, edges));
    alerts.push_back(suppressed);
    alerts.push_back(suspended);
    // As the router writes bytes that are no UTF-8.
    std::string odd = alert(id_of(99), "odd");
    odd.replace(odd.find("\"odd\""), 5, R"("\udcff\udc80")");
    alerts.push_back(odd);
    return alerts;
  }

  SinkOptions options_;
  Notes notes_;
};

TEST_F(Services, SlackGetsBlocks) {
  const RuleServer server(testing::slack_rules);
  deliver(*sink(Kind::slack, server.url()), 17, list_of({alert(id_of(1), "acct-1")}));
  ASSERT_EQ(server.accepted().size(), 1U);
  const Json message = server.accepted()[0];
  EXPECT_EQ(message["text"], "ring: a match appeared");
  const Json& blocks = message["blocks"];
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(blocks[0]["text"]["text"], "ring: a match appeared");
  EXPECT_EQ(blocks[1]["fields"][0]["text"], "*a*\n`acct-1`");
  EXPECT_EQ(blocks[1]["fields"][1]["text"], "*b*\n`9`");
  EXPECT_THAT(blocks[2]["text"]["text"].get<std::string>(),
              HasSubstr("`acct-1 → 9  TRANSFER, key tx-0, amount 1200.00, channel web, 2026-01-05T12:00:00.500000Z`\n"));
  EXPECT_EQ(blocks[3]["elements"][0]["text"],
            "fraud, 2026-01-05T12:00:00.500000Z, batch 17, " + id_of(1) + ", <https://dm.example/#ring/acct-1|open>");
}

TEST_F(Services, AnEdgeWithoutALabelHasNoStrayComma) {
  const RuleServer server(testing::slack_rules);
  const std::string head =
      R"({"v":2,"id":")" + id_of(1) + R"(","query":"ring","sign":"+","batch":17,"time":null,"bindings":{"a":1},)";
  deliver(
      *sink(Kind::slack, server.url()), 17,
      list_of({head + R"("edges":[{"source":"R0","label":"","target":"R1","key":"7","time":null,"attributes":{}}],"cause":[]})",
               head + R"("edges":[["R0","","R1"]],"cause":[]})"}));
  ASSERT_EQ(server.accepted().size(), 1U);
  const Json blocks = server.accepted()[0]["blocks"];
  EXPECT_EQ(blocks[2]["text"]["text"], "`R0 → R1  key 7`\n");
  EXPECT_EQ(blocks[7]["text"]["text"], "`R0 → R1`\n");
}

TEST_F(Services, SlackTakesWhateverAnIdIs) {
  const RuleServer server(testing::slack_rules);
  const auto slack = sink(Kind::slack, server.url());
  std::uint64_t batch = 0;
  for (const std::size_t edges : {0, 1, 100}) {
    for (const std::string& each : hostile_alerts(edges)) deliver(*slack, ++batch, list_of({each}));
    deliver(*slack, ++batch, list_of(hostile_alerts(edges)));
  }
  EXPECT_THAT(server.statuses(), Each(200));
  EXPECT_EQ(server.accepted().size(), 3U * (11 + 2)) << "8 alerts in a message";
  for (const Json& message : server.accepted()) EXPECT_THAT(message.dump(), Not(HasSubstr("<!channel>")));
}

TEST_F(Services, ManyVerticesAndLongNamesFitSlack) {
  const RuleServer server(testing::slack_rules);
  Json many = Json::parse(alert(id_of(1), "x", true, 32, std::string(400, '&')));
  for (int i = 0; i < 32; ++i) many["bindings"]["v" + std::to_string(i) + std::string(300, '<')] = std::string(400, '&');
  std::string text = many.dump();
  deliver(*sink(Kind::slack, server.url()), 17, list_of(std::vector<std::string>(8, text)));
  EXPECT_THAT(server.statuses(), ElementsAre(200));
  EXPECT_THAT(server.accepted().at(0).dump(), HasSubstr("and 15 more"));
}

TEST_F(Services, SlackIsNotFlooded) {
  const RuleServer server(testing::slack_rules, milliseconds(150));
  options_.min_interval = milliseconds(200);
  options_.max_messages = 2;
  const auto folder = std::filesystem::temp_directory_path() / ("deltamatch-services-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  options_.dead_letters = folder / "letters.jsonl";
  std::vector<std::string> alerts;
  for (int i = 0; i < 100; ++i) alerts.push_back(alert(id_of(i), "acct", true, 2, i < 96 ? "ring" : "fan"));
  const auto slack = sink(Kind::slack, server.url());
  slack->recover("");
  deliver(*slack, 17, list_of(alerts));
  deliver(*slack, 18, list_of({alerts[0]}));
  EXPECT_THAT(server.statuses(), ElementsAre(200, 200, 200, 200)) << "requests keep their distance";
  EXPECT_THAT(server.accepted()[2]["text"].get<std::string>(),
              StartsWith("deltamatch fraud: 84 more alerts of batch 17 are not shown here (ring 80, fan 4). They are in " +
                         options_.dead_letters.string() + " on "));
  EXPECT_EQ(slack->dropped(), 84U);
  EXPECT_EQ(slack->left_out(), 84U);
  std::ifstream letters(options_.dead_letters);
  std::size_t lines = 0;
  for (std::string line; std::getline(letters, line); ++lines) {
    EXPECT_EQ(Json::parse(line)["alert"]["id"], id_of(static_cast<int>(16 + lines)));
    EXPECT_EQ(Json::parse(line)["reason"], "the batch has more alerts than max_messages allows");
  }
  EXPECT_EQ(lines, 84U);
  std::filesystem::remove_all(folder);
}

TEST_F(Services, SlacksRateLimitIsHeeded) {
  const RuleServer server(testing::slack_rules, std::chrono::seconds(1));
  const auto slack = sink(Kind::slack, server.url());
  deliver(*slack, 17, list_of({alert(id_of(1), "a")}));
  try {
    deliver(*slack, 18, list_of({alert(id_of(2), "a")}));
    FAIL() << "429 expected";
  } catch (const TryLater& later) {
    EXPECT_EQ(later.wait(), milliseconds(1000));
    EXPECT_THAT(later.what(), HasSubstr("status 429: rate_limited"));
  }
}

TEST_F(Services, WaitingForTheNextMessageCanBeCancelled) {
  const RuleServer server(testing::slack_rules);
  options_.min_interval = std::chrono::hours(1);
  const auto slack = sink(Kind::slack, server.url());
  deliver(*slack, 17, list_of({alert(id_of(1), "a")}));
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(50));
    slack->cancel();
  });
  EXPECT_THAT(error_of([&] { deliver(*slack, 18, list_of({alert(id_of(2), "a")})); }), HasSubstr("cancelled"));
  canceller.join();
}

TEST_F(Services, WhatAServiceCallsInvalidIsGivenUpAtOnce) {
  for (const Kind kind : {Kind::slack, Kind::teams, Kind::pagerduty}) {
    WebServer server;
    options_.routing_key = routing_key;
    const auto to = sink(kind, server.url("/services/T0/B0/s3cr3t"));
    server.answer({.status = 400, .headers = {}, .before = [] {}, .body = "invalid_payload for " + routing_key + " s3cr3t"});
    deliver(*to, 17, list_of({alert(id_of(1), "a")}));
    EXPECT_EQ(to->dropped(), 1U);
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_THAT(notes_.lines().back(), HasSubstr("the server answered with status 400: invalid_payload for *** ***"));
    for (const int status : {403, 404, 410, 500}) {  // the sink may be mended, so the alerts wait
      server.answer({.status = status});
      EXPECT_THAT(error_of([&] { deliver(*to, 18, list_of({alert(id_of(2), "a")})); }), HasSubstr(std::to_string(status)));
      to->abort();
    }
    deliver(*to, 18, list_of({alert(id_of(2), "a")}));
    EXPECT_EQ(to->dropped(), 1U);
  }
}

TEST_F(Services, TeamsGetsAnAdaptiveCard) {
  const RuleServer server(testing::teams_rules);
  deliver(*sink(Kind::teams, server.url()), 17, list_of({alert(id_of(1), "acct-1")}));
  ASSERT_EQ(server.accepted().size(), 1U);
  const Json body = server.accepted()[0]["attachments"][0]["content"]["body"];
  std::vector<std::string> lines;
  for (const Json& element : body) {
    lines.push_back(element["type"] == "ActionSet" ? element["actions"][0]["url"].get<std::string>()
                                                   : element["inlines"][0]["text"].get<std::string>());
  }
  EXPECT_THAT(lines,
              ElementsAre("ring: a match appeared", "a: acct-1", "b: 9",
                          "acct-1 → 9  TRANSFER, key tx-0, amount 1200.00, channel web, 2026-01-05T12:00:00.500000Z",
                          "acct-1 → 9  TRANSFER, key tx-1, amount 1200.00, channel web, 2026-01-05T12:00:00.500000Z",
                          "fraud, 2026-01-05T12:00:00.500000Z, batch 17, " + id_of(1), "https://dm.example/#ring/acct-1"));
}

TEST_F(Services, TeamsTakesWhateverAnIdIs) {
  const RuleServer server(testing::teams_rules);
  for (const std::size_t edges : {0, 1, 100}) {
    const auto teams = sink(Kind::teams, server.url());
    std::uint64_t batch = 0;
    deliver(*teams, ++batch, list_of(hostile_alerts(edges)));
    for (const std::string& id : hostile) {
      std::vector<std::string> alike(5, alert(id_of(1), id + id + std::string(3000, '"'), true, edges, std::string(500, '\\')));
      deliver(*teams, ++batch, list_of(alike));
    }
  }
  EXPECT_THAT(server.statuses(), Each(202));
  EXPECT_GT(server.largest(), 10'000U) << "the limit was not approached";
}

TEST_F(Services, AnOldConnectorsFailureIsOne) {
  WebServer server;
  const auto teams = sink(Kind::teams, server.url());
  server.answer({.body = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429"});
  EXPECT_THAT(error_of([&] { deliver(*teams, 17, list_of({alert(id_of(1), "a")})); }), HasSubstr("HTTP error 429"));
  teams->abort();
  deliver(*teams, 17, list_of({alert(id_of(1), "a")}));
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Services, PagerdutyTriggersAndResolves) {
  const RuleServer server(testing::pagerduty_rules);
  options_.routing_key = routing_key;
  options_.severities = {{"ring", "critical"}};
  const auto pager = sink(Kind::pagerduty, server.url());
  deliver(*pager, 17, list_of({alert(id_of(1), "acct-1"), suppressed, suspended}));
  deliver(*pager, 18, list_of({alert(id_of(1), "acct-1", false), alert(id_of(2), "x", true, 2, "fan")}));
  const auto events = server.accepted();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["event_action"], "trigger");
  const std::string key = events[0]["dedup_key"];
  EXPECT_THAT(key, ::testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(events[0]["routing_key"], routing_key);
  EXPECT_EQ(events[0]["client_url"], "https://dm.example/#ring/acct-1");
  EXPECT_EQ(events[0]["links"][0]["href"], "https://dm.example/#ring/acct-1");
  const Json& payload = events[0]["payload"];
  EXPECT_EQ(payload["summary"], "ring: a match appeared: a acct-1, b 9");
  EXPECT_EQ(payload["source"], "fraud");
  EXPECT_EQ(payload["severity"], "critical");
  EXPECT_EQ(payload["custom_details"], Json::parse(alert(id_of(1), "acct-1")));
  EXPECT_EQ(events[1]["dedup_key"], "fraud/team/suppressed/ring");
  EXPECT_EQ(events[1]["payload"]["severity"], "info");
  EXPECT_EQ(events[2]["dedup_key"], "fraud/team/suspended/ring");
  EXPECT_EQ(events[2]["payload"]["severity"], "warning");
  EXPECT_EQ(events[3], (Json{{"routing_key", routing_key}, {"event_action", "resolve"}, {"dedup_key", key}}));
  EXPECT_EQ(events[4]["payload"]["severity"], "error");
}

TEST_F(Services, ApplicationsAndQueriesShareARoutingKeyOfPagerdutyWithoutMixingTheirIncidents) {
  const RuleServer server(testing::pagerduty_rules);
  options_.routing_key = routing_key;
  options_.kind = Kind::pagerduty;
  options_.url = server.url();
  for (const char* application : {"fraud", "aml"}) {
    const auto pager = make_alert_sink(application, options_, notes_);
    deliver(*pager, 17, list_of({alert(id_of(1), "a", true, 1, "ring"), alert(id_of(1), "a", true, 1, "fan")}));
  }
  std::set<std::string> keys;
  for (const Json& event : server.accepted()) keys.insert(event["dedup_key"]);
  EXPECT_EQ(keys.size(), 4U);
}

TEST_F(Services, WhatTheOperatorCanMendIsTriedAgain) {
  const std::vector<std::pair<Kind, std::string>> answers{
      {Kind::pagerduty, R"({"status":"invalid event","message":"Event object is invalid","errors":["Invalid routing key"]})"},
      {Kind::pagerduty,
       R"j({"status":"invalid event","errors":["Length of 'routing_key' is incorrect (should be 32 characters)"]})j"},
      {Kind::teams, R"({"error":{"code":"WorkflowTriggerIsNotEnabled","message":"trigger is not enabled."}})"},
      {Kind::teams, "Invalid webhook URL"}};
  for (const auto& [kind, answer] : answers) {
    WebServer server;
    options_.routing_key = routing_key;
    const auto to = sink(kind, server.url("/services/T0/B0/s3cr3t"));
    server.answer({.status = 400, .headers = {}, .before = [] {}, .body = answer});
    EXPECT_THAT(error_of([&] { deliver(*to, 17, list_of({alert(id_of(1), "a")})); }), HasSubstr("status 400")) << answer;
    to->abort();
    deliver(*to, 17, list_of({alert(id_of(1), "a")}));
    EXPECT_EQ(to->dropped(), 0U);
  }
}

TEST_F(Services, PagerdutyTakesWhateverAnIdIs) {
  const RuleServer server(testing::pagerduty_rules);
  options_.routing_key = routing_key;
  const auto pager = sink(Kind::pagerduty, server.url());
  deliver(*pager, 17, list_of(hostile_alerts()));
  deliver(*pager, 18, list_of({alert(id_of(1), std::string(600'000, 'x')), alert(id_of(2), "a", true, 5000)}));
  EXPECT_THAT(server.statuses(), Each(202));
  EXPECT_GT(server.accepted().back()["payload"]["custom_details"]["too_large"], 500'000);
}

TEST_F(Services, ALimitOfTheRateLeavesNoIncidentOpen) {
  options_.kind = Kind::pagerduty;
  options_.rate_limit = 1;
  AlertRouter router(std::vector{options_});
  ServiceQuery query;
  query.query.name = "ring";
  query.sinks = {"team"};
  router.set_queries({&query, 1});
  router.begin(1);
  for (const bool added : {true, true, false, false}) {
    Match match{.id = {1, 2},
                .query = "ring",
                .added = added,
                .batch = 1,
                .time = {},
                .names = {},
                .vertices = {},
                .edges = {},
                .cause = {}};
    router.write(match);
  }
  router.commit();
  std::string signs;
  router.take()[0].for_each([&](std::string_view each) { signs += Json::parse(each)["sign"]; });
  EXPECT_EQ(signs, "+--");
}

TEST_F(Services, AWebhookSendsWhatItsTemplateSays) {
  WebServer server;
  options_.body = R"({"ids": [{{#alerts}}"{{id}}"{{^last}}, {{/last}}{{/alerts}}], "n": {{size}}, "part": {{part}}})";
  deliver(*sink(Kind::webhook, server.url()), 17, list_of({alert(id_of(1), "a"), alert(id_of(2), "b")}));
  options_.each = SinkOptions::Each::alert;
  options_.content_type = "text/plain; charset=utf-8";
  options_.body = "{{query}} {{bindings.a}}";
  deliver(*sink(Kind::webhook, server.url()), 17, list_of({alert(id_of(1), "a"), alert(id_of(2), "b")}));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(Json::parse(requests[0].body), (Json{{"ids", {id_of(1), id_of(2)}}, {"n", 2}, {"part", 0}}));
  EXPECT_EQ(requests[1].body, "ring a");
  EXPECT_EQ(requests[1].get_header_value("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(requests[1].get_header_value("Idempotency-Key"), "fraud/team/17/0");
  EXPECT_EQ(requests[2].get_header_value("Idempotency-Key"), "fraud/team/17/1");
}

TEST_F(Services, ABodyThatIsNoJsonIsNotSent) {
  WebServer server;
  options_.body = R"({"a": {{bindings.a}}})";
  options_.each = SinkOptions::Each::alert;
  const auto web = sink(Kind::webhook, server.url());
  deliver(*web, 17, list_of({alert(id_of(1), "not a number")}));
  EXPECT_EQ(server.requests().size(), 0U);
  EXPECT_EQ(web->dropped(), 1U);
  EXPECT_THAT(notes_.lines().back(), HasSubstr("the template does not give JSON for these alerts"));
}

TEST_F(Services, AFailedMessageGoesOnWhereItFailed) {
  WebServer server;
  const auto slack = sink(Kind::slack, server.url());
  std::vector<std::string> alerts;
  for (int i = 0; i < 20; ++i) alerts.push_back(alert(id_of(i), "a"));
  server.answer({});
  server.answer({.status = 500});
  EXPECT_NE(error_of([&] { deliver(*slack, 17, list_of(alerts)); }), "");
  slack->abort();
  deliver(*slack, 17, list_of(alerts));
  std::vector<std::string> keys;
  for (const auto& request : server.requests()) keys.push_back(request.get_header_value("Idempotency-Key"));
  EXPECT_THAT(keys, ElementsAre("fraud/team/17/0", "fraud/team/17/1", "fraud/team/17/1", "fraud/team/17/2"));
}

}  // namespace
}  // namespace deltamatch::ingest
