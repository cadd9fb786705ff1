#include "ingest/table/cell.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace deltamatch::ingest {
namespace {

/// Writes digits backwards from `end`. At least one, and at least `least` of them.
char* write_digits(UInt128 number, int least, char* end) noexcept {
  do {
    *--end = static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
    --least;
  } while (number != 0 || least > 0);
  return end;
}

std::string_view write_exact(Int128 number, int scale, NumberText& room) noexcept {
  char* const end = room.data() + room.size();
  const bool negative = number < 0;
  auto digits = negative ? -static_cast<UInt128>(number) : static_cast<UInt128>(number);
  char* begin = end;
  if (scale > 0) {
    UInt128 power = 1;
    for (int i = 0; i < scale; ++i) power *= 10;
    begin = write_digits(digits % power, scale, begin);
    *--begin = '.';
    digits /= power;
  }
  begin = write_digits(digits, 1, begin);
  if (negative) *--begin = '-';
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view text_of(const Cell& cell, NumberText& room) noexcept {
  switch (cell.kind) {
    case Cell::Kind::null:
      return {};
    case Cell::Kind::integer:
    case Cell::Kind::time: {
      if (!cell.text.empty()) return cell.text;
      if (cell.number >= std::numeric_limits<std::int64_t>::min() && cell.number <= std::numeric_limits<std::int64_t>::max()) {
        const auto [end, code] = std::to_chars(room.data(), room.data() + room.size(), static_cast<std::int64_t>(cell.number));
        return {room.data(), static_cast<std::size_t>(end - room.data())};
      }
      return write_exact(cell.number, 0, room);
    }
    case Cell::Kind::decimal:
      return cell.text.empty() ? write_exact(cell.number, cell.scale, room) : cell.text;
    case Cell::Kind::real:
      return write_real(cell.real, room);
    case Cell::Kind::boolean:
      return cell.number != 0 ? "true" : "false";
    case Cell::Kind::text:
    case Cell::Kind::other:
      break;
  }
  return cell.text;
}

WholeFault whole_number(const Cell& cell, std::int64_t& number) noexcept {
  Int128 whole = cell.number;
  if (cell.kind == Cell::Kind::real) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (std::isfinite(cell.real) && std::abs(cell.real) >= exact) return WholeFault::inexact;
    if (!std::isfinite(cell.real) || std::trunc(cell.real) != cell.real) return WholeFault::fraction;
    number = static_cast<std::int64_t>(cell.real);
    return WholeFault::none;
  }
  for (int i = 0; cell.kind == Cell::Kind::decimal && i < cell.scale; ++i) {
    if (whole % 10 != 0) return WholeFault::fraction;
    whole /= 10;
  }
  if (whole < std::numeric_limits<std::int64_t>::min() || whole > std::numeric_limits<std::int64_t>::max())
    return WholeFault::out_of_range;
  number = static_cast<std::int64_t>(whole);
  return WholeFault::none;
}

}  // namespace deltamatch::ingest
