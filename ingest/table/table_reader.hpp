// Rows of a table, chunk by chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/table/arrow_abi.hpp"
#include "ingest/table/cell.hpp"
#include "ingest/table/column.hpp"

namespace deltamatch::ingest {

/// Reads a table once, from front to back. Its columns are known from the beginning; their values are those of one chunk at a
/// time.
class TableReader {
 public:
  virtual ~TableReader() = default;
  TableReader() = default;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  /// Goes to the next chunk, which has rows. Returns false at the end. Texts of the chunk before are no longer valid. Throws
  /// Error if the table cannot be read.
  virtual bool next() = 0;
  /// The number of rows of the present chunk.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  /// The places of columns do not change.
  [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }
  /// The name of the table in messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 protected:
  std::string name_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

/// A column by itself: an Arrow array, or cells.
struct TableColumn {
  ArrowOwner<ArrowSchema> schema;
  ArrowOwner<ArrowArray> array;
  std::string name;  ///< in place of the schema's
  std::string type;  ///< of cells, for messages
  std::vector<Cell> cells;
  std::shared_ptr<void> keeps;  ///< the memory of texts, or of the array's buffers
};

/// Reads a stream of chunks that have these columns. `nan_is_null`: see Column. Throws Error if the stream fails, or does not
/// consist of rows.
[[nodiscard]] std::unique_ptr<TableReader> read_stream(ArrowOwner<ArrowArrayStream> stream, std::string name,
                                                       bool nan_is_null = false);
/// Reads one array of rows.
[[nodiscard]] std::unique_ptr<TableReader> read_array(ArrowOwner<ArrowSchema> schema, ArrowOwner<ArrowArray> array,
                                                      std::string name, bool nan_is_null = false);
/// Reads columns that lie apart. Throws Error(usage) if they have different lengths.
[[nodiscard]] std::unique_ptr<TableReader> read_columns(std::vector<TableColumn> columns, std::string name,
                                                        bool nan_is_null = false);

}  // namespace deltamatch::ingest
