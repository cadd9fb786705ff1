// POSTs alerts to a URL, at least once, in a form that its receiver takes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/service/alert/alert_letters.hpp"
#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/alert/http_poster.hpp"
#include "ingest/service/alert/retry_limit.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t request_bytes = std::size_t{1} << 20;

using Clock = std::chrono::steady_clock;

/// The file and its machine, because each instance has its own file. Empty without a file.
std::string place_of(const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::array<char, 65> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::filesystem::absolute(file).string() + " on " + host.data();
}

std::string query_of(std::string_view alert) {
  const nlohmann::json name = nlohmann::json::parse(alert_head(alert).query, nullptr, false);
  return name.is_string() ? name.get<std::string>() : std::string();
}

class WebhookSink final : public AlertSink {
 public:
  WebhookSink(std::string_view application, const SinkOptions& options, Journal& journal)
      : where_("sink '" + options.name + "'"),
        name_(options.name),
        key_(std::string(application) + '/' + options.name + '/'),
        options_(options),
        journal_(journal),
        messages_(make_messages(application, options)),
        letters_(options.name, options.dead_letters),
        retry_limit_(options.max_tries, options.give_up_after),
        poster_(where_, options.url, with_content_type(options), options.timeout) {
    poster_.hide(options.routing_key);
  }

  std::string recover(std::string_view position) override { return letters_.recover(position); }
  void begin(std::uint64_t batch) override;
  void write(std::string_view id, std::string_view alert) override;
  std::string commit() override;
  void abort() noexcept override {}
  void await(std::uint64_t latest) override { latest_ = latest; }
  [[nodiscard]] bool gives_up(std::uint64_t batch) const override { return retry_limit_.over(batch, Clock::now()); }
  void cancel() noexcept override;
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept override { return all_left_out_; }

 private:
  [[nodiscard]] HttpPoster::Headers with_content_type(const SinkOptions& options) const;
  void start_part();
  void finish_part();
  void settle_part();
  void tell_left_out();
  [[nodiscard]] bool is_left_out() const { return options_.max_messages != 0 && part_ >= options_.max_messages; }
  bool post_alerts();
  bool post(const std::string& body);
  void wait_for_turn();
  [[nodiscard]] bool is_enough(bool refused) const;
  [[nodiscard]] std::vector<std::string_view> alerts() const;
  [[nodiscard]] static std::string describe(const HttpAnswer& answer);
  void give_up();

  std::string where_;
  std::string name_;
  std::string key_;
  SinkOptions options_;
  Journal& journal_;
  std::unique_ptr<AlertMessages> messages_;  // null: the parts are sent as they are in body_
  AlertLetters letters_;
  RetryLimit retry_limit_;  // for a server that accepts no requests
  HttpPoster poster_;
  std::uint64_t latest_ = 0;  // latest committed batch
  std::uint64_t batch_ = 0;
  std::uint64_t part_ = 0;     // within the batch
  std::uint64_t settled_ = 0;  // parts of the batch that are delivered or given up
  LeftOut left_out_;           // alerts of the batch beyond max_messages
  std::string body_;
  std::vector<std::pair<std::size_t, std::size_t>> alerts_;  // position and length of each alert in body_

  // The first part that is not settled.
  std::size_t tries_ = 0;
  std::size_t refusals_ = 0;
  std::optional<Clock::time_point> first_try_;

  std::string last_failure_;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> all_left_out_{0};

  Clock::time_point turn_;  // of the next request
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;  // guarded by mutex_
};

HttpPoster::Headers WebhookSink::with_content_type(const SinkOptions& options) const {
  for (const auto& [name, value] : options.headers) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view own : {"content-type", "content-length", "host", "deltamatch-batch", "idempotency-key"}) {
      if (lower == own)
        throw Error(ErrorKind::configuration, where_, "header '" + name + "' is set by the sink itself",
                    lower == "content-type" && options.kind == SinkOptions::Kind::webhook
                        ? "remove it from headers; content_type says what `body` is"
                        : "remove it from headers");
    }
  }
  HttpPoster::Headers headers = options.headers;
  headers.emplace("Content-Type", messages_ ? messages_->content_type() : "application/json");
  return headers;
}

void WebhookSink::begin(std::uint64_t batch) {
  if (batch != batch_) {
    batch_ = batch;
    settled_ = 0;
    tries_ = 0;
    refusals_ = 0;
    first_try_.reset();
  }
  latest_ = std::max(latest_, batch);
  part_ = 0;
  left_out_ = {batch, {}, place_of(letters_.path())};
  start_part();
}

void WebhookSink::start_part() {
  body_ = R"({"v":1,"batch":)";
  append_number(body_, batch_);
  body_ += R"(,"part":)";
  append_number(body_, part_);
  body_ += R"(,"alerts":[)";
  alerts_.clear();
}

void WebhookSink::write(std::string_view, std::string_view alert) {
  const std::size_t most = messages_ && !is_left_out() ? messages_->most_alerts() : SIZE_MAX;
  if (!alerts_.empty() && (alerts_.size() == most || body_.size() + alert.size() > request_bytes)) finish_part();
  if (!alerts_.empty()) body_ += ',';
  alerts_.emplace_back(body_.size(), alert.size());
  body_ += alert;
}

std::string WebhookSink::commit() {
  if (!alerts_.empty()) finish_part();
  if (!left_out_.alerts.empty()) tell_left_out();
  return letters_.settle(batch_);
}

void WebhookSink::finish_part() {
  body_ += "]}";
  if (is_left_out()) {
    for (const std::string_view alert : alerts()) ++left_out_.alerts[query_of(alert)];
  }
  if (part_ == settled_) {
    if (is_left_out()) {
      last_failure_ = "the batch has more alerts than max_messages allows";
      give_up();
    } else if (gives_up(batch_) || !post_alerts()) {
      give_up();
    }
    settle_part();
  }
  ++part_;
  start_part();
}

void WebhookSink::settle_part() {
  ++settled_;
  tries_ = 0;
  refusals_ = 0;
  first_try_.reset();
}

/// Sends a message about the alerts beyond max_messages. It is a part of its own, without alerts.
void WebhookSink::tell_left_out() {
  if (part_ != settled_) return;
  if (!gives_up(batch_)) static_cast<void>(post(messages_->body_about_rest(left_out_)));
  settle_part();
}

/// Returns true if the part is delivered, and false if it should be given up. Throws if it should be tried again.
bool WebhookSink::post_alerts() {
  if (!messages_) return post(body_);
  std::string body;
  try {
    body = messages_->body({batch_, part_, alerts()});
  } catch (const std::exception& error) {  // trying again would not help
    last_failure_ = error.what();
    return false;
  }
  return post(body);
}

std::vector<std::string_view> WebhookSink::alerts() const {
  std::vector<std::string_view> alerts;
  for (const auto& [begin, length] : alerts_) alerts.push_back(std::string_view(body_).substr(begin, length));
  return alerts;
}

void WebhookSink::cancel() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  poster_.cancel();
}

/// Keeps requests as far apart as the receiver wants them. Throws Error if it is cancelled meanwhile.
void WebhookSink::wait_for_turn() {
  if (options_.min_interval.count() == 0) return;
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, turn_, [&] { return cancelled_; })) throw Error(where_, "cancelled");
  turn_ = Clock::now() + options_.min_interval;
}

/// As post_alerts.
bool WebhookSink::post(const std::string& body) {
  wait_for_turn();
  const std::string batch = std::to_string(batch_);
  const HttpAnswer answer =
      poster_.post(body, {{"Deltamatch-Batch", batch}, {"Idempotency-Key", key_ + batch + '/' + std::to_string(part_)}});
  const Verdict verdict = messages_ ? messages_->judge(answer) : verdict_of(answer.status);
  journal_.tell(Level::debug, "request_answered",
                {{"sink", name_}, {"batch", batch}, {"part", std::to_string(part_)}, {"answer", describe(answer)}});
  const bool refused = verdict == Verdict::refused || verdict == Verdict::invalid;
  if (refused || verdict == Verdict::accepted) retry_limit_.restored();
  if (verdict == Verdict::accepted) return true;
  if (answer.status == 0 && answer.error == "cancelled") throw Error(where_, answer.error);
  const Clock::time_point now = Clock::now();
  last_failure_ = describe(answer);
  ++tries_;
  if (refused) ++refusals_;
  if (!refused) retry_limit_.failed(latest_, now);
  if (!first_try_) first_try_ = now;
  if (verdict == Verdict::invalid || is_enough(refused)) return false;
  if (answer.status == 0)
    throw Error(where_, last_failure_, "check its URL, its certificate, and that its server runs and can be reached");
  if (refused) throw Error(where_, last_failure_, "check its URL and headers, and why its server refuses the alerts");
  if (answer.retry_after) throw TryLater(*answer.retry_after, where_, last_failure_);
  throw Error(where_, last_failure_);
}

/// Whether the part has been tried long enough.
bool WebhookSink::is_enough(bool refused) const {
  if (refused && options_.refused_tries != 0 && refusals_ >= options_.refused_tries) return true;
  if (options_.max_tries != 0 && tries_ >= options_.max_tries) return true;
  const bool late = options_.give_up_after.count() != 0 && Clock::now() - *first_try_ >= options_.give_up_after;
  return late || gives_up(batch_);
}

std::string WebhookSink::describe(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.error;
  const std::string what = "the server answered with status " + std::to_string(answer.status);
  return answer.excerpt.empty() ? what : what + ": " + answer.excerpt;
}

void WebhookSink::give_up() {
  const std::size_t tries = std::max(tries_, retry_limit_.tries(batch_));
  letters_.write({batch_, part_, tries, last_failure_}, alerts());
  dropped_ += alerts_.size();
  if (is_left_out()) all_left_out_ += alerts_.size();  // after dropped_, which is never less
  journal_.tell(is_left_out() ? Level::warn : Level::error, "alerts are given up",
                {{"sink", name_},
                 {"batch", std::to_string(batch_)},
                 {"part", std::to_string(part_)},
                 {"alerts", std::to_string(alerts_.size())},
                 {"tries", std::to_string(tries)},
                 {"error", last_failure_},
                 {"dead_letters", letters_.path().string()}});
}

}  // namespace

std::unique_ptr<AlertSink> make_webhook_sink(std::string_view application, const SinkOptions& options, Journal& journal) {
  return std::make_unique<WebhookSink>(application, options, journal);
}

}  // namespace deltamatch::ingest
