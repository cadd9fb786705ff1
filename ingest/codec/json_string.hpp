// JSON's escapes, read as deltamatch writes them.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Appends what stands between the quotes of a JSON string, without its escapes. \udc80 to \udcff outside a pair are the bytes
/// 80 to ff, as append_json_string writes what is not UTF-8; other halves of pairs are faults, as unknown escapes are. False at
/// the first fault.
[[nodiscard]] bool append_unescaped(std::string& out, std::string_view raw);

}  // namespace deltamatch::ingest
