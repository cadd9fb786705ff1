// An alert as templates and chat messages see it: the same names in both versions of the form.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// The alert as an object (docs/reference/formats.md, "Fields of templates"). It has the alert's own fields and
///   kind      "match", or of a report "suppressed" or "suspended"
///   appeared, vanished   whether a match did
///   summary   one line for people
///   time_text the time in ISO 8601, or null
///   edges     all edges in one list, a path's steps one after another. Each is an object whose attributes are fields, too
///   alert     the alert itself
/// Bytes that are no UTF-8 become U+FFFD, because receivers refuse the escapes that the alert has for them. Throws Error if the
/// text is no alert.
[[nodiscard]] nlohmann::ordered_json alert_view(std::string_view alert);

/// A time of an alert, which is a number of microseconds, a text or null, in ISO 8601. Empty for null.
[[nodiscard]] std::string time_text(const nlohmann::ordered_json& time);

/// A vertex or a value as text. The vertices of a path are joined by ", ".
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value);

/// The beginning of a text of at most `most` characters, as UTF-16 counts them. What is cut ends with an ellipsis. The text
/// must be UTF-8.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t most);

/// The JSON text, with valid UTF-8.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& value);

}  // namespace deltamatch::ingest
