// A column of a table: reads the values of Arrow arrays where they lie.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingest/table/arrow_abi.hpp"
#include "ingest/table/cell.hpp"

namespace deltamatch::ingest {

/// Reads the values of one column. `bind` gives it an array, whose memory must stay as long as it is read. Copies no value.
///
/// It reads integers of all widths, float and double, booleans, timestamps of every unit and dates. Decimals have up to 128
/// bits. Texts may be large ones, views and dictionaries. Timestamps without a zone are UTC. What is finer than a microsecond
/// is dropped. Cells of other types are Cell::Kind::other, and so are numbers of an extension type: only its makers know what
/// they count.
class Column {
 public:
  /// `nan_is_null`: a NaN says that there is no value, as in pandas, and so does the least number of a timestamp, numpy's NaT.
  /// Throws Error(usage) if the format is none of Arrow's.
  explicit Column(const ArrowSchema& schema, bool nan_is_null = false);
  /// A column of cells, which must stay.
  Column(std::string name, std::string type, std::span<const Cell> cells);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// What its values are, as messages say it: "int64", "text", "timestamp".
  [[nodiscard]] const std::string& type() const noexcept { return type_name_; }
  /// The kind of its cells that are not null. If a column of cells has several, it is the number that can say all of them, or
  /// else Cell::Kind::other.
  [[nodiscard]] Cell::Kind kind() const noexcept { return kind_; }
  /// Digits after the point of decimals.
  [[nodiscard]] std::int32_t scale() const noexcept { return scale_; }
  /// Whether values are lists of texts.
  [[nodiscard]] bool lists_texts() const noexcept {
    return (type_ == Type::list32 || type_ == Type::list64) && items_->kind_ == Cell::Kind::text;
  }

  /// Reads this array from here on. Throws Error if it does not suit the schema.
  void bind(const ArrowArray& array);
  /// The value of a row of the array, from 0. Requires that the row exists. Texts are views of the array.
  [[nodiscard]] Cell cell(std::int64_t row) const noexcept;

  /// The items of a list: rows of items(). Empty if the list is null. Requires lists_texts().
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;  ///< one past the end
  };
  [[nodiscard]] Range list(std::int64_t row) const noexcept;
  [[nodiscard]] const Column& items() const noexcept { return *items_; }

 private:
  enum class Type : std::uint8_t {
    null,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    boolean,
    text32,
    text64,
    text_view,
    decimal32,
    decimal64,
    decimal128,
    scaled32,
    scaled64,
    list32,
    list64,
    cells,
    unknown
  };
  void set(Type type, Cell::Kind kind, std::string_view name);
  void read_format(std::string_view format);
  [[nodiscard]] bool is_null(std::int64_t at) const noexcept {
    return validity_ != nullptr && (validity_[at >> 3] >> (at & 7) & 1) == 0;
  }
  template <class T>
  [[nodiscard]] T load(std::int64_t at) const noexcept;
  template <class Offset>
  [[nodiscard]] std::string_view text(std::int64_t at) const noexcept;
  [[nodiscard]] std::string_view view(std::int64_t at) const noexcept;

  std::string name_;
  std::string type_name_;
  Type type_ = Type::unknown;
  Cell::Kind kind_ = Cell::Kind::other;
  bool nan_is_null_ = false;
  std::int32_t scale_ = 0;
  std::int64_t multiply_ = 1;  // of scaled times, to microseconds
  std::int64_t divide_ = 1;
  std::unique_ptr<Column> items_;       // of a list
  std::unique_ptr<Column> dictionary_;  // the values that the integers stand for
  std::span<const Cell> cells_;
  // Of the array.
  std::int64_t offset_ = 0;
  const std::uint8_t* validity_ = nullptr;
  const std::uint8_t* values_ = nullptr;
  const char* bytes_ = nullptr;
  const void* const* buffers_ = nullptr;
};

}  // namespace deltamatch::ingest
