// The service gets exactly what its configuration says.
#include "cli/config/service_config.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <optional>
#include <source_dir.hpp>
#include <string>
#include <vector>

#include "cli/config/restart.hpp"
#include "cli/options/small_file.hpp"
#include "deltamatch/error.hpp"
#include "ingest/codec/schema_text.hpp"
#include "unit/config/support.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A value with some members set.
template <typename Value, typename Set>
Value with(Set set) {
  Value value;
  set(value);
  return value;
}

class ServiceConfigTest : public testing::Test {
 protected:
  ServiceConfig read(const std::string& text, const std::map<std::string, std::string>& environment = {},
                     std::optional<std::uint32_t> shard = {}) {
    folder_.write("etc/service.yaml", test::completed(text));
    return read_service_config("etc/service.yaml", test::variables(environment), shard);
  }
  std::string refusal(const std::string& text, std::optional<std::uint32_t> shard) {
    try {
      static_cast<void>(read(text, {}, shard));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::configuration);
      return error.what();
    }
    return "fine";
  }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }

  test::Folder folder_;
};

TEST_F(ServiceConfigTest, TheLeastConfigurationHasTheDefaults) {
  const ServiceConfig config = read("");
  ingest::ServiceOptions expected;
  expected.application = "app";
  expected.kafka = {{"bootstrap.servers", "localhost:9092"}};
  expected.input.topics = {with<ingest::InputTopics>([](auto& topics) { topics.name = "payments"; })};
  expected.state.directory = "etc/state";
  EXPECT_EQ(config.service, expected);
  EXPECT_EQ(config.backend, BackendOptions{});
}

TEST_F(ServiceConfigTest, EmptySectionsAreDefaults) {
  EXPECT_EQ(read("batch:\nengine:\n  gpu:\nhttp:\nlog: {}\nsinks:\ngraph:\n  start:\n").service, read("").service);
}

TEST_F(ServiceConfigTest, EveryKeyArrives) {
  write("etc/seed.csv", "a,b\n");
  write("etc/labels.jsonl", "{}");
  const ServiceConfig config = read(R"(
application: pay.v2
state: {directory: /var/lib/x, snapshot_every: never, snapshot_log_size: 2GiB, keep_snapshots: 5,
        share: {put: [up, "{file}", "s3://b/{name}"], get: [down, "{name}{file}"], list: [ls], remove: [rm, "{name}"], timeout: 9s,
                keep: 4}}
standby: {warm: false}
kafka: {bootstrap.servers: "a:1,b:2", client.id: "", fetch.min.bytes: 5}
transaction_timeout: 90s
input:
  topics:
    - {name: a, format: csv, separator: semicolon, columns: [op, source, "-", target], ids: integer, time_unit: us, decimal: comma}
    - name: ^b
      columns: {source: x.y, target: "", label: a=b}
      envelope: debezium
      ids: string
      time_format: "%Y"
      edge_label: ""
    - {name: c, format: tve, vertices: true}
  start: 2026-01-31T08:00:00.5Z
  queue: {bytes: 1GiB, records: 7}
  max_record: 2MiB
  max_labels: 12
  max_ahead: 2h
  idle_after: 1m
  refresh_every: 5s
  on_error: dead-letter
  max_refused: 0.25
  dead_letters: {file: bad.jsonl}
graph:
  directed: false
  window: 7d
  start: {files: [{path: seed.csv, header: true}, {path: ./labels.jsonl, format: json, vertices: true}]}
batch: {max_updates: 1, max_delay: 5ms, max_span: 1h, max_match_time: 90s}
engine: {threads: 3, backend: cpu}
http: {listen: "[::1]:0", hosts: [deltamatch.example, Other]}
log: {level: debug, format: json}
shutdown_timeout: 1m
)");
  const ingest::ServiceOptions& service = config.service;
  EXPECT_EQ(service.application, "pay.v2");
  EXPECT_EQ(service.state,
            (ingest::StateOptions{
                "/var/lib/x",
                0s,
                std::uint64_t{2} << 30,
                5,
                {{}, {"up", "{file}", "s3://b/{name}"}, {"down", "{name}{file}"}, {"ls"}, {"rm", "{name}"}, 9s, 4}}));
  EXPECT_EQ(service.standby, ingest::StandbyOptions{.warm = false});
  EXPECT_EQ(service.kafka,
            (ingest::KafkaProperties{{"bootstrap.servers", "a:1,b:2"}, {"client.id", ""}, {"fetch.min.bytes", "5"}}));
  EXPECT_EQ(service.transaction_timeout, 90s);
  ASSERT_EQ(service.input.topics.size(), 3U);
  const auto& [a, b, c] = std::tie(service.input.topics[0], service.input.topics[1], service.input.topics[2]);
  EXPECT_EQ(a, with<ingest::InputTopics>([](auto& topics) {
              topics.name = "a";
              topics.format = ingest::Format::csv;
              topics.codec.columns = "op,source,-,target";
              topics.codec.separator = ';';
              topics.codec.ids = ingest::IdKind::integer;
              topics.codec.time_unit = ingest::TimeUnit::microseconds;
              topics.codec.decimal = ingest::Decimal::comma;
            }));
  EXPECT_EQ(b, with<ingest::InputTopics>([](auto& topics) {
              topics.name = "^b";
              topics.codec.columns = "source=x.y,target=,label=a=b";
              topics.codec.envelope = ingest::Envelope::debezium;
              topics.codec.ids = ingest::IdKind::string;
              topics.codec.time_format = "%Y";
            }));
  EXPECT_EQ(c, with<ingest::InputTopics>([](auto& topics) {
              topics.name = "c";
              topics.format = ingest::Format::tve;
              topics.codec.vertices = true;
            }));
  EXPECT_EQ(service.input.start, (ingest::StartAt{ingest::StartAt::Kind::timestamp, 1769846400500ms}));
  EXPECT_EQ(service.input.queue_bytes, std::size_t{1} << 30);
  EXPECT_EQ(service.input.queue_records, 7U);
  EXPECT_EQ(service.input.max_record, std::size_t{2} << 20);
  EXPECT_EQ(service.input.max_labels, 12U);
  EXPECT_EQ(service.input.max_ahead, 2h);
  EXPECT_EQ(service.input.idle_after, 1min);
  EXPECT_EQ(service.input.refresh_every, 5s);
  EXPECT_EQ(service.input.on_error, ingest::OnError::dead_letter);
  EXPECT_EQ(service.input.max_refused, 0.25);
  EXPECT_EQ(service.input.dead_letter_file, "etc/bad.jsonl");
  EXPECT_EQ(service.input.dead_letter_topic, "");
  EXPECT_FALSE(service.engine.directed);
  EXPECT_EQ(service.engine.window, Timestamp{7} * 86'400'000'000);
  ASSERT_EQ(service.start_graph.files.size(), 2U);
  EXPECT_EQ(service.start_graph.files[0], with<ingest::StartFile>([](auto& file) {
              file.path = "etc/seed.csv";
              file.codec.header = true;
            }));
  EXPECT_EQ(service.start_graph.files[1], with<ingest::StartFile>([](auto& file) {
              file.path = "etc/labels.jsonl";
              file.format = ingest::Format::jsonl;
              file.codec.vertices = true;
            }));
  EXPECT_EQ(service.batching, (ingest::BatchingOptions{1, 5ms, Timestamp{3'600'000'000}, 90s}));
  EXPECT_EQ(service.engine.threads, 3U);
  EXPECT_EQ(config.backend.name, "cpu");
  EXPECT_EQ(service.http, (ingest::HttpOptions{"::1", 0, true, {"deltamatch.example", "Other"}, false, {}}));
  EXPECT_EQ(service.logging, (ingest::LoggingOptions{"debug", true}));
  EXPECT_EQ(service.shutdown_timeout, 1min);
}

TEST_F(ServiceConfigTest, EverySinkArrives) {
  write("etc/token", "Bearer xyz\r\n");
  const ServiceConfig config = read(R"(
sinks:
  k: {type: kafka, topic: t, signs: removed, rate_limit: 5/10m}
  f: {type: file, path: /tmp/a.jsonl, rotate_size: 1MiB, keep_files: 3, max_backoff: 1s}
  s: {type: stdout, signs: new, times: iso}
  w:
    type: webhook
    url: https://h.example:8443/p?q
    headers: {Authorization: {file: token}, X-A: b}
    timeout: 1s
    max_backoff: 2s
    max_tries: 7
    give_up_after: 3h
    refused_tries: 4
    dead_letters: {file: given-up.jsonl}
    rate_limit: 100/s
queries: [{name: q, pattern: (a)--(b)}]
)");
  using Kind = ingest::SinkOptions::Kind;
  const auto& sinks = config.service.sinks;
  ASSERT_EQ(sinks.size(), 4U);
  EXPECT_EQ(sinks[0], with<ingest::SinkOptions>([](auto& sink) {
              sink.name = "k";
              sink.kind = Kind::kafka;
              sink.topic = "t";
              sink.signs = ingest::Signs::removed;
              sink.rate_limit = 5;
              sink.rate_interval = 10min;
            }));
  EXPECT_EQ(sinks[1], with<ingest::SinkOptions>([](auto& sink) {
              sink.name = "f";
              sink.kind = Kind::file;
              sink.path = "/tmp/a.jsonl";
              sink.rotate_bytes = 1 << 20;
              sink.keep_files = 3;
              sink.max_backoff = 1s;
            }));
  EXPECT_EQ(sinks[2], with<ingest::SinkOptions>([](auto& sink) {
              sink.name = "s";
              sink.kind = Kind::console;
              sink.signs = ingest::Signs::added;
              sink.times = ingest::TimeForm::iso;
            }));
  EXPECT_EQ(sinks[3], with<ingest::SinkOptions>([](auto& sink) {
              sink.name = "w";
              sink.kind = Kind::webhook;
              sink.url = "https://h.example:8443/p?q";
              sink.headers = {{"Authorization", "Bearer xyz"}, {"X-A", "b"}};
              sink.timeout = 1s;
              sink.max_backoff = 2s;
              sink.max_tries = 7;
              sink.give_up_after = 3h;
              sink.refused_tries = 4;
              sink.dead_letters = "etc/given-up.jsonl";
              sink.rate_limit = 100;
            }));
  EXPECT_THAT(config.warnings, testing::IsEmpty());
}

TEST_F(ServiceConfigTest, AQueryTakesFromTheBudgetOfAllWhatItDoesNotState) {
  const ServiceConfig config = read(R"(
batch: {max_match_time: never}
budget: {time: 30s, then: stop}
queries:
  - {name: a, pattern: (a)-->(b)}
  - {name: b, pattern: (a)-->(b), budget: {matches: 7}}
  - {name: c, pattern: (a)-->(b), budget: {time: none, matches: 1000000, then: suspend}}
  - {name: d, pattern: (a)-->(b), budget: {time: 1ms}}
  - {name: e, pattern: (a)-->(b), budget: {time: none}}
)");
  using ingest::OverBudget;
  std::vector<ingest::ServiceBudget> budgets;
  for (const ingest::ServiceQuery& query : config.service.queries) budgets.push_back(query.budget);
  EXPECT_THAT(budgets, ElementsAre(ingest::ServiceBudget{{30s, std::nullopt}, OverBudget::stop},
                                   ingest::ServiceBudget{{30s, 7}, OverBudget::stop},
                                   ingest::ServiceBudget{{std::nullopt, 1'000'000}, OverBudget::suspend},
                                   ingest::ServiceBudget{{1ms, std::nullopt}, OverBudget::stop},
                                   ingest::ServiceBudget{{std::nullopt, std::nullopt}, OverBudget::stop}));
  EXPECT_EQ(config.service.batching.max_match_time, 0s);
  EXPECT_FALSE(read("queries: [{name: a, pattern: (a)-->(b)}]").service.queries.at(0).budget.limits.any());
}

TEST_F(ServiceConfigTest, KeysOfWorkersArrive) {
  EXPECT_EQ(read("workers: {slots: 16, spare: true, name: alpha}").service.workers,
            (ingest::WorkersOptions{.slots = 16, .spare = true, .name = "alpha"}));
  EXPECT_EQ(read("workers: {slots: 16, hang_after: 1h}").service.workers.hang_after, 1h);
  EXPECT_EQ(read("workers: {slots: 16, hang_after: never}").service.workers.hang_after, 0h);
  const ServiceConfig config = read("workers: {slots: 16, spare: true, name: alpha, hang_after: 5s}\n");
  EXPECT_THAT(summary(config),
              HasSubstr("workers      16 slots, this one is a spare, named alpha, ends itself after a hang of 5s\n"));
  EXPECT_THAT(config.warnings,
              testing::Contains(HasSubstr("service.yaml:1: workers.hang_after: a worker may wait for brokers")));
  EXPECT_THAT(summary(read("")), Not(HasSubstr("workers")));
}

TEST_F(ServiceConfigTest, AShardIsAnApplicationOfItsOwn) {
  const std::string text =
      "shards: {count: 4}\nsinks:\n  f: {type: file, path: 'a-${DELTAMATCH_SHARD}.jsonl'}\n  w: {type: webhook, url: "
      "'http://h/'}\n";
  const ServiceConfig config = read(text, {{"DELTAMATCH_SHARD", "unheeded"}}, 2);
  const ingest::ServiceOptions& service = config.service;
  EXPECT_EQ(service.application, "app-2");
  EXPECT_EQ(service.state.directory, "etc/state/shard-2");
  EXPECT_EQ(service.input.shard, (ingest::ShardOptions{.count = 4, .number = 2, .of = "app"}));
  EXPECT_EQ(service.sinks.at(0).path, "etc/a-2.jsonl");
  EXPECT_EQ(service.sinks.at(1).dead_letters, "etc/state/shard-2/w.dead-letters.jsonl");
  std::vector<std::int32_t> own;
  for (std::int32_t partition = 0; partition < 12; ++partition) {
    if (service.input.shard.reads(partition)) own.push_back(partition);
  }
  EXPECT_THAT(own, ElementsAre(2, 6, 10));
  EXPECT_THAT(summary(config),
              HasSubstr("application  app-2\nshard        2 of 4: the partitions 2, 6, 10 and so on of each topic\n"));
  EXPECT_EQ(read(text).service.application, "app-0") << "what validate shows if no shard is named";
  EXPECT_EQ(keys_that_need_restart(config, read(text, {}, 2)), std::vector<std::string>{});
  const ingest::ServiceOptions whole = read("").service;
  EXPECT_FALSE(whole.input.shard.divided());
  EXPECT_TRUE(whole.input.shard.reads(7));
  EXPECT_EQ(read("shards: {count: 1}", {}, 0).service.application, "app-0");
}

TEST_F(ServiceConfigTest, ANumberOfAShardHasToFit) {
  EXPECT_EQ(refusal("shards: {count: 4}", 3), "fine");
  EXPECT_THAT(refusal("shards: {count: 4}", 4),
              HasSubstr("service.yaml:1: shards.count: there is no shard 4, as --shard says; shards are numbered from 0 to 3"));
  EXPECT_THAT(refusal("", 0),
              HasSubstr("shards: the command line has --shard, but there are no shards; add shards: {count: 4}"));
  EXPECT_THAT(refusal("shards: {}", 0), HasSubstr("there are no shards"));
  EXPECT_THAT(refusal("shards: {count: 1025}", 0), HasSubstr("shards.count: '1025' is not accepted"));
}

TEST_F(ServiceConfigTest, QueriesComeFromPatternsFilesAndFolders) {
  write("etc/dir/b.pattern", "(a)-->(b)");
  write("etc/dir/a.graph", "v 0 A\nv 1 B\ne 0 1\n");
  write("etc/one.pattern", "(x)-->(y)-->(z)");
  const ServiceConfig config = read(R"(
sinks: {k: {type: kafka, topic: t}, s: {type: stdout}}
queries:
  - {directory: dir, mode: homomorphism}
  - {file: one.pattern, sinks: [], count: embeddings}
  - {file: one.pattern, name: two, sinks: [s], report_existing: true}
  - name: long
    pattern: |
      // the long way
      (a:A)-[:X]->(b),
      (b)-->(c)
    mode: edge-distinct
)");
  const auto& queries = config.service.queries;
  ASSERT_EQ(queries.size(), 5U);
  std::vector<std::string> names;
  for (const auto& query : queries) names.push_back(query.query.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "one", "two", "long"));
  EXPECT_EQ(queries[0].where, "etc/dir/a.graph");
  EXPECT_TRUE(queries[0].query.edges[0].directed);
  EXPECT_EQ(queries[0].options, (QueryOptions{MatchMode::homomorphism, CountMode::embeddings, true}));
  EXPECT_THAT(queries[0].sinks, ElementsAre("k", "s"));
  EXPECT_EQ(queries[2].options, (QueryOptions{MatchMode::isomorphism, CountMode::embeddings, false}));
  EXPECT_THAT(queries[2].sinks, testing::IsEmpty());
  EXPECT_EQ(queries[3].query.edges, queries[2].query.edges);
  EXPECT_THAT(queries[3].sinks, ElementsAre("s"));
  EXPECT_TRUE(queries[3].report_existing);
  EXPECT_EQ(queries[4].where, "etc/service.yaml:8: queries[3].pattern");
  EXPECT_EQ(queries[4].query.vertices.size(), 3U);
  EXPECT_EQ(queries[4].options, (QueryOptions{MatchMode::edge_distinct, CountMode::embeddings, true}));
}

TEST_F(ServiceConfigTest, VariablesStandForValues) {
  const std::map<std::string, std::string> environment{
      {"N", "12"}, {"EMPTY", ""}, {"MORE", "x, max_delay: 1s}\nlog: {level: debug}"}};
  EXPECT_EQ(read("batch: {max_updates: \"${N}\"}", environment).service.batching.max_updates, 12U);
  EXPECT_EQ(read("batch:\n  max_updates: ${N}${N}\n", environment).service.batching.max_updates, 1212U);
  EXPECT_EQ(read("batch:\n  max_updates: ${M:-7}\n", environment).service.batching.max_updates, 7U);
  EXPECT_EQ(read("batch:\n  max_updates: ${EMPTY:-8}\n", environment).service.batching.max_updates, 8U);
  EXPECT_EQ(read("batch:\n  max_updates: ${N:-8}\n", environment).service.batching.max_updates, 12U);
  EXPECT_EQ(read("input:\n  topics:\n    - {name: '^a-.*$'}\n").service.input.topics[0].name, "^a-.*$");
  const auto label = [&](const std::string& written) {
    return read("input: {topics: [{name: p, edge_label: '" + written + "'}]}", environment)
        .service.input.topics[0]
        .codec.edge_label;
  };
  EXPECT_EQ(label("$$"), "$");
  EXPECT_EQ(label("$${N}"), "${N}");
  EXPECT_EQ(label("$N"), "$N");
  EXPECT_EQ(label("a${EMPTY}b"), "ab");
  EXPECT_EQ(label("${X:-}"), "");
  EXPECT_EQ(label("${X:-a b:-c}"), "a b:-c");
  EXPECT_EQ(label("${MORE}"), environment.at("MORE"));
}

TEST_F(ServiceConfigTest, SecretsAreReadAndNeverShown) {
  write("etc/password", "hunter2\n");
  const std::string text = R"(
kafka: {bootstrap.servers: "localhost:9092", sasl.password: {file: password}, ssl.key.password: "${PASSWORD}"}
sinks: {w: {type: webhook, url: "https://h.example/hunter2?hunter2#hunter2", headers: {Authorization: hunter2}}}
queries: [{name: q, pattern: (a)-->(b)}]
)";
  const ServiceConfig config = read(text, {{"PASSWORD", "hunter2"}});
  EXPECT_EQ(config.service.kafka.at("sasl.password"), "hunter2");
  EXPECT_EQ(config.service.kafka.at("ssl.key.password"), "hunter2");
  EXPECT_THAT(summary(config), HasSubstr("https://h.example\n"));
  EXPECT_THAT(summary(config), Not(HasSubstr("hunter2")));
}

TEST_F(ServiceConfigTest, WhatIsUnusedIsAWarning) {
  EXPECT_THAT(
      read("sinks: {a: {type: stdout}, b: {type: kafka, topic: t}}\nqueries: [{name: q, pattern: (a)-->(b), sinks: [a]}]\n")
          .warnings,
      ElementsAre("etc/service.yaml:1: sinks.b: no query uses this sink; add it to the sinks of a query"));
  EXPECT_THAT(read("queries: []").warnings,
              ElementsAre(HasSubstr(":1: there is no sink, so matches are counted"), HasSubstr("queries: there is no query")));
}

TEST_F(ServiceConfigTest, DeadLettersThatWouldBeCutAreAWarning) {
  const auto warnings = [&](const std::string& bytes) {
    return read("kafka: {bootstrap.servers: 'b:9092', message.max.bytes: " + bytes +
                "}\ninput: {topics: [{name: t, format: json}], on_error: dead-letter, dead_letters: {topic: d}}\n"
                "sinks: {a: {type: stdout}}\nqueries: [{name: q, pattern: (a)-->(b)}]\n")
        .warnings;
  };
  EXPECT_THAT(warnings("1000000"), ElementsAre(HasSubstr(":1: kafka.message.max.bytes: dead letters of the longest records")));
  EXPECT_THAT(warnings("2000000"), testing::IsEmpty());
}

TEST_F(ServiceConfigTest, TwoSinksMayShareATopicWhereNoAlertComesTwice) {
  const std::string sinks = "sinks: {a: {type: kafka, topic: t, signs: new}, b: {type: kafka, topic: t, signs: removed}}\n";
  EXPECT_EQ(read(sinks + "queries: [{name: q, pattern: '(a)-->(b)'}]\n").service.sinks.size(), 2U);
  const std::string apart = "sinks: {a: {type: kafka, topic: t}, b: {type: kafka, topic: t, rate_limit: 1/s}}\n";
  EXPECT_EQ(
      read(apart + "queries: [{name: q, pattern: '(a)-->(b)', sinks: [a]}, {name: r, pattern: '(a)-->(b)', sinks: [b]}]\n")
          .service.sinks.size(),
      2U);
}

TEST_F(ServiceConfigTest, ALongTransactionTimeoutIsAWarning) {
  EXPECT_TRUE(read("transaction_timeout: 15m\nsinks: {out: {type: stdout}}\nqueries: [{name: q, pattern: '(a)-->(b)'}]\n")
                  .warnings.empty());
  const auto warnings =
      read("transaction_timeout: 20m\nsinks: {out: {type: stdout}}\nqueries: [{name: q, pattern: '(a)-->(b)'}]\n").warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(
      warnings.front(),
      ::testing::HasSubstr("transaction_timeout: brokers refuse more than 15m unless their transaction.max.timeout.ms"));
}

TEST_F(ServiceConfigTest, ABodyWhoseFieldsAreNotEscapedIsWarnedOf) {
  const auto warnings = [&](const std::string& type) {
    return read("sinks: {web: {type: webhook, url: 'http://127.0.0.1/', each: alert, content_type: '" + type +
                "', body: 'q={{query}}'}}\nqueries: [{name: q, pattern: '(a)-->(b)'}]\n")
        .warnings;
  };
  ASSERT_EQ(warnings("text/csv").size(), 1U);
  EXPECT_THAT(warnings("text/csv").front(), HasSubstr("sinks.web.body: fields are not escaped in a body of the type text/csv"));
  EXPECT_TRUE(warnings("text/plain; charset=utf-8").empty());
  EXPECT_TRUE(warnings("application/x-www-form-urlencoded").empty());
}

TEST_F(ServiceConfigTest, ANameThatIsNotUtf8IsRefused) {
  write("etc/queries/a\xff.pattern", "(a)-->(b)");
  std::string message;
  try {
    read("queries: [{directory: queries}]\n");
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("the name of `a\\xff` is not UTF-8; rename it"));
}

TEST_F(ServiceConfigTest, ANameThatNoPathCanHaveIsRefused) {
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      read("queries: [{name: \"" + name + "\", pattern: (a)-->(b)}]\n");
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_THAT(refusal("."), HasSubstr("queries[0].name: the name '.' cannot be part of a path of HTTP"));
  EXPECT_THAT(refusal(".."), HasSubstr("cannot be part of a path"));
  EXPECT_THAT(refusal("x\\0y"), HasSubstr("character 2 of the name is a control character (byte 0x00); rename it"));
  EXPECT_THAT(refusal("x\\u007f"), HasSubstr("(byte 0x7f)"));
  EXPECT_THAT(refusal("\\u0085"), HasSubstr("(byte 0x85)"));
  EXPECT_EQ(refusal("..."), "not refused");
  EXPECT_EQ(refusal("a b/\\u00a0\\u0105"), "not refused");
}

TEST_F(ServiceConfigTest, HttpMayBeCalledAnything) {
  const ingest::HttpOptions http = read("http: {hosts: any}").service.http;
  EXPECT_TRUE(http.any_host);
  EXPECT_TRUE(http.hosts.empty());
}

TEST_F(ServiceConfigTest, TheAdminTokenIsASecret) {
  folder_.write("etc/token", "from-a-file-0123456789\n");
  EXPECT_EQ(read("http: {admin_token: {file: token}}").service.http.admin_token, "from-a-file-0123456789");
  const ServiceConfig config = read("http: {admin_token: '${TOKEN:-from-the-environment}'}");
  EXPECT_EQ(config.service.http.admin_token, "from-the-environment");
  EXPECT_THAT(summary(config), Not(HasSubstr("from-the-environment")));
  EXPECT_TRUE(read("").service.http.admin_token.empty());
}

TEST_F(ServiceConfigTest, HttpMayBeOff) { EXPECT_FALSE(read("http: {listen: off}").service.http.enabled); }

TEST_F(ServiceConfigTest, WindowsLineEndsAndAByteOrderMarkDoNoHarm) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "batch: {max_updates: 5}\r\nlog:\r\n  level: \"debug\"\r\n")
                .service.logging.level,
            "debug");
}

TEST_F(ServiceConfigTest, AFileThatCannotBeReadIsNamed) {
  for (const char* const name : {"none.yaml", "etc"}) {
    std::filesystem::create_directories("etc");
    try {
      static_cast<void>(read_service_config(name));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::configuration);
      EXPECT_THAT(error.what(), HasSubstr(std::string(name) + ": the configuration cannot be read"));
    }
  }
}

TEST_F(ServiceConfigTest, DeepNestingIsRefused) {
  EXPECT_THROW(read("batch: " + std::string(100'000, '[')), Error);
  EXPECT_THROW(read("batch: " + std::string(400, '[') + std::string(400, ']')), Error);
}

TEST_F(ServiceConfigTest, ATornFileIsReadOrRefused) {
  const std::string text = read_small_file(DELTAMATCH_SOURCE_DIR "/config/service.yaml", "the reference");
  std::size_t refused = 0;
  for (std::size_t length = 0; length < text.size(); length += 101) {
    write("etc/service.yaml", text.substr(0, length));
    try {
      static_cast<void>(read_service_config("etc/service.yaml", test::variables({})));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::configuration) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("etc/service.yaml"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 60U);
}

TEST_F(ServiceConfigTest, TakesWhatOperationsMeanAndWhereTheyStand) {
  write("etc/m.mtx", "");
  write("etc/g.csv", "");
  const ServiceConfig config = read(
      "input: {topics: [{name: p, columns: {op: __op, deleted: gone, source: a.0.id}, op_values: 'c,r=+;d=-'}]}\n"
      "graph: {start: {files: [{path: m.mtx, format: mtx}, {path: g.csv, op_values: x=-}]}}");
  EXPECT_EQ(config.service.input.topics.at(0).codec.op_values, "c,r=+;d=-");
  EXPECT_EQ(config.service.input.topics.at(0).codec.columns, "source=a.0.id,op=__op,deleted=gone");
  EXPECT_EQ(config.service.start_graph.files.at(0).format, ingest::Format::mtx);
  EXPECT_EQ(config.service.start_graph.files.at(1).codec.op_values, "x=-");
}

TEST_F(ServiceConfigTest, EdgesAndAttributesReachEngineAndCodecs) {
  folder_.write("etc/seed.csv", "");
  const ServiceConfig config = read(R"(
input:
  topics:
    - {name: a, columns: {source: from, target: to, edge: kafka:key, amount: payload.amt, risk: r}}
    - {name: b, format: csv, columns: [source, target, edge=kafka:key, amount]}
graph:
  edges: keyed
  attributes: {amount: decimal(2), channel: symbol=ch}
  vertex_attributes: {risk: int}
  allowed_lateness: 5m
  start: {files: [{path: seed.csv}]}
queries: [{name: q, pattern: "(a)-[t:T]->(b) WHERE t.amount > 1000 AND a.risk < 5 WITHIN 1h"}]
)");
  EXPECT_EQ(config.service.engine.allowed_lateness, 300'000'000);
  const Schema& schema = config.service.engine.schema;
  EXPECT_EQ(schema.model, EdgeModel::keyed);
  EXPECT_EQ(ingest::attributes_text(schema.edges), "amount decimal(2), channel symbol");
  EXPECT_EQ(ingest::attributes_text(schema.vertices), "risk int");
  const ingest::CodecOptions& codec = config.service.input.topics[0].codec;
  EXPECT_EQ(codec.columns, "source=from,target=to,edge=kafka:key,amount=payload.amt,risk=r");
  EXPECT_EQ(codec.edges, EdgeModel::keyed);
  EXPECT_EQ(codec.attributes.at(1).column, "ch");
  EXPECT_EQ(config.service.input.topics[1].codec.columns, "source,target,edge=kafka:key,amount");
  EXPECT_EQ(config.service.start_graph.files[0].codec.attributes, codec.attributes);
  EXPECT_THAT(summary(config),
              testing::HasSubstr("edges        keyed; amount decimal(2), channel symbol\nvertices     risk int"));
}

TEST_F(ServiceConfigTest, WrongEdgesAndAttributesAreRefusedInPlace) {
  const auto fault = [&](const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("fine");
  };
  EXPECT_THAT(fault("graph: {edges: many}"), testing::HasSubstr("simple|keyed|events"));
  EXPECT_THAT(fault("graph: {attributes: {n: int}}"), testing::HasSubstr("write edges: keyed"));
  EXPECT_THAT(fault("graph: {edges: events, attributes: {n: money}}"),
              testing::AllOf(testing::HasSubstr("graph.attributes.n"), testing::HasSubstr("write decimal(2)")));
  EXPECT_THAT(fault("graph: {edges: events, allowed_lateness: 5m}\nqueries: [{name: q, pattern: (a)-->(b)}]"),
              testing::HasSubstr("graph.allowed_lateness: no query has WITHIN"));
  EXPECT_THAT(fault("graph: {edges: events}\ninput: {topics: [{name: a, columns: {edge: id}}]}"),
              testing::HasSubstr("choose the model keyed"));
  EXPECT_THAT(fault("input: {topics: [{name: a, columns: {source: a, target: b, amount: c}}]}"),
              testing::HasSubstr("this key does not exist"));
}

}  // namespace
}  // namespace deltamatch::cli
