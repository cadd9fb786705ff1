// Reads JSON's escapes as deltamatch writes them.
#pragma once

#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Appends the contents of a JSON string, given without its quotes, with escapes replaced. \udc80 to \udcff outside a pair are
/// the bytes 80 to ff; append_json_string writes what is not UTF-8 so. Returns false at the first fault: another half of a
/// pair, or an unknown escape.
[[nodiscard]] bool append_unescaped(std::string& out, std::string_view raw);

}  // namespace deltamatch::ingest
