// The type of match counts: 128 bits, checked against overflow.
#pragma once

#include <string>

namespace deltamatch {

/// A number of matches. The library checks its arithmetic: a count beyond 2^128 - 1 is an Error, never a wrapped number.
__extension__ using Count = unsigned __int128;

/// Decimal digits, without separators.
[[nodiscard]] std::string to_string(Count count);

}  // namespace deltamatch
