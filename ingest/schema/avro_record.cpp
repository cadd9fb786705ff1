#include "ingest/schema/avro_record.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace deltamatch::ingest {
namespace {

using Kind = AvroType::Kind;
using Meaning = AvroType::Meaning;

constexpr Timestamp day = Timestamp{86'400} * 1'000'000;

/// A number of `bytes` with the low one first.
template <class Number>
Number little_endian(std::string_view bytes) noexcept {
  Number sum = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) sum = static_cast<Number>(sum << 8 | static_cast<unsigned char>(bytes[i]));
  return sum;
}

}  // namespace

bool AvroRecord::fail(std::string what) {
  if (fault_.empty()) fault_ = std::move(what);
  return false;
}

bool AvroRecord::take(std::uint64_t size, std::string_view& bytes) {
  if (size > rest_.size()) {
    return fail(fmt::format("the record ends after {} bytes, within a value that needs {} more", size_, size - rest_.size()));
  }
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

/// Reads a variable-length number in zig-zag encoding.
bool AvroRecord::number(std::int64_t& value) {
  constexpr unsigned bits = 64;
  std::uint64_t sum = 0;
  for (unsigned shift = 0; shift < bits; shift += 7) {
    std::string_view byte;
    if (!take(1, byte)) return false;
    const auto seven = static_cast<std::uint64_t>(static_cast<unsigned char>(byte[0]) & 0x7fU);
    if (shift == 63 && seven > 1) break;
    sum |= seven << shift;
    if ((static_cast<unsigned char>(byte[0]) & 0x80U) != 0) continue;
    value = static_cast<std::int64_t>(sum >> 1 ^ (~(sum & 1) + 1));
    return true;
  }
  return fail(fmt::format("the number before byte {} is longer than 64 bits", size_ - rest_.size()));
}

bool AvroRecord::take_counted(std::string_view& bytes) {
  std::int64_t size = 0;
  if (!number(size)) return false;
  if (size < 0) return fail(fmt::format("the length before byte {} is negative", size_ - rest_.size()));
  return take(static_cast<std::uint64_t>(size), bytes);
}

bool AvroRecord::read_first(const AvroSchema& schema, std::string_view& bytes, RecordText& out) {
  constexpr std::uint64_t values_beside = 4096;  // values without bytes: nulls, and records of nothing
  schema_ = &schema;
  out_ = &out;
  rest_ = bytes;
  size_ = bytes.size();
  left_ = 2 * std::uint64_t{size_} + values_beside;
  fault_.clear();
  out.clear(longest_text(size_));
  if (!value(schema.root(), 0)) return false;
  bytes = rest_;
  return true;
}

bool AvroRecord::read(const AvroSchema& schema, std::string_view bytes, RecordText& out) {
  if (!read_first(schema, bytes, out)) return false;
  if (bytes.empty()) return true;
  return fail(fmt::format("{} bytes follow the record, which ends at byte {}", bytes.size(), size_ - bytes.size()));
}

bool AvroRecord::value(std::uint32_t of, std::size_t depth) {  // NOLINT(misc-no-recursion): bounded by `deepest`
  if (depth > deepest) return fail(fmt::format("its values nest deeper than {} levels", deepest));
  if (left_-- == 0 || out_->full()) return fail("its few bytes stand for too many values");
  const AvroType& type = schema_->type(of);
  std::string_view bytes;
  std::int64_t integral = 0;
  switch (type.kind) {
    case Kind::null:
      return out_->null(), true;
    case Kind::boolean:
      if (!take(1, bytes)) return false;
      if (bytes[0] != 0 && bytes[0] != 1)
        return fail(fmt::format("the boolean before byte {} is neither 0 nor 1", size_ - rest_.size()));
      return out_->boolean(bytes[0] == 1), true;
    case Kind::int32:
    case Kind::int64:
      return number(integral) && integer(type, integral);
    case Kind::float32:
      if (!take(sizeof(float), bytes)) return false;
      return out_->real(std::bit_cast<float>(little_endian<std::uint32_t>(bytes))), true;
    case Kind::float64:
      if (!take(sizeof(double), bytes)) return false;
      return out_->real(std::bit_cast<double>(little_endian<std::uint64_t>(bytes))), true;
    case Kind::bytes:
      return take_counted(bytes) && fixed(type, bytes);
    case Kind::fixed:
      return take(type.size, bytes) && fixed(type, bytes);
    case Kind::string:
      if (!take_counted(bytes)) return false;
      return out_->text(bytes), true;
    case Kind::enumeration:
      if (!number(integral)) return false;
      if (integral < 0 || static_cast<std::uint64_t>(integral) >= type.symbols.size())
        return fail(fmt::format("the enum before byte {} has no symbol {}", size_ - rest_.size(), integral));
      return out_->text(type.symbols[static_cast<std::size_t>(integral)]), true;
    case Kind::array:
    case Kind::map:
      return blocks(type, depth);
    case Kind::alternatives:
      return alternatives(type, depth);
    case Kind::record:
      return record(type, depth);
  }
  return false;
}

bool AvroRecord::record(const AvroType& type, std::size_t depth) {  // NOLINT(misc-no-recursion)
  out_->begin_object();
  for (const AvroType::Field& field : type.fields) {
    out_->quoted_name(field.quoted);
    if (!value(field.type, depth + 1)) return false;
  }
  out_->end_object();
  return true;
}

bool AvroRecord::alternatives(const AvroType& type, std::size_t depth) {  // NOLINT(misc-no-recursion)
  std::int64_t which = 0;
  if (!number(which)) return false;
  if (which < 0 || static_cast<std::uint64_t>(which) >= type.alternatives.size())
    return fail(fmt::format("the union before byte {} has no type {}", size_ - rest_.size(), which));
  return value(type.alternatives[static_cast<std::size_t>(which)], depth + 1);
}

/// Reads an array or a map. It consists of blocks; a negative count is followed by the block's size in bytes.
bool AvroRecord::blocks(const AvroType& type, std::size_t depth) {  // NOLINT(misc-no-recursion)
  const bool map = type.kind == Kind::map;
  map ? out_->begin_object() : out_->begin_array();
  while (true) {
    std::int64_t count = 0;
    if (!number(count)) return false;
    if (count == 0) break;
    std::int64_t bytes_of_block = 0;
    if (count < 0 && !number(bytes_of_block)) return false;
    const std::uint64_t elements = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
    for (std::uint64_t i = 0; i < elements; ++i) {
      std::string_view key;
      if (map && !take_counted(key)) return false;
      if (map) out_->name(key);
      if (!value(type.items, depth + 1)) return false;
    }
  }
  map ? out_->end_object() : out_->end_array();
  return true;
}

bool AvroRecord::fixed(const AvroType& type, std::string_view bytes) {
  if (type.meaning == Meaning::decimal)
    out_->decimal(bytes, type.scale);
  else
    out_->bytes(bytes);
  return true;
}

bool AvroRecord::integer(const AvroType& type, std::int64_t value) {
  if (type.kind == Kind::int32 && value != static_cast<std::int32_t>(value))
    return fail(fmt::format("the int before byte {} is longer than 32 bits", size_ - rest_.size()));
  Timestamp time = value;
  bool fits = true;
  switch (type.meaning) {
    case Meaning::none:
    case Meaning::decimal:
      return out_->number(value), true;
    case Meaning::days:
      fits = !__builtin_mul_overflow(value, day, &time);
      break;
    case Meaning::milliseconds:
      fits = !__builtin_mul_overflow(value, Timestamp{1000}, &time);
      break;
    case Meaning::microseconds:
      break;
    case Meaning::nanoseconds:
      time = value / 1000 - (value % 1000 < 0 ? 1 : 0);
      break;
  }
  // A time beyond 64 bits of microseconds stays a number that no unit can hold either, so it is refused if it is read.
  fits ? out_->time(time) : out_->text("beyond the range of times");
  return true;
}

}  // namespace deltamatch::ingest
