// The requests that alerts become: bodies in the form that a receiver takes, and what its answers mean.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/http_poster.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The alerts of one request: a part of a batch.
struct MessagePart {
  std::uint64_t batch = 0;
  std::uint64_t part = 0;
  std::span<const std::string_view> alerts;
};

/// The alerts of a batch that no message shows.
struct LeftOut {
  std::uint64_t batch = 0;
  std::map<std::string, std::uint64_t, std::less<>> alerts;  ///< by query: how many
  std::string where;                                         ///< the file that has them, and its machine
};

/// What an answer means for the request.
enum class Verdict : std::uint8_t {
  accepted,
  failed,   ///< try again
  refused,  ///< try again, and count it as a refusal
  invalid,  ///< the receiver will never take this request
};

/// The meaning of a status: 2xx accepted; 3xx and 4xx refused, except 408, 425 and 429; others failed.
[[nodiscard]] Verdict verdict_of(int status) noexcept;

/// The samples of one query: alerts of all kinds that it can have.
struct QuerySamples {
  std::string query;
  std::vector<std::string> alerts;
};

/// Makes requests. Calls with the same arguments give the same bytes. Only one thread calls it.
class AlertMessages {
 public:
  virtual ~AlertMessages() = default;

  [[nodiscard]] virtual std::string content_type() const { return "application/json"; }
  /// The most alerts of one request.
  [[nodiscard]] virtual std::size_t most_alerts() const { return std::numeric_limits<std::size_t>::max(); }
  /// The body of a request. Throws Error if the alerts cannot be shown.
  [[nodiscard]] virtual std::string body(const MessagePart& part) const = 0;
  /// The body of a request that says which alerts are not shown, and where they are. Empty: there is none.
  [[nodiscard]] virtual std::string body_about_rest(const LeftOut& rest) const;
  [[nodiscard]] virtual Verdict judge(const HttpAnswer& answer) const { return verdict_of(answer.status); }
};

/// The messages of a sink, or null for those of a webhook without a template. Throws Error(configuration) for a malformed
/// template.
[[nodiscard]] std::unique_ptr<AlertMessages> make_messages(std::string_view application, const SinkOptions& options);

/// Tries a template of the sink with the samples of the queries that it serves. Throws Error(configuration) in these cases; the
/// message names the query.
/// - A name cannot exist.
/// - The body is not JSON, but its type says so.
/// - The link is no URL.
void try_body(std::string_view application, const SinkOptions& options, std::span<const QuerySamples> samples);
void try_link(std::string_view application, const SinkOptions& options, std::span<const QuerySamples> samples);

/// Samples of what a query reports: matches that appear and vanish, with ids that are hard to write, and reports.
[[nodiscard]] QuerySamples sample_alerts(const Query& query, const Schema& schema, TimeForm times);
/// A match of the query that appears, for a trial of a sink. Query, ids and values are marked as a test.
[[nodiscard]] std::string test_alert(const Query& query, const Schema& schema, TimeForm times, std::uint64_t batch,
                                     Timestamp time);

}  // namespace deltamatch::ingest
