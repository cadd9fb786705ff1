// Digests in records of JSON.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/digest.hpp"

namespace deltamatch::ingest {

/// {"begin":"<32 hex digits>","now":"<32 hex digits>"}.
[[nodiscard]] std::string to_json(const RunningDigest& digest);

/// Reads the result of to_json. Throws Error at `where` for anything else.
[[nodiscard]] RunningDigest parse_digest(std::string_view json, std::string_view where);

}  // namespace deltamatch::ingest
