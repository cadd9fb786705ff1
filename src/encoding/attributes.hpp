// The values of attributes as bytes. A row is what one record says: a value per attribute, at least 1 and at most
// max_attributes. It is read without knowing the schema.
//
//   shape    a text: a byte for each value, which tells its kind; NULLs side by side share one
//   values   integers, reals and symbols, one behind the other. Nothing follows for NULL and for booleans
//
// Each row has one valid encoding. Reals are told apart by their bits, so 0 and -0 are two values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "encoding/numbers.hpp"

namespace deltamatch::encoding {

/// The bytes of a shape.
namespace tag {
inline constexpr std::uint8_t no = 0;
inline constexpr std::uint8_t yes = 1;
inline constexpr std::uint8_t integer = 2;
inline constexpr std::uint8_t real = 3;
inline constexpr std::uint8_t symbol = 4;
inline constexpr std::uint8_t null = 128;  ///< plus the number of further NULLs that it stands for
inline constexpr std::uint8_t most_nulls = 255;
}  // namespace tag

/// Appends the shape of a row.
void append_shape(std::string& shape, std::span<const AttributeValue> row);

/// Sets `row` to values of the kinds that the shape tells; booleans and NULLs are right already. Returns false if it is none,
/// or has another form than append_shape gives.
[[nodiscard]] bool read_shape(std::string_view shape, std::vector<AttributeValue>& row);

/// What a record says beside ends, labels and time, as it is read. It is valid until the next one is read.
struct PropertiesRead {
  Properties properties;
  std::vector<AttributeValue> row;
};

/// Writes the values of a row behind its shape. The form says how integers and symbols are written.
template <class Out, class Form>
void put_values(Out& out, Form& form, std::span<const AttributeValue> row) {
  for (std::size_t column = 0; column < row.size(); ++column) {
    const AttributeValue& value = row[column];
    if (const auto* integer = std::get_if<std::int64_t>(&value)) form.put_integer(out, column, *integer);
    if (const auto* real = std::get_if<double>(&value)) out.fixed(std::bit_cast<std::uint64_t>(*real), 8);
    if (const auto* symbol = std::get_if<std::string_view>(&value)) form.put_symbol(out, *symbol);
  }
}

/// Reads them into a row that has its kinds.
template <class In, class Form>
void take_values(In& in, Form& form, std::span<AttributeValue> row) {
  for (std::size_t column = 0; column < row.size(); ++column) {
    AttributeValue& value = row[column];
    if (auto* integer = std::get_if<std::int64_t>(&value)) *integer = form.take_integer(in, column);
    if (auto* real = std::get_if<double>(&value)) *real = std::bit_cast<double>(in.fixed(8));
    if (auto* symbol = std::get_if<std::string_view>(&value)) *symbol = form.take_symbol(in);
  }
}

/// Rows of the plain form: integers and symbols are written in full.
class PlainRows {
 public:
  template <class Out>
  void put(Out& out, std::span<const AttributeValue> row) {
    shape_.clear();
    append_shape(shape_, row);
    out.text(shape_);
    put_values(out, *this, row);
  }
  template <class In>
  void take(In& in, std::vector<AttributeValue>& row) {
    if (!read_shape(in.text(), row)) in.fail();
    take_values(in, *this, row);
  }

  template <class Out>
  void put_integer(Out& out, std::size_t, std::int64_t value) {
    out.signed_number(value);
  }
  template <class In>
  std::int64_t take_integer(In& in, std::size_t) {
    return in.signed_number();
  }
  template <class Out>
  void put_symbol(Out& out, std::string_view text) {
    out.text(text);
  }
  template <class In>
  std::string_view take_symbol(In& in) {
    return in.text();
  }

 private:
  std::string shape_;
};

/// Rows of the packed form, of edges or of vertices. A shape is a number by first use. An integer is the difference to the one
/// before in its column. `Symbols` puts and takes symbols as it does labels.
template <class Symbols>
class PackedRows {
 public:
  template <class Out>
  void put(Out& out, Symbols& symbols, std::span<const AttributeValue> row) {
    symbols_ = &symbols;
    last_.resize(std::max(last_.size(), row.size()));
    shape_.clear();
    append_shape(shape_, row);
    const auto [known, fresh] = numbers_.try_emplace(shape_, numbers_.size());
    out.number(known->second);
    if (fresh) out.text(shape_);
    put_values(out, *this, row);
  }
  template <class In>
  void take(In& in, Symbols& symbols, std::vector<AttributeValue>& row) {
    symbols_ = &symbols;
    const std::uint64_t number = in.number();
    if (number >= shapes_.size()) learn(in, number);
    if (!in.sound() || !read_shape(shapes_[static_cast<std::size_t>(number)], row)) {
      in.fail();
      row.clear();
    }
    last_.resize(std::max(last_.size(), row.size()));
    take_values(in, *this, row);
  }

  template <class Out>
  void put_integer(Out& out, std::size_t column, std::int64_t value) {
    out.signed_number(difference(std::exchange(last_[column], value), value));
  }
  template <class In>
  std::int64_t take_integer(In& in, std::size_t column) {
    return last_[column] = advance(last_[column], in.signed_number());
  }
  template <class Out>
  void put_symbol(Out& out, std::string_view text) {
    symbols_->put(out, text);
  }
  template <class In>
  std::string_view take_symbol(In& in) {
    return symbols_->take(in);
  }

 private:
  /// Reads a shape at its first use.
  template <class In>
  void learn(In& in, std::uint64_t number) {
    if (number > shapes_.size()) in.fail();
    std::string& shape = shapes_.emplace_back();
    if constexpr (requires { in.text(shape); }) {
      in.text(shape);  // leaves the text before valid
    } else {
      shape = in.text();
    }
    if (!numbers_.try_emplace(shape, number).second) in.fail();  // each shape has one number
  }

  Symbols* symbols_ = nullptr;  // during a call
  std::string shape_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
  std::vector<std::string> shapes_;  // by number
  std::vector<std::int64_t> last_;   // by column
};

}  // namespace deltamatch::encoding
