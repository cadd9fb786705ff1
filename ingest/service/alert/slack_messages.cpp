// Messages for an incoming webhook of Slack: blocks with a header, the vertices, the edges and a line of context per alert.
#include <nlohmann/json.hpp>
#include <utility>

#include "ingest/service/alert/alert_view.hpp"
#include "ingest/service/alert/message_parts.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;

// Slack takes 50 blocks, 150 characters of a header, 3,000 of a text and 2,000 of a field, and 10 fields in a section.
constexpr std::size_t most_alerts_shown = 8;  // each has at most 6 blocks
constexpr std::size_t most_of_header = 150;
constexpr std::size_t most_of_text = 3000;
constexpr std::size_t most_of_value = 200;
constexpr std::size_t fields_of_section = 10;
constexpr std::size_t most_fields = 2 * fields_of_section;
constexpr std::size_t most_of_link = 1500;

/// The text with what Slack takes for a control character, escaped. At most `most` characters.
std::string escaped(std::string_view text, std::size_t most) {
  for (std::size_t kept = most;; kept = kept * 3 / 4) {
    std::string out;
    for (const char c : clipped(text, kept)) {
      if (c == '&') {
        out += "&amp;";
      } else if (c == '<') {
        out += "&lt;";
      } else if (c == '>') {
        out += "&gt;";
      } else {
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
      }
    }
    if (clipped(out, most) == out) return out;
  }
}

/// The text as code, so that nothing in it formats it.
std::string code(std::string_view text, std::size_t most) {
  std::string out = escaped(text, most - 2);
  for (char& c : out) {
    if (c == '`') c = '\'';
  }
  return out.empty() ? out : '`' + out + '`';
}

Json mrkdwn(std::string text) { return {{"type", "mrkdwn"}, {"text", std::move(text)}, {"verbatim", true}}; }

class SlackMessages final : public AlertMessages {
 public:
  SlackMessages(std::string_view application, const SinkOptions& options)
      : application_(application), link_(application, options.name, options.link) {}

  [[nodiscard]] std::size_t most_alerts() const override { return most_alerts_shown; }

  [[nodiscard]] std::string body(const MessagePart& part) const override {
    Json blocks = Json::array();
    std::string text;
    for (const std::string_view alert : part.alerts) {
      const Json view = alert_view(alert);
      if (!blocks.empty()) blocks.push_back({{"type", "divider"}});
      add(blocks, view);
      text += (text.empty() ? "" : "\n") + escaped(title_of(view), most_of_header);
    }
    return to_text({{"text", text}, {"blocks", std::move(blocks)}});
  }

  [[nodiscard]] std::string body_about_rest(const LeftOut& rest) const override {
    return to_text({{"text", escaped(rest_line(application_, rest), most_of_text)}});
  }

  [[nodiscard]] Verdict judge(const HttpAnswer& answer) const override {
    const bool invalid = answer.status == 400 || answer.status == 413;
    return invalid ? Verdict::invalid : verdict_of(answer.status);
  }

 private:
  void add(Json& blocks, const Json& view) const {
    if (view.at("kind") != "match") {
      blocks.push_back({{"type", "section"}, {"text", mrkdwn(escaped(value_text(view.at("summary")), most_of_text))}});
      return;
    }
    blocks.push_back(
        {{"type", "header"}, {"text", {{"type", "plain_text"}, {"text", escaped(title_of(view), most_of_header)}}}});
    add_bindings(blocks, view.at("bindings"));
    add_edges(blocks, view.at("edges"));
    blocks.push_back({{"type", "context"}, {"elements", Json::array({mrkdwn(context(view))})}});
  }

  static void add_bindings(Json& blocks, const Json& bindings) {
    Json fields = Json::array();
    std::size_t shown = 0;
    const auto flush = [&] {
      if (!fields.empty()) blocks.push_back({{"type", "section"}, {"fields", std::exchange(fields, Json::array())}});
    };
    for (const auto& [name, value] : bindings.items()) {
      if (++shown == most_fields && bindings.size() > most_fields) {
        fields.push_back(mrkdwn("and " + std::to_string(bindings.size() - shown + 1) + " more"));
        break;
      }
      const std::string shown_value = code(value_text(value), most_of_value);
      fields.push_back(mrkdwn('*' + escaped(name, most_of_value) + "*\n" + (shown_value.empty() ? "–" : shown_value)));
      if (fields.size() == fields_of_section) flush();
    }
    flush();
  }

  static void add_edges(Json& blocks, const Json& edges) {
    constexpr std::size_t for_the_end = 40;
    std::string text;
    std::size_t shown = 0;
    for (const Json& edge : edges) {
      const std::string line = code(edge_line(edge), 2 * most_of_value);
      if (text.size() + line.size() > most_of_text - for_the_end) break;
      text += line + '\n';
      ++shown;
    }
    if (shown < edges.size()) text += "and " + std::to_string(edges.size() - shown) + " more edges";
    if (!text.empty()) blocks.push_back({{"type", "section"}, {"text", mrkdwn(std::move(text))}});
  }

  [[nodiscard]] std::string context(const Json& view) const {
    const std::string time = view.at("time_text").is_null() ? "" : value_text(view.at("time_text")) + ", ";
    std::string text = escaped(application_, most_of_value) + ", " + time + "batch " + value_text(view.at("batch")) + ", " +
                       value_text(view.at("id"));
    const std::string link = link_.of(view);
    if (!link.empty() && link.size() <= most_of_link) text += ", <" + escaped(link, most_of_link) + "|open>";
    return text;
  }

  std::string application_;
  AlertLink link_;
};

}  // namespace

std::unique_ptr<AlertMessages> make_slack_messages(std::string_view application, const SinkOptions& options) {
  return std::make_unique<SlackMessages>(application, options);
}

}  // namespace deltamatch::ingest
