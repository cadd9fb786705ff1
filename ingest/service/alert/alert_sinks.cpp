#include "ingest/service/alert/alert_sinks.hpp"

#include <array>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = SinkOptions::Kind;

std::string to_topic(const SinkOptions& sink) { return "the topic " + sink.topic; }
std::string to_file(const SinkOptions& sink) { return "the file " + sink.path.string(); }
std::string to_console(const SinkOptions& /*sink*/) { return "standard output"; }
std::string origin(const SinkOptions& sink) {
  const std::size_t host = sink.url.find("://") + 3;
  return sink.url.substr(0, sink.url.find_first_of("/?#", host));
}
std::string to_webhook(const SinkOptions& sink) { return "the webhook " + origin(sink); }
std::string to_slack(const SinkOptions& sink) { return "Slack at " + origin(sink); }
std::string to_teams(const SinkOptions& sink) { return "Teams at " + origin(sink); }
std::string to_pagerduty(const SinkOptions& sink) { return "PagerDuty at " + origin(sink); }

std::unique_ptr<AlertSink> make_file(std::string_view /*application*/, const SinkOptions& options, Journal& /*journal*/) {
  return make_file_sink(options.name, options.path, options.rotate_bytes, options.keep_files);
}
std::unique_ptr<AlertSink> make_console(std::string_view /*application*/, const SinkOptions& options, Journal& /*journal*/) {
  return make_console_sink(options.name);
}

constexpr std::array table{
    SinkTraits{.kind = Kind::kafka, .name = "kafka", .target = to_topic, .make = nullptr},
    SinkTraits{.kind = Kind::file, .name = "file", .target = to_file, .make = make_file},
    SinkTraits{.kind = Kind::console, .name = "stdout", .target = to_console, .make = make_console},
    SinkTraits{.kind = Kind::webhook, .name = "webhook", .target = to_webhook, .make = make_webhook_sink},
    SinkTraits{.kind = Kind::slack, .name = "slack", .target = to_slack, .make = make_webhook_sink},
    SinkTraits{.kind = Kind::teams, .name = "teams", .target = to_teams, .make = make_webhook_sink},
    SinkTraits{.kind = Kind::pagerduty, .name = "pagerduty", .target = to_pagerduty, .make = make_webhook_sink},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].kind) != i || table[i].name.empty() || table[i].target == nullptr) return false;
  }
  return true;
}
static_assert(is_in_order(), "each kind of sink has its entry, in the same order");

}  // namespace

std::span<const SinkTraits> sink_kinds() noexcept { return table; }

const SinkTraits& traits_of(SinkOptions::Kind kind) noexcept { return table[static_cast<std::size_t>(kind)]; }

std::unique_ptr<AlertSink> make_alert_sink(std::string_view application, const SinkOptions& options, Journal& journal) {
  const SinkTraits& traits = traits_of(options.kind);
  if (traits.make == nullptr) throw Error("sink '" + options.name + "'", "alerts for Kafka go with the batch's transaction");
  return traits.make(application, options, journal);
}

}  // namespace deltamatch::ingest
