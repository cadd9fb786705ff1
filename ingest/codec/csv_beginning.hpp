// What the beginning of a CSV file says about the rest.
#pragma once

#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/source/line_source.hpp"

namespace deltamatch::ingest {

/// Sets the separator to that of the first line if none is set. If records state vertices, and no columns are named, also
/// decides whether there is a header. Without one, the columns are those of vertices.
void complete_csv(CodecOptions& options, std::string_view head);

/// Whether edges are directed. They are, unless the first record says otherwise in the column Type.
[[nodiscard]] bool csv_is_directed(LineSource& lines, const CodecOptions& options);

}  // namespace deltamatch::ingest
