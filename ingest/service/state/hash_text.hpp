// Hashes in records of JSON.
#pragma once

#include <optional>
#include <string_view>

#include "deltamatch/digest.hpp"

namespace deltamatch::ingest {

/// Reads 32 hexadecimal digits, the result of to_string(Hash128). Returns nothing for anything else.
[[nodiscard]] std::optional<Hash128> parse_hash(std::string_view text);

}  // namespace deltamatch::ingest
