// Which format of times a written time may have.
#pragma once

#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Says which `time-format` reads a time that is no number and no ISO 8601: `1/2/2023 3:04 PM`. If the month and the day may
/// be meant either way, it says both. Empty if no format of many that are tried reads it.
[[nodiscard]] std::string time_format_advice(const OptionSpelling& spelling, std::string_view text);

/// The format that reads such a time. Empty if there is none, or the month and the day may be meant either way.
[[nodiscard]] std::string clear_time_format(std::string_view text);

}  // namespace deltamatch::ingest
