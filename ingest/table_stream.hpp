// Reads a table as a sequence of batches: a frame of pandas or polars, or whatever else speaks Arrow's C interfaces.
#pragma once

#include <memory>

#include "ingest/stream.hpp"
#include "ingest/table/table_reader.hpp"
#include "ingest/table/table_source.hpp"

namespace deltamatch::ingest {

/// Reads the rows of a table, which are updates as the records of a file are. See make_table_codec for what `codec` says of
/// them. Throws Error(usage) if a column is missing.
[[nodiscard]] std::unique_ptr<UpdateStream> open_table(std::unique_ptr<TableReader> table, const TableRoles& roles,
                                                       const ReadOptions& options = {});

}  // namespace deltamatch::ingest
