// Reads where alerts go.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>
#include <vector>

#include "cli/config/service_sections.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/alert_template.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using ingest::SinkOptions;
using std::chrono::milliseconds;

/// Reads "100/s" or "5/10s".
void read_rate(Section& section, SinkOptions& sink) {
  const Node* const node = section.find_text("rate_limit");
  if (node == nullptr || node->text == "none") return;
  const std::string_view text = node->text;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto limit = read_number(text.substr(0, slash), 1, 1'000'000'000);
  const std::string interval(text.substr(std::min(slash + 1, text.size())));
  const bool bare = !interval.empty() && interval.find_first_of("0123456789") == std::string::npos;
  const auto duration = read_duration(bare ? "1" + interval : interval);
  if (limit && duration && *duration % 1000 == 0) {
    sink.rate_limit = *limit;
    sink.rate_interval = milliseconds(*duration / 1000);
  } else {
    section.refuse("rate_limit", fmt::format("{} is not a rate", Section::shown(*node)),
                   "write how many alerts in how long, e.g. 100/s or 5/10m, or none");
  }
}

/// Drops all messages. Sinks are made here only to find out whether they can be.
class Silence final : public ingest::Journal {
 public:
  void tell(ingest::Level, std::string_view, std::initializer_list<ingest::Field>) noexcept override {}
};

/// Reports what the webhook itself has against one of its options.
void check_webhook(const Section& section, std::string_view key, const SinkOptions& sink) {
  try {
    Silence journal;
    static_cast<void>(ingest::make_webhook_sink("", sink, journal));
  } catch (const Error& error) {
    section.refuse(key, error.what(), "");
  }
}

/// Reads what all sinks that send requests have.
void read_requests(Section& section, SinkOptions& sink, std::string_view example) {
  const bool given = !sink.url.empty() || section.require("url", example);
  if (given && section.secret("url", sink.url)) check_webhook(section, "url", sink);
  Section headers = section.section("headers");
  for (const Entry& entry : headers.entries()) {
    SinkOptions alone;
    alone.name = sink.name;
    alone.kind = sink.kind;
    alone.url = "http://localhost/";
    if (!headers.secret(entry.key, alone.headers[entry.key])) continue;
    check_webhook(headers, entry.key, alone);
    sink.headers.merge(alone.headers);
  }
  section.duration("min_interval", sink.min_interval, milliseconds(1), milliseconds(1h), "none");
  section.duration("timeout", sink.timeout, milliseconds(1), milliseconds(1h));
  section.duration("max_backoff", sink.max_backoff, milliseconds(1), milliseconds(24h));
  section.number("max_tries", sink.max_tries, 1, 100'000, "unlimited");
  section.duration("give_up_after", sink.give_up_after, milliseconds(1), std::chrono::duration_cast<milliseconds>(24h * 365),
                   "never");
  section.number("refused_tries", sink.refused_tries, 1, 1'000'000, "unlimited");
  Section letters = section.section("dead_letters");
  if (section.is_map("dead_letters") && letters.require("file", "file: /var/log/deltamatch/given-up.jsonl") &&
      letters.path("file", sink.dead_letters)) {
    letters.note(&ConfigContext::files_written, "file", sink.dead_letters.string());
  }
  letters.finish();
}

/// Reads a template. Whether its names exist is checked when the queries are known.
void read_template(Section& section, std::string_view key, std::string& target, ingest::Escape escape,
                   const std::string& sink) {
  if (!section.secret(key, target)) return;
  try {
    static_cast<void>(ingest::AlertTemplate(target, escape));
  } catch (const Error& error) {
    target.clear();
    return section.refuse(key, error.what(), "");
  }
  section.note(&ConfigContext::templates, key, sink);
}

void read_webhook(Section& section, SinkOptions& sink) {
  read_requests(section, sink, "url: https://alerts.example/hook, or url: {file: /run/secrets/hook}");
  if (section.name("content_type", sink.content_type) &&
      !std::ranges::all_of(sink.content_type, [](char c) { return c >= ' ' && c < 0x7f; })) {
    section.refuse("content_type", "this is not the type of a body",
                   "write e.g. application/json or text/plain; charset=utf-8");
  }
  constexpr std::array<std::pair<std::string_view, SinkOptions::Each>, 2> each{
      {{"batch", SinkOptions::Each::batch}, {"alert", SinkOptions::Each::alert}}};
  section.choice("each", sink.each, each);
  read_template(section, "body", sink.body, ingest::escape_for(sink.content_type), sink.name);
  for (const std::string_view key : {"content_type", "each"}) {
    if (section.has(key) && !section.has("body"))
      section.refuse(key, "this says what `body` is, and there is none", "add body, e.g. body: '{\"text\": \"{{summary}}\"}'");
  }
}

void read_link(Section& section, SinkOptions& sink) {
  read_template(section, "link", sink.link, ingest::Escape::percent, sink.name);
}

void read_chat(Section& section, SinkOptions& sink, std::string_view example) {
  using Kind = SinkOptions::Kind;
  sink.max_messages = 100;  // a batch that catches up with a pause has many alerts
  sink.min_interval = sink.kind == Kind::slack ? milliseconds(1000) : milliseconds(250);
  read_requests(section, sink, example);
  section.number("max_messages", sink.max_messages, 1, 100'000, "unlimited");
  read_link(section, sink);
}

void read_pagerduty(Section& section, SinkOptions& sink) {
  sink.url = "https://events.pagerduty.com/v2/enqueue";
  read_requests(section, sink, "");
  if (section.require("routing_key", "routing_key: {file: /run/secrets/pagerduty-key}") &&
      section.secret("routing_key", sink.routing_key)) {
    const auto is_alnum = [](unsigned char c) { return std::isalnum(c) != 0; };
    if (sink.routing_key.size() != 32 || !std::ranges::all_of(sink.routing_key, is_alnum))
      section.refuse("routing_key", "this is not a routing key, which has 32 letters and digits",
                     "copy the integration key of an Events API v2 integration");
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> severities{
      {{"critical", "critical"}, {"error", "error"}, {"warning", "warning"}, {"info", "info"}}};
  std::string_view severity = sink.severity;
  if (section.choice("severity", severity, severities)) sink.severity = severity;
  Section own = section.section("severities");
  for (const Entry& entry : own.entries()) {
    if (!own.choice(entry.key, severity, severities)) continue;
    sink.severities[entry.key] = severity;
    own.note(&ConfigContext::queries_named, entry.key, entry.key);
  }
  read_link(section, sink);
}

void read_file(Section& section, SinkOptions& sink) {
  if (section.require("path", "path: /var/log/deltamatch/alerts.jsonl") && section.path("path", sink.path)) {
    section.note(&ConfigContext::files_written, "path", sink.path.string());
  }
  section.size("rotate_size", sink.rotate_bytes, 1 << 10, std::uint64_t{1} << 44, "never");
  section.number("keep_files", sink.keep_files, 1, 1'000'000, "all");
  section.duration("max_backoff", sink.max_backoff, milliseconds(1), milliseconds(24h));
  if (sink.keep_files > 0 && sink.rotate_bytes == 0) {
    section.refuse("keep_files", "nothing is rotated", "add rotate_size, e.g. rotate_size: 100MiB, or leave this out");
  }
}

void read_sink(Section section, SinkOptions& sink) {
  using Kind = SinkOptions::Kind;
  std::vector<std::pair<std::string_view, Kind>> kinds;
  for (const ingest::SinkTraits& traits : ingest::sink_kinds()) kinds.emplace_back(traits.name, traits.kind);
  if (!section.require("type", "type: kafka") || !section.choice("type", sink.kind, kinds)) return;
  if (sink.kind == Kind::kafka && section.require("topic", "topic: alerts") && topic_name(section, "topic", sink.topic)) {
    section.note(&ConfigContext::topics_written, "topic", sink.topic);
  }
  if (sink.kind == Kind::file) read_file(section, sink);
  if (sink.kind == Kind::webhook) read_webhook(section, sink);
  if (sink.kind == Kind::slack) read_chat(section, sink, "url: {file: /run/secrets/slack-url}");
  if (sink.kind == Kind::teams) read_chat(section, sink, "url: {file: /run/secrets/teams-url}");
  if (sink.kind == Kind::pagerduty) read_pagerduty(section, sink);
  if (sink.kind == Kind::console) section.duration("max_backoff", sink.max_backoff, milliseconds(1), milliseconds(24h));
  constexpr std::array<std::pair<std::string_view, ingest::Signs>, 3> signs{
      {{"both", ingest::Signs::both}, {"new", ingest::Signs::added}, {"removed", ingest::Signs::removed}}};
  section.choice("signs", sink.signs, signs);
  constexpr std::array<std::pair<std::string_view, ingest::TimeForm>, 2> times{
      {{"us", ingest::TimeForm::microseconds}, {"iso", ingest::TimeForm::iso}}};
  section.choice("times", sink.times, times);
  read_rate(section, sink);
  section.finish();
}

}  // namespace

void read_sinks(Section section, std::vector<SinkOptions>& sinks) {
  for (const Entry& entry : section.entries()) {
    SinkOptions& sink = sinks.emplace_back();
    sink.name = entry.key;
    const Section named = section.named(entry);
    if (!is_topic_name(entry.key) || entry.key.size() > 64) {
      named.refuse("this is not a valid name of a sink", "write up to 64 letters, digits, '.', '_' and '-'");
    }
    read_sink(named, sink);
  }
}

}  // namespace deltamatch::cli
