// Reads the file of --cuts: how another run cut its stream into batches.
#pragma once

#include <string>
#include <vector>

#include "ingest/batch/batcher.hpp"

namespace deltamatch::cli {

/// A line for each batch: `RECORDS`, `RECORDS WATERMARK` (in microseconds) or `RECORDS -` (no watermark yet). Blank lines, and
/// lines that begin with #, are skipped. Throws Error that names file and line.
[[nodiscard]] std::vector<ingest::Cut> read_cuts(const std::string& path);

}  // namespace deltamatch::cli
