// deltamatch test-sink: sends one alert that is marked as a test through a sink of a configuration.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/nearest.hpp"
#include "cli/commands/commands.hpp"
#include "cli/config/service_config.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_sinks.hpp"

namespace deltamatch::cli {
namespace {

using ingest::SinkOptions;

constexpr const char* examples = R"(Examples:
  deltamatch test-sink --config service.yaml channel

The alert is of the first query that goes to the sink, and its name ends with '(test)'. It goes by
the same way as real ones: URL, headers, secrets and template. No broker is asked.

Exit codes:
  0   the receiver took it
  1   it did not; the message has its answer
  78  the configuration is wrong, or no query goes to the sink)";

/// Keeps what the receiver answered.
class Answer final : public ingest::Journal {
 public:
  void tell(ingest::Level /*level*/, std::string_view /*event*/,
            std::initializer_list<ingest::Field> fields) noexcept override {
    for (const ingest::Field& field : fields) {
      if (field.key == "answer" || field.key == "error") text = field.value;
    }
  }
  std::string text;
};

SinkOptions find_sink(const ingest::ServiceOptions& service, const std::string& name) {
  const auto sink = std::ranges::find(service.sinks, name, &SinkOptions::name);
  if (sink == service.sinks.end()) {
    std::vector<std::string> names;
    for (const SinkOptions& each : service.sinks) names.push_back(each.name);
    const std::string meant = nearest(name, names);
    throw Error(ErrorKind::usage, "test-sink", fmt::format("there is no sink '{}'", name),
                meant.empty() ? "name one of the key sinks" : fmt::format("did you mean {}?", meant));
  }
  if (!sink->sends_requests()) {
    throw Error(ErrorKind::usage, "test-sink", fmt::format("the sink '{}' sends no requests", name),
                "name one of the types webhook, slack, teams or pagerduty");
  }
  return *sink;
}

int test_sink(const std::string& file, const std::string& name) {
  const ingest::ServiceOptions service = read_service_config(file).service;
  SinkOptions sink = find_sink(service, name);
  const auto query = std::ranges::find_if(service.queries, [&](const ingest::ServiceQuery& each) {
    return std::ranges::find(each.sinks, name) != each.sinks.end();
  });
  if (query == service.queries.end()) {
    throw Error(ErrorKind::configuration, file, fmt::format("no query goes to the sink '{}'", name),
                "name it in the sinks of a query");
  }
  sink.dead_letters.clear();  // they are of real alerts
  sink.max_tries = 1;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  // A receiver that knows what it has by its batch must not take a real alert for this one.
  const auto batch = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  Answer answer;
  const auto delivery = ingest::make_alert_sink(service.application, sink, answer);
  delivery->begin(batch);
  delivery->write({}, ingest::test_alert(query->query, service.engine.schema, sink.times, batch,
                                         std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  static_cast<void>(delivery->commit());
  const std::string where = ingest::traits_of(sink.kind).target(sink);
  if (delivery->dropped() > 0)
    throw Error("sink '" + name + "'", fmt::format("{} did not take it: {}", where, answer.text),
                "check its URL, headers and template");
  print_out(fmt::format("a test alert of {} was sent to {}: {}\n", query->query.name, where, answer.text));
  return exit_ok;
}

}  // namespace

void add_test_sink(const Command& program, Run& run) {
  const Command command = program.add_command("test-sink", "Send one alert, marked as a test, through a sink", examples);
  const auto file = std::make_shared<std::string>();
  const auto name = std::make_shared<std::string>();
  command.add_text("--config", *file, "Configuration of the service", "FILE").required();
  command.add_argument("SINK", *name, "Name of a sink that sends requests");
  command.runs(run, [file, name] { return test_sink(*file, *name); });
}

}  // namespace deltamatch::cli
