// Writes updates as records of text formats, as their codecs read them without any option.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

/// Appends a line of JSONL, which can hold every update. `schema` names the attributes; without it they are left out. The key
/// of an edge is the field `edge`. Attributes have fields of their own names, decimals as texts so that they stay exact.
void append_jsonl(std::string& out, const Update& update, const Schema& schema = {});

/// Appends a line of TSV, `+ source target label time` between tabs, with the time in seconds. TSV holds edges without the
/// labels of their vertices, and no text that would be read as something else. Returns what it cannot hold of the update, and
/// then appends nothing. Returns an empty text if it can.
[[nodiscard]] std::string_view append_tsv(std::string& out, const Update& update);

}  // namespace deltamatch::ingest
