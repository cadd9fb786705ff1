// A key that has changed is taken by a reload, or a reload says that it needs a restart.
#include "cli/config/restart.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/config/service_sections.hpp"
#include "unit/config/support.hpp"

namespace deltamatch::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RestartTest : public testing::Test {
 protected:
  static ServiceConfig read(const std::string& text) {
    ConfigContext context{Problems("service.yaml"), {}, {}, {}, {}, {}, {}};
    ServiceConfig config;
    read_service(context, parse_yaml(test::completed(text), context.problems), config);
    context.problems.raise();
    for (const std::string& key : context.known) {
      if (key.find('.') == std::string::npos && key.find('[') == std::string::npos) keys.insert(key);
    }
    return config;
  }

  static inline std::set<std::string> keys;  // of the top level
  test::Folder folder_;
};

/// A change of each key of the top level that is read at the start only.
const std::map<std::string, std::vector<std::string>>& changes() {
  static const std::map<std::string, std::vector<std::string>> all{
      {"application", {"application: other"}},
      {"state",
       {"state: {directory: elsewhere}", "state: {directory: state, keep_snapshots: 7}",
        "state: {directory: state, share: {path: shared}}"}},
      {"shards", {"shards: {count: 2}"}},
      {"standby", {"standby: {warm: false}"}},
      {"workers", {"workers: {slots: 16}", "workers: {slots: 16, hang_after: 1h}"}},
      {"kafka", {"kafka: {bootstrap.servers: 'other:9092'}"}},
      {"transaction_timeout", {"transaction_timeout: 61s"}},
      {"input", {"input: {topics: [{name: other}]}", "input: {topics: [{name: payments}], max_labels: 7}"}},
      {"graph",
       {"graph: {directed: false}", "graph: {self_loops: keep}", "graph: {window: 1h}", "graph: {edges: events}",
        "graph: {edges: events, allowed_lateness: 1h}\nqueries: [{name: q, pattern: (a)-->(b) WITHIN 1h}]",
        "graph: {edges: events, attributes: {n: int}}", "graph: {vertex_attributes: {n: int}}"}},
      {"batch", {"batch: {max_updates: 7}"}},
      {"existing", {"existing: {max_matches: 7}"}},
      {"engine", {"engine: {threads: 7}", "engine: {backend: cpu}"}},
      {"sinks", {"sinks: {s: {type: stdout}}"}},
      {"http", {"http: {listen: off}"}},
      {"log", {"log: {level: debug}"}},
      {"shutdown_timeout", {"shutdown_timeout: 31s"}},
  };
  return all;
}

TEST_F(RestartTest, EachKeyIsTold) {
  const ServiceConfig before = read("");
  EXPECT_THAT(keys_that_need_restart(before, before), IsEmpty());
  for (const auto& [key, texts] : changes()) {
    for (const std::string& text : texts)
      EXPECT_THAT(keys_that_need_restart(before, read(text + "\n")), ElementsAre(key)) << text;
  }
  EXPECT_THAT(keys_that_need_restart(before, read("engine: {threads: 7}\nlog: {level: debug}\n")),
              ElementsAre("engine", "log"));
}

TEST_F(RestartTest, AnotherColumnOfAnAttributeIsToldAsTheGraph) {
  const ServiceConfig before = read("graph: {edges: events, attributes: {n: int}}\n");
  EXPECT_THAT(keys_that_need_restart(before, read("graph: {edges: events, attributes: {n: int=m}}\n")), ElementsAre("graph"));
}

TEST_F(RestartTest, WhatIsSetForGpusIsToldAsTheEngine) {
  const ServiceConfig before = read("");
  ServiceConfig now = before;
  now.backend.gpu.memory = std::size_t{1} << 30;
  EXPECT_THAT(keys_that_need_restart(before, now), ElementsAre("engine"));
}

TEST_F(RestartTest, QueriesAndTheirBudgetNeedNone) {
  const ServiceConfig before = read("");
  EXPECT_THAT(keys_that_need_restart(before, read("queries: [{name: q, pattern: (a)--(b)}]\nbudget: {matches: 7}\n")),
              IsEmpty());
}

TEST_F(RestartTest, NoKeyOfTheConfigurationIsForgotten) {
  read("");
  for (const std::string& key : keys) {
    const bool taken = key == "queries" || key == "budget";
    EXPECT_NE(changes().contains(key), taken) << key;
  }
}

}  // namespace
}  // namespace deltamatch::cli
