// Events for PagerDuty's Events API v2: a match that appears triggers an incident, and the same match resolves it.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "ingest/service/alert/alert_view.hpp"
#include "ingest/service/alert/message_parts.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

// PagerDuty takes 512 KB, 1,024 characters of a summary and 255 of a dedup_key.
constexpr std::size_t most_of_event = 500'000;
constexpr std::size_t most_of_summary = 1024;
constexpr std::size_t most_of_key = 255;
constexpr std::size_t most_of_link = 2000;

class PagerdutyMessages final : public AlertMessages {
 public:
  PagerdutyMessages(std::string_view application, const SinkOptions& options)
      : application_(application),
        sink_(options.name),
        routing_key_(options.routing_key),
        severity_(options.severity),
        severities_(options.severities),
        link_(application, options.name, options.link) {}

  [[nodiscard]] std::size_t most_alerts() const override { return 1; }

  [[nodiscard]] std::string body(const MessagePart& part) const override {
    const Json view = alert_view(part.alerts.front());
    Json event{{"routing_key", routing_key_}, {"event_action", view.at("vanished") == true ? "resolve" : "trigger"}};
    event["dedup_key"] = key_of(view);
    if (view.at("vanished") == true) return to_text(event);
    event["client"] = "deltamatch";
    const std::string link = view.at("kind") == "match" ? link_.of(view) : "";
    if (!link.empty() && link.size() <= most_of_link) {
      event["client_url"] = link;
      event["links"] = Json::array({{{"href", link}, {"text", "Open"}}});
    }
    event["payload"] = {{"summary", clipped(value_text(view.at("summary")), most_of_summary)},
                        {"source", application_},
                        {"severity", severity_of(view)},
                        {"component", view.at("query")},
                        {"class", view.at("kind")},
                        {"custom_details", view.at("alert")}};
    std::string text = to_text(event);
    if (text.size() <= most_of_event) return text;
    event["payload"]["custom_details"] = {{"id", view.value("id", "")},
                                          {"query", view.at("query")},
                                          {"batch", view.at("batch")},
                                          {"too_large", part.alerts.front().size()}};
    return to_text(event);
  }

  [[nodiscard]] Verdict judge(const HttpAnswer& answer) const override {
    // A wrong key can be mended, and then the event is as good as any.
    if (answer.status == 400 && names_routing_key(answer.excerpt)) return Verdict::refused;
    const bool invalid = answer.status == 400 || answer.status == 413;
    return invalid ? Verdict::invalid : verdict_of(answer.status);
  }

 private:
  /// Whether the answer is that of a key of another length, or of one that does not exist.
  static bool names_routing_key(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.find("routing_key") != std::string::npos || text.find("routing key") != std::string::npos;
  }

  /// Several applications and queries may report under one routing key, and equal patterns find matches of equal ids. Reports
  /// of one kind and query are one incident.
  [[nodiscard]] std::string key_of(const Json& view) const {
    if (view.at("kind") == "match") {
      const std::string match = application_ + '\n' + value_text(view.at("query")) + '\n' + value_text(view.at("id"));
      const XXH128_hash_t hash = XXH3_128bits(match.data(), match.size());
      return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    }
    return clipped(application_ + '/' + sink_ + '/' + value_text(view.at("kind")) + '/' + value_text(view.at("query")),
                   most_of_key);
  }

  [[nodiscard]] std::string severity_of(const Json& view) const {
    if (view.at("kind") == "suppressed") return "info";
    if (view.at("kind") == "suspended") return "warning";
    const auto own = severities_.find(value_text(view.at("query")));
    return own == severities_.end() ? severity_ : own->second;
  }

  std::string application_;
  std::string sink_;
  std::string routing_key_;
  std::string severity_;
  std::map<std::string, std::string> severities_;
  AlertLink link_;
};

}  // namespace

std::unique_ptr<AlertMessages> make_pagerduty_messages(std::string_view application, const SinkOptions& options) {
  return std::make_unique<PagerdutyMessages>(application, options);
}

}  // namespace deltamatch::ingest
