// A server that follows the rules of Slack, Teams and PagerDuty, as their documentation states them.
#pragma once

#include <httplib.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace deltamatch::ingest::testing {

/// The length of a text as JavaScript counts it.
inline std::size_t utf16_length(const std::string& text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

struct RuleAnswer {
  int status = 200;
  std::string body = "ok";
  httplib::Headers headers = {};
};

/// Whether a text in mrkdwn has only complete entities, and < and > only around links to the web.
inline bool is_mrkdwn(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string rest = text.substr(i);
    if (text[i] == '&' && !rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;")) return false;
    if (text[i] == '>') return false;
    if (text[i] == '<') {
      const std::size_t end = rest.find('>');
      if (!rest.starts_with("<http") || end == std::string::npos || rest.find('<', 1) < end) return false;
      i += end;
    }
  }
  return true;
}

inline bool is_text(const nlohmann::json& text, std::size_t most) {
  if (!text.is_object() || !text.value("text", nlohmann::json()).is_string()) return false;
  const std::string type = text.value("type", "");
  const std::string value = text["text"];
  return (type == "plain_text" || type == "mrkdwn") && !value.empty() && utf16_length(value) <= most && is_mrkdwn(value);
}

inline bool is_block(const nlohmann::json& block) {
  const std::string type = block.value("type", "");
  if (type == "divider") return true;
  if (type == "header") return is_text(block.at("text"), 150) && block["text"]["type"] == "plain_text";
  if (type == "context") {
    const auto& elements = block.at("elements");
    return !elements.empty() && elements.size() <= 10 &&
           std::ranges::all_of(elements, [](const auto& e) { return is_text(e, 3000); });
  }
  if (type != "section") return false;
  if (block.contains("text")) return is_text(block["text"], 3000);
  const auto& fields = block.at("fields");
  return !fields.empty() && fields.size() <= 10 && std::ranges::all_of(fields, [](const auto& f) { return is_text(f, 2000); });
}

inline RuleAnswer slack_rules(const std::string& body) {
  const auto message = nlohmann::json::parse(body, nullptr, false);
  if (!message.is_object()) return {400, "invalid_payload"};
  if (!message.contains("text") && !message.contains("blocks")) return {400, "no_text"};
  const auto blocks = message.value("blocks", nlohmann::json::array());
  if (blocks.size() > 50 || !std::ranges::all_of(blocks, is_block)) return {400, "invalid_blocks"};
  if (message.contains("text") && (!message["text"].is_string() || !is_mrkdwn(message["text"])))
    return {400, "invalid_payload"};
  return {};
}

inline RuleAnswer teams_rules(const std::string& body) {
  if (body.size() > 28 * 1024) return {413, R"({"error":{"code":"RequestEntityTooLarge"}})"};
  const auto message = nlohmann::json::parse(body, nullptr, false);
  const RuleAnswer refusal{400, R"({"error":{"code":"InvalidRequestContent"}})"};
  if (!message.is_object() || message.value("type", "") != "message" || !message.contains("attachments")) return refusal;
  static const std::set<std::string> elements{"TextBlock", "RichTextBlock", "FactSet", "ActionSet", "Container"};
  for (const auto& attachment : message["attachments"]) {
    const auto& card = attachment.at("content");
    if (attachment.value("contentType", "") != "application/vnd.microsoft.card.adaptive") return refusal;
    if (card.value("type", "") != "AdaptiveCard" || card.value("version", "") != "1.4" || card.at("body").empty())
      return refusal;
    for (const auto& element : card["body"]) {
      const std::string type = element.value("type", "");
      if (!elements.contains(type)) return refusal;
      if (type == "RichTextBlock" && element.at("inlines").empty()) return refusal;
      if (type == "ActionSet" && !element.at("actions").at(0).value("url", "").starts_with("http")) return refusal;
    }
  }
  return {202, ""};
}

inline RuleAnswer pagerduty_rules(const std::string& body) {
  std::vector<std::string> errors;
  const auto event = nlohmann::json::parse(body, nullptr, false);
  if (body.size() > 512 * 1024) return {413, "Request Entity Too Large"};
  if (!event.is_object())
    return {400, R"({"status":"invalid event","message":"Event object is invalid","errors":["bad JSON"]})"};
  const std::string action = event.value("event_action", "");
  const std::string key = event.value("dedup_key", "");
  if (event.value("routing_key", "").size() != 32) errors.emplace_back("Length of 'routing_key' is incorrect");
  if (action != "trigger" && action != "acknowledge" && action != "resolve") errors.emplace_back("'event_action' is invalid");
  if (utf16_length(key) > 255) errors.emplace_back("'dedup_key' is too long");
  if (action != "trigger" && key.empty()) errors.emplace_back("'dedup_key' is missing or blank");
  if (action == "trigger") {
    const auto payload = event.value("payload", nlohmann::json::object());
    const std::string summary = payload.value("summary", "");
    if (summary.empty() || utf16_length(summary) > 1024) errors.emplace_back("'payload.summary' is missing or too long");
    if (payload.value("source", "").empty()) errors.emplace_back("'payload.source' is missing or blank");
    const std::set<std::string> severities{"critical", "error", "warning", "info"};
    if (!severities.contains(payload.value("severity", ""))) errors.emplace_back("'payload.severity' is invalid");
  }
  if (errors.empty())
    return {202, nlohmann::json{{"status", "success"}, {"message", "Event processed"}, {"dedup_key", key}}.dump()};
  return {400, nlohmann::json{{"status", "invalid event"}, {"message", "Event object is invalid"}, {"errors", errors}}.dump()};
}

/// Answers as the rules say. With a `least_interval`, a message that comes earlier gets 429 and Retry-After: 1.
class RuleServer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RuleServer(std::function<RuleAnswer(const std::string&)> rules, Clock::duration least_interval = {})
      : rules_(std::move(rules)), least_interval_(least_interval) {
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) { take(request, response); });
    server_.set_tcp_nodelay(true);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~RuleServer() {
    server_.stop();
    thread_.join();
  }
  RuleServer(const RuleServer&) = delete;
  RuleServer& operator=(const RuleServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/services/T0/B0/s3cr3t"; }
  [[nodiscard]] std::vector<nlohmann::json> accepted() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  [[nodiscard]] std::vector<int> statuses() const {
    const std::lock_guard lock(mutex_);
    return statuses_;
  }
  [[nodiscard]] std::size_t largest() const {
    const std::lock_guard lock(mutex_);
    return largest_;
  }

 private:
  void take(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    RuleAnswer answer = rules_(request.body);
    if (last_ && now - *last_ < least_interval_) answer = {429, "rate_limited", {{"Retry-After", "1"}}};
    if (request.get_header_value("Content-Type") != "application/json") answer = {415, "unsupported_media_type"};
    if (answer.status < 300) {
      last_ = now;
      accepted_.push_back(nlohmann::json::parse(request.body));
    }
    largest_ = std::max(largest_, request.body.size());
    statuses_.push_back(answer.status);
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, "text/plain");
  }

  httplib::Server server_;
  std::function<RuleAnswer(const std::string&)> rules_;
  Clock::duration least_interval_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> last_;
  std::vector<nlohmann::json> accepted_;
  std::vector<int> statuses_;
  std::size_t largest_ = 0;
  std::thread thread_;
};

}  // namespace deltamatch::ingest::testing
