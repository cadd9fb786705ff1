// Where alerts go.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "cli/config/parts.hpp"

namespace deltamatch::cli {
namespace {

using namespace std::chrono_literals;
using ingest::SinkOptions;
using std::chrono::milliseconds;

/// "100/s", "5/10s".
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
    section.refuse("rate_limit", fmt::format("{} is no rate", Section::shown(*node)),
                   "write how many alerts in how long, e.g. 100/s or 5/10m, or none");
  }
}

/// http or https, a host, no user and nothing that ends the line of a request.
bool is_url(std::string_view text) noexcept {
  const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return false;
  const std::string_view host = text.substr(scheme, text.find_first_of("/?#", scheme) - scheme);
  return !host.empty() && host.find('@') == std::string_view::npos && text.find_first_of(" \t\r\n") == std::string_view::npos;
}

void read_webhook(Section& section, SinkOptions& sink) {
  if (section.require("url", "url: https://alerts.example/hook, or url: {file: /run/secrets/hook}") &&
      section.secret("url", sink.url) && !is_url(sink.url)) {
    section.refuse("url", "this is no URL that alerts can be sent to",
                   "write http:// or https://, a host and a path, without user or password (which belong into headers)");
  }
  Section headers = section.section("headers");
  for (const Entry& entry : headers.entries()) {
    std::string value;
    if (!headers.secret(entry.key, value)) continue;
    if (entry.key.find_first_of(" \t\r\n:") != std::string::npos || value.find_first_of("\r\n") != std::string::npos) {
      headers.refuse(entry.key, "no header can be written so", "write name: value without line ends, and no ':' in the name");
    }
    sink.headers[entry.key] = std::move(value);
  }
  section.duration("timeout", sink.timeout, milliseconds(1), milliseconds(1h));
  section.duration("max_backoff", sink.max_backoff, milliseconds(1), milliseconds(24h));
  section.number("refused_tries", sink.refused_tries, 1, 1'000'000, "unlimited");
}

void read_file(Section& section, SinkOptions& sink) {
  if (section.require("path", "path: /var/log/deltamatch/alerts.jsonl") && section.path("path", sink.path)) {
    section.note(&Reading::files_written, "path", sink.path.string());
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
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kinds{
      {{"kafka", Kind::kafka}, {"file", Kind::file}, {"stdout", Kind::console}, {"webhook", Kind::webhook}}};
  if (!section.require("type", "type: kafka") || !section.choice("type", sink.kind, kinds)) return;
  if (sink.kind == Kind::kafka && section.require("topic", "topic: alerts") && topic_name(section, "topic", sink.topic)) {
    section.note(&Reading::topics_written, "topic", sink.topic);
  }
  if (sink.kind == Kind::file) read_file(section, sink);
  if (sink.kind == Kind::webhook) read_webhook(section, sink);
  if (sink.kind == Kind::console) section.duration("max_backoff", sink.max_backoff, milliseconds(1), milliseconds(24h));
  constexpr std::array<std::pair<std::string_view, ingest::Signs>, 3> signs{
      {{"both", ingest::Signs::both}, {"new", ingest::Signs::added}, {"removed", ingest::Signs::removed}}};
  section.choice("signs", sink.signs, signs);
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
      named.refuse("no sink can be called so", "write up to 64 letters, digits, '.', '_' and '-'");
    }
    read_sink(named, sink);
  }
}

}  // namespace deltamatch::cli
