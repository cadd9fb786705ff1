#include "deltamatch/match.hpp"

namespace deltamatch {

std::string to_string(const MatchId& id) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text(32, '0');
  for (unsigned i = 0; i < 16; ++i) {
    text[i] = hex[(id.high >> (60 - 4 * i)) & 15];
    text[16 + i] = hex[(id.low >> (60 - 4 * i)) & 15];
  }
  return text;
}

std::string_view shortfall_name(Shortfall shortfall) noexcept {
  switch (shortfall) {
    case Shortfall::none:
      break;
    case Shortfall::limit:
      return "limit";
    case Shortfall::timeout:
      return "timeout";
    case Shortfall::stopped:
      return "stopped";
  }
  return {};
}

}  // namespace deltamatch
