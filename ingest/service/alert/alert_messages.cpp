#include "ingest/service/alert/alert_messages.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_template.hpp"
#include "ingest/service/alert/alert_view.hpp"
#include "ingest/service/alert/message_parts.hpp"

namespace deltamatch::ingest {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SinkOptions::Kind;

/// What of a body must be JSON by its type: all of it, its lines, or nothing. In a sequence, records begin with RS.
std::vector<std::string_view> json_values(std::string_view text, std::string_view content_type) {
  if (is_json(content_type)) return {text};
  std::vector<std::string_view> values;
  if (!is_json_lines(content_type)) return values;
  const char separator = text.find('\x1e') == std::string_view::npos ? '\n' : '\x1e';
  while (!text.empty()) {
    const std::string_view value = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(value.size() + 1, text.size()));
    if (value.find_first_not_of(" \t\r\n") != std::string_view::npos) values.push_back(value);
  }
  return values;
}

/// Alerts in a form of the user's.
class TemplateMessages final : public AlertMessages {
 public:
  TemplateMessages(std::string_view application, const SinkOptions& options)
      : application_(application),
        sink_(options.name),
        content_type_(options.content_type),
        each_alert_(options.each == SinkOptions::Each::alert),
        body_(options.body, escape_for(options.content_type)) {}

  [[nodiscard]] std::string content_type() const override { return content_type_; }
  [[nodiscard]] std::size_t most_alerts() const override { return each_alert_ ? 1 : AlertMessages::most_alerts(); }
  [[nodiscard]] std::string body(const MessagePart& part) const override {
    std::string text = render(part, nullptr);
    for (const std::string_view value : json_values(text, content_type_)) {
      if (nlohmann::json::accept(value)) continue;
      throw Error("body", "the template does not give JSON for these alerts", "write {{{name}}} where a JSON value stands");
    }
    return text;
  }

  [[nodiscard]] const AlertTemplate& text() const noexcept { return body_; }
  [[nodiscard]] std::string render(const MessagePart& part, TemplateCoverage* coverage) const {
    Json outer = message_scope(application_, sink_, part.batch, part.part);
    std::string text;
    if (each_alert_) {
      const Json view = alert_view(part.alerts.front());
      const std::array<const Json*, 2> scopes{&outer, &view};
      body_.render(text, scopes, coverage);
      return text;
    }
    Json views = Json::array();
    for (const std::string_view alert : part.alerts) views.push_back(alert_view(alert));
    outer["size"] = views.size();
    outer["alerts"] = std::move(views);
    const std::array<const Json*, 1> scopes{&outer};
    body_.render(text, scopes, coverage);
    return text;
  }

 private:
  std::string application_;
  std::string sink_;
  std::string content_type_;
  bool each_alert_;
  AlertTemplate body_;
};

/// Calls `render` for each query with a coverage of its own, and refuses names that cannot exist.
template <class Render>
void check_names(const AlertTemplate& text, std::span<const QuerySamples> samples, Render render) {
  std::vector<bool> sections(text.tags());
  std::vector<bool> asked(text.tags());
  for (const QuerySamples& query : samples) {
    TemplateCoverage coverage;
    render(query, coverage);
    for (std::size_t i = 0; i < text.tags(); ++i) {
      const AlertTemplate::Tag& tag = text.tag(i);
      if (coverage.asked[i]) asked[i] = true;
      if (tag.section && coverage.found[i]) sections[i] = true;
      if (tag.section || !coverage.asked[i] || coverage.found[i]) continue;
      throw Error(
          ErrorKind::configuration, tag.where, "the alerts of query '" + query.query + "' have no '" + tag.name + "'",
          "correct the name; or, if other queries have it, write {{#" + tag.name + "}}...{{/" + tag.name + "}} around it");
    }
  }
  for (std::size_t i = 0; i < text.tags(); ++i) {
    if (!text.tag(i).section || !asked[i] || sections[i]) continue;
    throw Error(ErrorKind::configuration, text.tag(i).where, "no alert of this sink has '" + text.tag(i).name + "'",
                "correct the name");
  }
}

std::vector<std::string_view> views_of(const std::vector<std::string>& alerts) { return {alerts.begin(), alerts.end()}; }

bool is_url(std::string_view text) {
  const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || text.size() == scheme || text[scheme] == '/') return false;
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '|' && c != '"'; });
}

}  // namespace

Verdict verdict_of(int status) noexcept {
  if (status >= 200 && status < 300) return Verdict::accepted;
  const bool refused = status >= 300 && status < 500 && status != 408 && status != 425 && status != 429;
  return refused ? Verdict::refused : Verdict::failed;
}

std::string AlertMessages::body_about_rest(const LeftOut&) const { return {}; }

std::unique_ptr<AlertMessages> make_template_messages(std::string_view application, const SinkOptions& options) {
  return std::make_unique<TemplateMessages>(application, options);
}

std::unique_ptr<AlertMessages> make_messages(std::string_view application, const SinkOptions& options) {
  switch (options.kind) {
    case Kind::slack:
      return make_slack_messages(application, options);
    case Kind::teams:
      return make_teams_messages(application, options);
    case Kind::pagerduty:
      return make_pagerduty_messages(application, options);
    default:
      return options.body.empty() ? nullptr : make_template_messages(application, options);
  }
}

void try_body(std::string_view application, const SinkOptions& options, std::span<const QuerySamples> samples) {
  const TemplateMessages messages(application, options);
  const auto must_be_json = [&](const std::string& text, const QuerySamples& query, std::string_view alert) {
    for (const std::string_view value : json_values(text, options.content_type)) {
      try {
        const auto parsed = nlohmann::json::parse(value);
        static_cast<void>(parsed);
      } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = std::min(error.byte == 0 ? 0 : error.byte - 1, value.size());
        const std::size_t from = at < 30 ? 0 : at - 30;
        throw Error(
            ErrorKind::configuration, "the trial with an alert of query '" + query.query + "'",
            "the body is not JSON near " + std::string(value.substr(from, 60)) + ", for the alert " + clipped(alert, 120),
            "write {{name}} inside quotes, {{{name}}} where a whole JSON value stands, and {{^last}},{{/last}} between "
            "entries");
      }
    }
  };
  check_names(messages.text(), samples, [&](const QuerySamples& query, TemplateCoverage& coverage) {
    const std::vector<std::string_view> alerts = views_of(query.alerts);
    for (std::size_t i = 0; i < alerts.size(); ++i) {
      must_be_json(messages.render({.batch = 17, .part = i, .alerts = {&alerts[i], 1}}, &coverage), query, alerts[i]);
    }
    if (messages.most_alerts() > 1)
      must_be_json(messages.render({.batch = 17, .part = 0, .alerts = alerts}, &coverage), query, alerts.front());
  });
}

void try_link(std::string_view application, const SinkOptions& options, std::span<const QuerySamples> samples) {
  const AlertTemplate text(options.link, Escape::percent);
  const Json outer{{"application", application}, {"sink", options.name}};
  check_names(text, samples, [&](const QuerySamples& query, TemplateCoverage& coverage) {
    for (const std::string& alert : query.alerts) {
      const Json view = alert_view(alert);
      const std::array<const Json*, 2> scopes{&outer, &view};
      std::string link;
      text.render(link, scopes, &coverage);
      if (!is_url(link))
        throw Error(ErrorKind::configuration, "the trial with an alert of query '" + query.query + "'",
                    "the link is not a URL: " + clipped(link, 120), "write e.g. https://deltamatch.example/?id={{id}}");
    }
  });
}

}  // namespace deltamatch::ingest
