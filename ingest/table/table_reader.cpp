#include "ingest/table/table_reader.hpp"

#include <fmt/format.h>

#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

constexpr const char* no_table = "give a table: a frame of pandas or polars, or a table or record batches of Arrow";

/// The chunks are arrays of structs, whose members are the columns.
class ChunkReader : public TableReader {
 public:
  ChunkReader(std::string name, bool nan_is_null) : nan_is_null_(nan_is_null) { name_ = std::move(name); }

 protected:
  void declare(const ArrowSchema& schema) {
    if (schema.format == nullptr || std::string_view(schema.format) != "+s")
      throw Error(ErrorKind::usage, name_, "is no table: its rows have no columns", no_table);
    for (std::int64_t c = 0; c < schema.n_children; ++c) columns_.emplace_back(*schema.children[c], nan_is_null_);
  }

  /// Reads this chunk. Returns whether it has rows.
  bool take(ArrowOwner<ArrowArray> chunk) {
    chunk_ = std::move(chunk);
    if (chunk_->n_children != static_cast<std::int64_t>(columns_.size()))
      throw Error(name_, "its chunks do not suit its schema", "give a table of a library that keeps to Arrow");
    rows_ = chunk_->length;
    first_ = chunk_->offset;
    refuse_null_rows();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      ArrowArray column = *chunk_->children[c];  // a view
      column.offset += first_;
      columns_[c].bind(column);
    }
    return rows_ > 0;
  }

 private:
  /// A row of an array of structs may be null, although its members have values.
  void refuse_null_rows() const {
    const bool may_have = chunk_->null_count != 0 && chunk_->n_buffers > 0 && chunk_->buffers[0] != nullptr;
    const auto* const validity = may_have ? static_cast<const std::uint8_t*>(chunk_->buffers[0]) : nullptr;
    for (std::int64_t row = 0; may_have && row < rows_; ++row) {
      const std::int64_t at = first_ + row;
      if ((validity[at >> 3] >> (at & 7) & 1) != 0) continue;
      throw Error(ErrorKind::usage, name_, fmt::format("a whole row is null, the row {} of its chunk", row),
                  "leave such rows out, as array.drop_null() does");
    }
  }

  bool nan_is_null_;
  std::int64_t first_ = 0;
  ArrowOwner<ArrowArray> chunk_;
};

class StreamReader final : public ChunkReader {
 public:
  StreamReader(ArrowOwner<ArrowArrayStream> stream, std::string name, bool nan_is_null)
      : ChunkReader(std::move(name), nan_is_null), stream_(std::move(stream)) {
    if (const int code = stream_->get_schema(stream_.get(), schema_.get()); code != 0) fail();
    declare(*schema_);
  }

  bool next() override {
    for (;;) {
      ArrowOwner<ArrowArray> chunk;
      if (const int code = stream_->get_next(stream_.get(), chunk.get()); code != 0) fail();
      if (!chunk) return false;
      if (take(std::move(chunk))) return true;
    }
  }

 private:
  [[noreturn]] void fail() {
    const char* const text = stream_->get_last_error(stream_.get());
    throw Error(name_, text == nullptr ? "the table cannot be read" : text);
  }

  ArrowOwner<ArrowArrayStream> stream_;
  ArrowOwner<ArrowSchema> schema_;
};

class ArrayReader final : public ChunkReader {
 public:
  ArrayReader(ArrowOwner<ArrowSchema> schema, ArrowOwner<ArrowArray> array, std::string name, bool nan_is_null)
      : ChunkReader(std::move(name), nan_is_null), schema_(std::move(schema)), array_(std::move(array)) {
    declare(*schema_);
  }

  bool next() override { return array_ && take(std::move(array_)); }

 private:
  ArrowOwner<ArrowSchema> schema_;
  ArrowOwner<ArrowArray> array_;
};

class ColumnsReader final : public TableReader {
 public:
  ColumnsReader(std::vector<TableColumn> columns, std::string name, bool nan_is_null) : held_(std::move(columns)) {
    name_ = std::move(name);
    std::optional<std::int64_t> length;
    for (TableColumn& column : held_) {
      if (column.schema) {
        ArrowSchema named = *column.schema;  // a view
        named.name = column.name.c_str();
        columns_.emplace_back(named, nan_is_null);
      } else {
        columns_.emplace_back(column.name, column.type, column.cells);
      }
      const std::int64_t own = column.schema ? column.array->length : static_cast<std::int64_t>(column.cells.size());
      if (length.value_or(own) != own) {
        throw Error(ErrorKind::usage, name_,
                    fmt::format("the column {} has {} rows, and the one before it {}", column.name, own, *length),
                    "give columns of one length");
      }
      length = own;
    }
    length_ = length.value_or(0);
  }

  bool next() override {
    if (std::exchange(given_, true) || length_ == 0) {
      rows_ = 0;
      return false;
    }
    rows_ = length_;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (held_[c].schema) columns_[c].bind(*held_[c].array);
    }
    return true;
  }

 private:
  std::vector<TableColumn> held_;
  std::int64_t length_ = 0;
  bool given_ = false;
};

}  // namespace

std::unique_ptr<TableReader> read_stream(ArrowOwner<ArrowArrayStream> stream, std::string name, bool nan_is_null) {
  return std::make_unique<StreamReader>(std::move(stream), std::move(name), nan_is_null);
}

std::unique_ptr<TableReader> read_array(ArrowOwner<ArrowSchema> schema, ArrowOwner<ArrowArray> array, std::string name,
                                        bool nan_is_null) {
  return std::make_unique<ArrayReader>(std::move(schema), std::move(array), std::move(name), nan_is_null);
}

std::unique_ptr<TableReader> read_columns(std::vector<TableColumn> columns, std::string name, bool nan_is_null) {
  return std::make_unique<ColumnsReader>(std::move(columns), std::move(name), nan_is_null);
}

}  // namespace deltamatch::ingest
