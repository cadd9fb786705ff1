// Which column of a table has which role.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/table/table_source.hpp"

namespace deltamatch::ingest {

/// The columns of a table that have roles, and those that are not read.
struct TableLayout {
  Layout columns;
  std::vector<std::string> attributes;  ///< the names of all attributes, by number
  std::vector<std::size_t> unread;
  bool label_by_usual_name = false;
};

/// Finds the columns. Throws Error(usage) that names the table, its columns and what to give.
[[nodiscard]] TableLayout lay_out(const TableReader& table, const TableRoles& roles, const CodecOptions& options);

}  // namespace deltamatch::ingest
