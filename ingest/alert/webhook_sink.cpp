// POSTs alerts to a URL: at least once.
#include <algorithm>
#include <atomic>
#include <cctype>

#include "ingest/alert/alert_sinks.hpp"
#include "ingest/alert/http_poster.hpp"
#include "ingest/sink/json_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t request_bytes = std::size_t{1} << 20;

/// Whether the answer says that the request is at fault, not the moment.
bool is_refusal(int status) noexcept {
  return status >= 300 && status < 500 && status != 408 && status != 425 && status != 429;
}

class WebhookSink final : public AlertSink {
 public:
  WebhookSink(std::string_view application, const SinkOptions& options, Journal& journal)
      : where_("sink '" + options.name + "'"),
        name_(options.name),
        key_(std::string(application) + '/' + options.name + '/'),
        refused_tries_(options.refused_tries),
        journal_(journal),
        poster_(where_, options.url, with_content_type(options), options.timeout) {}

  std::string recover(std::string_view) override { return {}; }
  void begin(std::uint64_t batch) override;
  void write(std::string_view id, std::string_view alert) override;
  std::string commit() override;
  void abort() noexcept override {}
  void cancel() noexcept override { poster_.cancel(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_; }

 private:
  [[nodiscard]] HttpPoster::Headers with_content_type(const SinkOptions& options) const;
  void start_part();
  void finish_part();
  void post();
  void drop(int status);

  std::string where_;
  std::string name_;
  std::string key_;
  std::size_t refused_tries_;
  Journal& journal_;
  HttpPoster poster_;
  std::uint64_t batch_ = 0;
  std::uint64_t part_ = 0;     // of the batch
  std::uint64_t settled_ = 0;  // parts of the batch that are delivered or dropped
  std::size_t refusals_ = 0;   // of the first part that is not
  std::string body_;
  std::uint64_t alerts_ = 0;  // in it
  std::atomic<std::uint64_t> dropped_{0};
};

HttpPoster::Headers WebhookSink::with_content_type(const SinkOptions& options) const {
  for (const auto& [name, value] : options.headers) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view own : {"content-type", "content-length", "host", "deltamatch-batch", "idempotency-key"}) {
      if (lower == own)
        throw Error(ErrorKind::configuration, where_, "header '" + name + "' is the sink's own", "remove it from its headers");
    }
  }
  HttpPoster::Headers headers = options.headers;
  headers.emplace("Content-Type", "application/json");
  return headers;
}

void WebhookSink::begin(std::uint64_t batch) {
  if (batch != batch_) {
    batch_ = batch;
    settled_ = 0;
    refusals_ = 0;
  }
  part_ = 0;
  start_part();
}

void WebhookSink::start_part() {
  body_ = R"({"v":1,"batch":)";
  append_number(body_, batch_);
  body_ += R"(,"part":)";
  append_number(body_, part_);
  body_ += R"(,"alerts":[)";
  alerts_ = 0;
}

void WebhookSink::write(std::string_view, std::string_view alert) {
  if (alerts_ != 0 && body_.size() + alert.size() > request_bytes) finish_part();
  if (alerts_++ != 0) body_ += ',';
  body_ += alert;
}

std::string WebhookSink::commit() {
  if (alerts_ != 0) finish_part();
  return {};
}

void WebhookSink::finish_part() {
  body_ += "]}";
  if (part_ == settled_) {
    post();
    ++settled_;
    refusals_ = 0;
  }
  ++part_;
  start_part();
}

void WebhookSink::post() {
  const std::string batch = std::to_string(batch_);
  const HttpAnswer answer =
      poster_.post(body_, {{"Deltamatch-Batch", batch}, {"Idempotency-Key", key_ + batch + '/' + std::to_string(part_)}});
  if (answer.status >= 200 && answer.status < 300) return;
  if (answer.status == 0)
    throw Error(where_, answer.error, "check its URL, its certificate, and that its server runs and can be reached");
  const std::string what = "was answered with status " + std::to_string(answer.status);
  if (is_refusal(answer.status)) {
    if (++refusals_ == refused_tries_) return drop(answer.status);
    throw Error(where_, what, "check its URL and headers, and what its server makes of the alerts");
  }
  if (answer.retry_after) throw TryLater(*answer.retry_after, where_, what);
  throw Error(where_, what);
}

void WebhookSink::drop(int status) {
  dropped_ += alerts_;
  journal_.tell(Level::error, "alerts dropped",
                {{"sink", name_},
                 {"batch", std::to_string(batch_)},
                 {"alerts", std::to_string(alerts_)},
                 {"status", std::to_string(status)},
                 {"tries", std::to_string(refusals_)}});
}

}  // namespace

std::unique_ptr<AlertSink> make_webhook_sink(std::string_view application, const SinkOptions& options, Journal& journal) {
  return std::make_unique<WebhookSink>(application, options, journal);
}

std::unique_ptr<AlertSink> make_alert_sink(std::string_view application, const SinkOptions& options, Journal& journal) {
  switch (options.kind) {
    case SinkOptions::Kind::file:
      return make_file_sink(options.name, options.path, options.rotate_bytes, options.keep_files);
    case SinkOptions::Kind::console:
      return make_console_sink(options.name);
    case SinkOptions::Kind::webhook:
      return make_webhook_sink(application, options, journal);
    case SinkOptions::Kind::kafka:
      break;
  }
  throw Error("sink '" + options.name + "'", "alerts for Kafka go with the batch's transaction");
}

}  // namespace deltamatch::ingest
