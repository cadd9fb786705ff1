// What the messages of chat and paging services share.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/service/alert/alert_messages.hpp"
#include "ingest/service/alert/alert_template.hpp"

namespace deltamatch::ingest {

/// A link to a page about an alert.
class AlertLink {
 public:
  /// `text` is a template; if it is empty, there is no link. Throws Error(configuration) if it is malformed.
  AlertLink(std::string_view application, std::string_view sink, std::string_view text);
  /// The URL for an alert_view. Empty without a template.
  [[nodiscard]] std::string of(const nlohmann::ordered_json& view) const;

 private:
  std::string application_;
  std::string sink_;
  std::optional<AlertTemplate> template_;
};

/// The fields that do not come from an alert, for use as the outermost scope of a template.
[[nodiscard]] nlohmann::ordered_json message_scope(std::string_view application, std::string_view sink, std::uint64_t batch,
                                                   std::uint64_t part);

/// "ring: a match appeared", without the names that `summary` has.
[[nodiscard]] std::string title_of(const nlohmann::ordered_json& view);
/// An edge in one line: source, arrow, target, label, attributes, time.
[[nodiscard]] std::string edge_line(const nlohmann::ordered_json& edge);
/// "deltamatch fraud: 12 more alerts of batch 17 are not shown here (ring 10, fan 2). They are in …". The most frequent first.
[[nodiscard]] std::string rest_line(std::string_view application, const LeftOut& rest);

[[nodiscard]] std::unique_ptr<AlertMessages> make_template_messages(std::string_view application, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<AlertMessages> make_slack_messages(std::string_view application, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<AlertMessages> make_teams_messages(std::string_view application, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<AlertMessages> make_pagerduty_messages(std::string_view application, const SinkOptions& options);

}  // namespace deltamatch::ingest
