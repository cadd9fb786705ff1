// The file of --cuts: how another run cut its stream into batches.
#pragma once

#include <string>
#include <vector>

#include "ingest/batch/batcher.hpp"

namespace deltamatch::cli {

/// A line per batch: `RECORDS`, `RECORDS WATERMARK` (in microseconds) or `RECORDS -` (no watermark yet); blank lines and lines
/// that begin with # say nothing. Throws Error naming file and line.
[[nodiscard]] std::vector<ingest::Cut> read_cuts(const std::string& path);

}  // namespace deltamatch::cli
