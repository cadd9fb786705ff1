// Which options read a CSV file, by its header and the record behind it.
#pragma once

#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

/// Refuses a header that only words such as payer and payee explain. The remedy has all that its first lines show: columns, the
/// form of times, and what reads amounts. `head` begins with the header. If the input is converted, `conversion` is how the
/// command begins, and the remedy is the whole command. Throws Error.
void refuse_header_of_words(std::string_view head, const std::string& name, const CodecOptions& options,
                            std::string_view conversion);

}  // namespace deltamatch::ingest
