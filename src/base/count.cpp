#include "deltamatch/count.hpp"

#include <array>

namespace deltamatch {

std::string to_string(Count count) {
  std::array<char, 39> digits;  // 2^128 - 1 has 39
  char* first = digits.data() + digits.size();
  do {
    *--first = static_cast<char>('0' + static_cast<int>(count % 10));
    count /= 10;
  } while (count != 0);
  return {first, digits.data() + digits.size()};
}

}  // namespace deltamatch
