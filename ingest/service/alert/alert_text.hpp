// The bytes of alerts. An alert is one JSON object without a line end: the line of a match as files hold it
// (append_match_json), or what was suppressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/match.hpp"

namespace deltamatch::ingest {

/// The id within an alert's bytes, 32 hexadecimal digits; empty where it tells what was suppressed. O(1).
[[nodiscard]] std::string_view alert_id(std::string_view alert) noexcept;

/// The batch that an alert, or a record of what was suppressed, belongs to; nothing if the text is neither. O(1) for an alert.
[[nodiscard]] std::optional<std::uint64_t> alert_batch(std::string_view alert) noexcept;

/// {"v":1,"query":"ring","batch":17,"suppressed":123}: so many alerts of the query were kept from the sink by its rate limit
/// since the last such record, and this batch tells it.
void append_suppressed(std::string& out, std::string_view query, std::uint64_t batch, std::uint64_t count);

/// {"v":1,"query":"ring","batch":17,"partial":"limit","matches":0}: the query exceeded a budget in this batch, of whose matches
/// only so many are told.
void append_partial(std::string& out, const ListingEnd& end);

/// Appends what stands in for an alert that is too large for where it goes: its fields up to `time`, and then the bytes that it
/// has, {"v":1,"id":"…","query":"ring","sign":"+","batch":17,"time":null,"too_large":1234567}.
void append_alert_stub(std::string& out, std::string_view alert);

}  // namespace deltamatch::ingest
