// Builds a table of Arrow: columns that values are appended to, and an immutable table of what was built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/table/arrow_abi.hpp"
#include "ingest/table/cell.hpp"

namespace deltamatch::ingest {

/// What the values of a column are. `format` is Arrow's. Lists have one child, structs any number.
struct ArrowField {
  std::string format;
  std::string name;
  std::vector<ArrowField> children{};
  bool nullable = true;
  friend bool operator==(const ArrowField&, const ArrowField&) = default;
};

namespace arrow_type {
inline constexpr const char* int32 = "i";
inline constexpr const char* int64 = "l";
inline constexpr const char* float64 = "g";
inline constexpr const char* boolean = "b";
inline constexpr const char* text = "u";
inline constexpr const char* timestamp = "tsu:UTC";  ///< microseconds
inline constexpr const char* list = "+l";
inline constexpr const char* structure = "+s";
[[nodiscard]] std::string decimal(int precision, int scale);
}  // namespace arrow_type

/// The buffers of one column, with those of its children.
struct ArrowColumn {
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  std::vector<std::uint8_t> validity;  ///< empty: there is no null
  std::vector<std::uint8_t> values;    ///< numbers, bits, or offsets of 32 bits
  std::vector<char> bytes;             ///< of texts
  std::vector<ArrowColumn> children;
};

/// Appends values to a column. A value is appended as its field says: a struct is complete once each child has one value more.
class ArrayBuilder {
 public:
  explicit ArrayBuilder(ArrowField field);

  void null();
  void integer(std::int64_t value);  ///< also a timestamp
  void real(double value);
  void boolean(bool value);
  void text(std::string_view value);
  void decimal(Int128 digits);
  void end_struct();  ///< after its children have their values
  void end_list();    ///< after its items have been appended to the child

  [[nodiscard]] ArrayBuilder& child(std::size_t index = 0) noexcept { return children_[index]; }
  [[nodiscard]] std::int64_t length() const noexcept { return column_.length; }
  /// Bytes of texts, of the column and its children.
  [[nodiscard]] std::size_t text_bytes() const noexcept;
  /// Takes what was appended. The builder is empty then.
  [[nodiscard]] ArrowColumn take();
  [[nodiscard]] const ArrowField& field() const noexcept { return field_; }

 private:
  void valid(bool value);
  template <class T>
  void put(T value);

  ArrowField field_;
  ArrowColumn column_;
  std::vector<ArrayBuilder> children_;
};

/// A table: a field for each column, and chunks of rows. Immutable; copies share it.
class ArrowTable {
 public:
  /// `columns` are the fields. Each chunk is a struct that has them as children.
  ArrowTable(std::vector<ArrowField> columns, std::vector<ArrowColumn> chunks);

  [[nodiscard]] const std::vector<ArrowField>& columns() const noexcept;
  [[nodiscard]] std::uint64_t rows() const noexcept;
  /// Each is a struct of the columns.
  [[nodiscard]] const std::vector<ArrowColumn>& chunks() const noexcept;
  /// A stream of its chunks. It keeps the table's memory, and so does each array that it yields.
  void export_stream(ArrowArrayStream* out) const;
  void export_schema(ArrowSchema* out) const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace deltamatch::ingest
