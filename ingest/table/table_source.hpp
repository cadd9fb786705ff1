// The rows of a table as records.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/source/record_source.hpp"
#include "ingest/table/table_reader.hpp"

namespace deltamatch::ingest {

/// Yields each row as a record without bytes. A codec of make_table_codec reads the row where it lies. Positions count rows
/// from 1; messages say them from 0, as people index tables.
class TableSource final : public RecordSource {
 public:
  explicit TableSource(std::unique_ptr<TableReader> table) : table_(std::move(table)) {}

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override { cancelled_.store(true); }

  [[nodiscard]] const TableReader& table() const noexcept { return *table_; }
  /// The present row of the present chunk.
  [[nodiscard]] std::int64_t row() const noexcept { return row_; }

 private:
  std::unique_ptr<TableReader> table_;
  std::int64_t row_ = -1;
  std::uint64_t number_ = 0;
  std::atomic<std::uint64_t> read_ = 0;
  std::atomic<bool> cancelled_ = false;
};

/// The columns of a table by the roles that they have. Nothing: the usual names hold, as for CSV. Empty: there is no such
/// column.
using TableRoles = std::array<std::optional<std::string>, role_count>;

/// Makes the codec of a table's rows, which `source` yields. Values mean what they mean in JSON, with these additions:
/// - Doubles that are whole numbers are integers, as ids and everywhere else. Those of 2^53 and above are refused as ids.
/// - Timestamps and dates are times. Decimals and lists of labels are read as they are.
///
/// Of `options`, the members about columns, headers and separators mean nothing. With `vertices` a row is a vertex. Throws
/// Error(usage) if a column is missing or if two have one role.
[[nodiscard]] std::unique_ptr<Codec> make_table_codec(const TableSource& source, const TableRoles& roles,
                                                      const CodecOptions& options);

}  // namespace deltamatch::ingest
