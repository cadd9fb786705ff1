// Updates as records of text formats, as their codecs read them without any option.
#pragma once

#include <string>
#include <string_view>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

/// Appends one line of JSONL, which holds everything.
void append_jsonl(std::string& out, const Update& update);

/// Appends one line of TSV, `+ source target label time` between tabs, the time in seconds. It holds edges only, without the
/// labels of their vertices, and no text that would be read as something else: gives what it does not hold of the update, and
/// then appends nothing; empty where all is well.
[[nodiscard]] std::string_view append_tsv(std::string& out, const Update& update);

}  // namespace deltamatch::ingest
