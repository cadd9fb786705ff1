// Messages for a workflow of Microsoft Teams that posts to a channel: an Adaptive Card with a few lines per alert.
#include <nlohmann/json.hpp>
#include <utility>

#include "ingest/service/alert/alert_view.hpp"
#include "ingest/service/alert/message_parts.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

// Teams takes 28 KB. The card around the alerts and their links takes less than 3 KB.
constexpr std::size_t most_alerts_shown = 5;
constexpr std::size_t most_of_alert = 5000;  // bytes, with its link
constexpr std::size_t most_of_title = 200;
constexpr std::size_t most_of_link = 1000;

/// A line of plain text. Unlike a TextBlock, it has no Markdown, so an id cannot format it or make a link.
Json line(std::string text, bool title = false) {
  Json run{{"type", "TextRun"}, {"text", std::move(text)}};
  if (title) run.update({{"weight", "Bolder"}, {"size", "Medium"}});
  return {{"type", "RichTextBlock"}, {"spacing", title ? "Large" : "Small"}, {"inlines", Json::array({std::move(run)})}};
}

class TeamsMessages final : public AlertMessages {
 public:
  TeamsMessages(std::string_view application, const SinkOptions& options)
      : application_(application), link_(application, options.name, options.link) {}

  [[nodiscard]] std::size_t most_alerts() const override { return most_alerts_shown; }

  [[nodiscard]] std::string body(const MessagePart& part) const override {
    Json items = Json::array();
    for (const std::string_view alert : part.alerts) {
      for (Json& item : items_of(alert_view(alert))) items.push_back(std::move(item));
    }
    return card(std::move(items));
  }

  [[nodiscard]] std::string body_about_rest(const LeftOut& rest) const override {
    return card(Json::array({line(clipped(rest_line(application_, rest), most_of_alert))}));
  }

  [[nodiscard]] Verdict judge(const HttpAnswer& answer) const override {
    // A workflow that is switched off can be switched on, and a wrong URL mended. Then the message is as good as any.
    const auto says = [&](std::string_view what) { return answer.excerpt.find(what) != std::string::npos; };
    if (answer.status == 400 && (says("WorkflowTriggerIsNotEnabled") || says("Invalid webhook URL"))) return Verdict::refused;
    if (answer.status == 400 || answer.status == 413) return Verdict::invalid;
    // Connectors of the older kind answer so with 200.
    const bool passed_on = answer.excerpt.find("message delivery failed with error") == std::string::npos;
    return answer.status == 200 && !passed_on ? Verdict::failed : verdict_of(answer.status);
  }

 private:
  static std::string card(Json items) {
    Json content{{"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
                 {"type", "AdaptiveCard"},
                 {"version", "1.4"},
                 {"msteams", {{"width", "Full"}}}};
    content["body"] = std::move(items);
    Json attachment{{"contentType", "application/vnd.microsoft.card.adaptive"}, {"contentUrl", nullptr}};
    attachment["content"] = std::move(content);
    return to_text({{"type", "message"}, {"attachments", Json::array({std::move(attachment)})}});
  }

  /// With fewer lines and shorter texts, until they are small enough.
  [[nodiscard]] Json items_of(const Json& view) const {
    for (std::size_t lines = 24, most = 400;; lines /= 2, most /= 2) {
      Json items = items_of(view, lines, most);
      if (lines <= 1 || to_text(items).size() <= most_of_alert) return items;
    }
  }

  [[nodiscard]] Json items_of(const Json& view, std::size_t lines, std::size_t most) const {
    Json items = Json::array();
    items.push_back(line(clipped(title_of(view), most_of_title), true));
    if (view.at("kind") != "match") return items;
    add(items, view.at("bindings").items(), view.at("bindings").size(), lines,
        [&](const auto& binding) { return clipped(binding.key(), most) + ": " + clipped(value_text(binding.value()), most); });
    add(items, view.at("edges").items(), view.at("edges").size(), lines,
        [&](const auto& edge) { return clipped(edge_line(edge.value()), most); });
    const std::string time = view.at("time_text").is_null() ? "" : value_text(view.at("time_text")) + ", ";
    items.push_back(
        line(application_ + ", " + time + "batch " + value_text(view.at("batch")) + ", " + value_text(view.at("id"))));
    const std::string link = link_.of(view);
    if (!link.empty() && link.size() <= most_of_link) {
      Json open{{"type", "Action.OpenUrl"}, {"title", "Open"}, {"url", link}};
      items.push_back({{"type", "ActionSet"}, {"actions", Json::array({std::move(open)})}});
    }
    return items;
  }

  template <class Entries, class Text>
  static void add(Json& items, Entries&& entries, std::size_t size, std::size_t most, const Text& text) {
    std::size_t shown = 0;
    for (const auto& entry : entries) {
      if (shown == most) break;
      items.push_back(line(text(entry)));
      ++shown;
    }
    if (shown < size) items.push_back(line("and " + std::to_string(size - shown) + " more"));
  }

  std::string application_;
  AlertLink link_;
};

}  // namespace

std::unique_ptr<AlertMessages> make_teams_messages(std::string_view application, const SinkOptions& options) {
  return std::make_unique<TeamsMessages>(application, options);
}

}  // namespace deltamatch::ingest
