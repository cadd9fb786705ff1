#include "ingest/table/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "deltamatch/error.hpp"

static_assert(std::endian::native == std::endian::little, "Arrow's arrays are read as they lie in memory");

namespace deltamatch::ingest {
namespace {

constexpr std::int64_t second = 1'000'000;

/// The number at the front of a text, which is then removed.
std::int64_t take_number(std::string_view& text) noexcept {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(',')) text.remove_prefix(1);
  return number;
}

/// The name of the extension type in a schema's metadata: a count, then for each entry two texts behind their lengths. Empty if
/// there is none.
std::string_view extension_of(const char* metadata) noexcept {
  if (metadata == nullptr) return {};
  const auto take_length = [&] {
    std::int32_t number = 0;
    std::memcpy(&number, metadata, sizeof number);
    metadata += sizeof number;
    return number;
  };
  const auto take_text = [&] {
    const auto size = static_cast<std::size_t>(take_length());
    const std::string_view text(metadata, size);
    metadata += size;
    return text;
  };
  for (std::int32_t left = take_length(); left > 0; --left) {
    const std::string_view key = take_text();
    const std::string_view value = take_text();
    if (key == "ARROW:extension:name") return value;
  }
  return {};
}

/// The kind of a column that has cells of both kinds.
constexpr Cell::Kind kind_of_both(Cell::Kind a, Cell::Kind b) noexcept {
  using Kind = Cell::Kind;
  const auto is_number = [](Kind kind) { return kind == Kind::integer || kind == Kind::decimal || kind == Kind::real; };
  if (a == b || b == Kind::null) return a;
  if (a == Kind::null) return b;
  return is_number(a) && is_number(b) ? std::max(a, b) : Kind::other;
}

/// Rounds down, also below zero.
constexpr std::int64_t divided(std::int64_t value, std::int64_t divisor) noexcept {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

Column::Column(const ArrowSchema& schema, bool nan_is_null)
    : name_(schema.name == nullptr ? "" : schema.name), nan_is_null_(nan_is_null) {
  read_format(schema.format);
  const std::string_view extension = extension_of(schema.metadata);
  if (!extension.empty() && (kind_ == Cell::Kind::integer || kind_ == Cell::Kind::real))
    set(Type::unknown, Cell::Kind::other, fmt::format("column of the type {}", extension));
  if (schema.dictionary != nullptr) {
    dictionary_ = std::make_unique<Column>(*schema.dictionary, nan_is_null);
    kind_ = dictionary_->kind_;
    scale_ = dictionary_->scale_;
    type_name_ = fmt::format("dictionary of {}", dictionary_->type_name_);
  }
  if ((type_ == Type::list32 || type_ == Type::list64) && schema.n_children == 1) {
    items_ = std::make_unique<Column>(*schema.children[0]);
    type_name_ = fmt::format("list of {}", items_->type_name_);
  } else if (type_ == Type::list32 || type_ == Type::list64) {
    type_ = Type::unknown;
  }
}

Column::Column(std::string name, std::string type, std::span<const Cell> cells)
    : name_(std::move(name)), type_name_(std::move(type)), type_(Type::cells), cells_(cells) {
  kind_ = Cell::Kind::null;
  for (const Cell& cell : cells) {
    kind_ = kind_of_both(kind_, cell.kind);
    scale_ = std::max(scale_, cell.scale);
  }
  if (kind_ == Cell::Kind::null) kind_ = Cell::Kind::other;
}

void Column::set(Type type, Cell::Kind kind, std::string_view name) {
  type_ = type;
  kind_ = kind;
  type_name_ = name;
}

void Column::read_format(std::string_view format) {
  using Kind = Cell::Kind;
  static constexpr struct {
    std::string_view format;
    Type type;
    Kind kind;
    std::string_view name;
  } simple[] = {{"n", Type::null, Kind::null, "null"},       {"b", Type::boolean, Kind::boolean, "bool"},
                {"c", Type::int8, Kind::integer, "int8"},    {"C", Type::uint8, Kind::integer, "uint8"},
                {"s", Type::int16, Kind::integer, "int16"},  {"S", Type::uint16, Kind::integer, "uint16"},
                {"i", Type::int32, Kind::integer, "int32"},  {"I", Type::uint32, Kind::integer, "uint32"},
                {"l", Type::int64, Kind::integer, "int64"},  {"L", Type::uint64, Kind::integer, "uint64"},
                {"f", Type::float32, Kind::real, "float32"}, {"g", Type::float64, Kind::real, "float64"},
                {"u", Type::text32, Kind::text, "text"},     {"U", Type::text64, Kind::text, "text"},
                {"vu", Type::text_view, Kind::text, "text"}, {"tdD", Type::scaled32, Kind::time, "date"},
                {"tdm", Type::scaled64, Kind::time, "date"}, {"+l", Type::list32, Kind::other, "list"},
                {"+L", Type::list64, Kind::other, "list"}};
  set(Type::unknown, Kind::other, fmt::format("column of Arrow's type {}", format));
  for (const auto& known : simple) {
    if (format != known.format) continue;
    set(known.type, known.kind, known.name);
    if (format == "tdD") multiply_ = 86'400 * second;
    if (format == "tdm") multiply_ = 1'000;
    return;
  }
  if (format.starts_with("ts") && format.size() >= 3) {
    switch (format[2]) {
      case 's':
        multiply_ = second;
        break;
      case 'm':
        multiply_ = 1'000;
        break;
      case 'n':
        divide_ = 1'000;
        break;
      default:
        break;
    }
    set(Type::scaled64, Kind::time, "timestamp");
  } else if (format.starts_with("d:")) {
    std::string_view rest = format.substr(2);
    const std::int64_t precision = take_number(rest);
    scale_ = static_cast<std::int32_t>(take_number(rest));
    const std::int64_t bits = rest.empty() ? 128 : take_number(rest);
    if (scale_ < 0 || scale_ > 38 || bits > 128) return;
    set(bits == 32   ? Type::decimal32
        : bits == 64 ? Type::decimal64
                     : Type::decimal128,
        Kind::decimal, fmt::format("decimal({}, {})", precision, scale_));
  }
}

void Column::bind(const ArrowArray& array) {
  if (type_ == Type::cells || type_ == Type::null || type_ == Type::unknown) return;
  const std::int64_t needed = type_ == Type::text32 || type_ == Type::text64 || type_ == Type::text_view ? 3
                              : type_ == Type::list32 || type_ == Type::list64                           ? 2
                                                                                                         : 2;
  const bool sound = array.n_buffers >= needed - (type_ == Type::text_view ? 1 : 0) &&
                     (!dictionary_ || array.dictionary != nullptr) && (!items_ || array.n_children == 1);
  if (!sound)
    throw Error("column " + name_, "its Arrow array does not suit its type", "give a table of a library that keeps to Arrow");
  offset_ = array.offset;
  buffers_ = array.buffers;
  validity_ = array.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(array.buffers[0]);
  values_ = static_cast<const std::uint8_t*>(array.buffers[1]);
  if (type_ == Type::text32 || type_ == Type::text64) bytes_ = static_cast<const char*>(array.buffers[2]);
  if (dictionary_) dictionary_->bind(*array.dictionary);
  if (items_) items_->bind(*array.children[0]);
}

template <class T>
T Column::load(std::int64_t at) const noexcept {
  T value;
  std::memcpy(&value, values_ + static_cast<std::size_t>(at) * sizeof(T), sizeof(T));
  return value;
}

template <class Offset>
std::string_view Column::text(std::int64_t at) const noexcept {
  const auto begin = load<Offset>(at);
  const auto end = load<Offset>(at + 1);
  return begin == end ? std::string_view("") : std::string_view(bytes_ + begin, static_cast<std::size_t>(end - begin));
}

/// A view has 16 bytes: its length, then up to 12 bytes of text. A longer text has its first four bytes, a buffer and an
/// offset.
std::string_view Column::view(std::int64_t at) const noexcept {
  constexpr std::size_t size = 16;
  constexpr std::int32_t longest_inside = 12;
  const std::uint8_t* const bytes = values_ + static_cast<std::size_t>(at) * size;
  std::int32_t parts[4];
  std::memcpy(parts, bytes, size);
  const auto length = static_cast<std::size_t>(parts[0]);
  if (parts[0] <= longest_inside) return {reinterpret_cast<const char*>(bytes) + 4, length};
  return {static_cast<const char*>(buffers_[2 + parts[2]]) + parts[3], length};
}

Cell Column::cell(std::int64_t row) const noexcept {
  if (type_ == Type::cells) return cells_[static_cast<std::size_t>(row)];
  const std::int64_t at = row + offset_;
  if (is_null(at)) return {};
  Cell cell;
  cell.kind = kind_;
  const auto integer = [&](auto number) {
    cell.number = number;
    return cell;
  };
  switch (type_) {
    case Type::null:
      return {};
    case Type::int8:
      integer(load<std::int8_t>(at));
      break;
    case Type::int16:
      integer(load<std::int16_t>(at));
      break;
    case Type::int32:
      integer(load<std::int32_t>(at));
      break;
    case Type::int64:
      integer(load<std::int64_t>(at));
      break;
    case Type::uint8:
      integer(load<std::uint8_t>(at));
      break;
    case Type::uint16:
      integer(load<std::uint16_t>(at));
      break;
    case Type::uint32:
      integer(load<std::uint32_t>(at));
      break;
    case Type::uint64:
      integer(load<std::uint64_t>(at));
      break;
    case Type::float32:
    case Type::float64:
      cell.real = type_ == Type::float32 ? static_cast<double>(load<float>(at)) : load<double>(at);
      if (nan_is_null_ && std::isnan(cell.real)) return {};
      return cell;
    case Type::boolean:
      return integer(values_[at >> 3] >> (at & 7) & 1);
    case Type::text32:
      cell.text = text<std::int32_t>(at);
      return cell;
    case Type::text64:
      cell.text = text<std::int64_t>(at);
      return cell;
    case Type::text_view:
      cell.text = view(at);
      return cell;
    case Type::decimal32:
    case Type::decimal64:
    case Type::decimal128:
      cell.scale = scale_;
      cell.number = type_ == Type::decimal32   ? load<std::int32_t>(at)
                    : type_ == Type::decimal64 ? load<std::int64_t>(at)
                                               : load<Int128>(at);
      return cell;
    case Type::scaled32:
      return integer(static_cast<Int128>(load<std::int32_t>(at)) * multiply_);
    case Type::scaled64:
      if (nan_is_null_ && load<std::int64_t>(at) == std::numeric_limits<std::int64_t>::min()) return {};
      return integer(divide_ == 1 ? static_cast<Int128>(load<std::int64_t>(at)) * multiply_
                                  : divided(load<std::int64_t>(at), divide_));
    case Type::list32:
    case Type::list64:
    case Type::cells:
    case Type::unknown:
      cell.text = type_name_;
      return cell;
  }
  if (dictionary_) return dictionary_->cell(static_cast<std::int64_t>(cell.number));
  return cell;
}

Column::Range Column::list(std::int64_t row) const noexcept {
  const std::int64_t at = row + offset_;
  if (is_null(at)) return {};
  if (type_ == Type::list32) return {load<std::int32_t>(at), load<std::int32_t>(at + 1)};
  return {load<std::int64_t>(at), load<std::int64_t>(at + 1)};
}

}  // namespace deltamatch::ingest
