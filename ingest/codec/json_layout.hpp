// How the values of a JSON file are laid out.
#pragma once

#include <cstddef>
#include <memory>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/text_head.hpp"
#include "ingest/source/line_source.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Whether most lines are JSON, or the first one begins JSON that continues in the next lines.
[[nodiscard]] bool begins_json(const TextHead& head);

/// Reads a file by lines, unless it is one array or its objects span lines.
[[nodiscard]] std::unique_ptr<RecordSource> open_json(std::unique_ptr<LineSource> lines, const CodecOptions& options,
                                                      std::size_t max_record);

}  // namespace deltamatch::ingest
