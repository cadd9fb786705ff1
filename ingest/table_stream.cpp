#include "ingest/table_stream.hpp"

#include <utility>

namespace deltamatch::ingest {

std::unique_ptr<UpdateStream> open_table(std::unique_ptr<TableReader> table, const TableRoles& roles,
                                         const ReadOptions& options) {
  std::string name = table->name();
  auto source = std::make_unique<TableSource>(std::move(table));
  const TableSource& rows = *source;
  return open_records(
      std::move(name), std::move(source), [&](const CodecOptions& codec) { return make_table_codec(rows, roles, codec); },
      options);
}

}  // namespace deltamatch::ingest
