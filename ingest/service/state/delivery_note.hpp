// Which alerts of committed batches the sinks have, as the commit topic says it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Written to the commit topic for the sinks that get the same alerts whichever instance works (SinkOptions::sends_requests).
/// So another instance, or one whose state directory is lost, knows what they still have to get.
struct DeliveryNote {
  std::uint64_t up_to = 0;  ///< the last committed batch that it speaks of
  /// By sink: its alerts of all batches up to this one are delivered. A sink that is not named never had an alert.
  std::map<std::string, std::uint64_t, std::less<>> delivered;

  [[nodiscard]] std::uint64_t of(std::string_view sink) const {
    const auto own = delivered.find(sink);
    return own == delivered.end() ? up_to : own->second;
  }
  friend bool operator==(const DeliveryNote&, const DeliveryNote&) = default;
};

/// Returns {"v":1,"delivered":{"pager":479},"up_to":500}.
[[nodiscard]] std::string to_json(const DeliveryNote& note);

/// Returns nothing if the text is no delivery note. Throws Error at `where` for a damaged one.
[[nodiscard]] std::optional<DeliveryNote> parse_note(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
