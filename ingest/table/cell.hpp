// One value of a table.
#pragma once

#include <cstdint>
#include <string_view>

#include "ingest/text/real_text.hpp"

namespace deltamatch::ingest {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

struct Cell {
  enum class Kind : std::uint8_t {
    null,
    integer,  ///< `number`; if 128 bits do not hold it, the largest number, with its digits as `text`
    decimal,  ///< `number` divided by 10^`scale`; `text` as above
    real,     ///< `real`
    boolean,  ///< `number` is 0 or 1
    text,     ///< `text`
    time,     ///< `number` is microseconds since the epoch, UTC
    other,    ///< of a type that no role has, such as a list; `text` names it
  };
  Kind kind = Kind::null;
  std::int32_t scale = 0;
  Int128 number = 0;
  double real = 0;
  std::string_view text{};
};

/// Room for the text of a number.
using NumberText = RealText;

/// A cell as a text: an integer's digits, a decimal with its point, a double as write_real() does, `true`, `false`. A time is
/// its microseconds. Null is empty. The result is in `room`, or the cell's own text.
[[nodiscard]] std::string_view text_of(const Cell& cell, NumberText& room) noexcept;

/// Why a cell is no whole number.
enum class WholeFault : std::uint8_t {
  none,
  fraction,      ///< it has digits after the point, or is no finite number
  out_of_range,  ///< beyond 64 bits
  inexact,       ///< a double of 2^53 or more: it may stand for several whole numbers
};

/// Reads an integer, a decimal or a double as a whole number: 12.0 is 12.
[[nodiscard]] WholeFault whole_number(const Cell& cell, std::int64_t& number) noexcept;

}  // namespace deltamatch::ingest
