// The text of alerts. An alert is one JSON object without a line end. It is the line of a match as in files
// (append_match_json), or a report of suppressed alerts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

/// The id within an alert of any version: 32 hexadecimal digits, or empty for a report of suppressed alerts. O(1).
[[nodiscard]] std::string_view alert_id(std::string_view alert) noexcept;

/// The batch of an alert or of a report of suppressed alerts. Returns nothing if the text is neither. O(1) for an alert.
[[nodiscard]] std::optional<std::uint64_t> alert_batch(std::string_view alert) noexcept;

/// What the first fields of an alert say.
struct AlertHead {
  std::string_view query;     ///< its name as a JSON string, a part of the alert; empty if the text is no alert
  std::optional<bool> added;  ///< the sign; nothing for a report
};
/// Reads the head of an alert or of a report. O(length of the name).
[[nodiscard]] AlertHead alert_head(std::string_view alert) noexcept;

/// Appends {"v":1,"query":"ring","batch":17,"suppressed":123}. The sink's rate limit suppressed that many alerts of the query
/// since the last such report. The batch is the one that reports it. `version` is that of the alerts (MatchForm).
void append_suppressed(std::string& out, int version, std::string_view query, std::uint64_t batch, std::uint64_t count);

/// Appends {"v":1,"query":"ring","batch":17,"partial":"limit","matches":0}. The query exceeded a budget in this batch, and only
/// that many of its matches are reported. `version` is that of the alerts.
void append_partial(std::string& out, int version, const ListingEnd& end);

/// Appends a replacement for an alert that is too large for its destination. It has the fields up to `time` and the alert's
/// size in bytes: {"v":1,"id":"…","query":"ring","sign":"+","batch":17,"time":null,"too_large":1234567}.
void append_alert_stub(std::string& out, std::string_view alert);

}  // namespace deltamatch::ingest
