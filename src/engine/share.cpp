#include "deltamatch/share.hpp"

#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch {

Share::Share(std::uint32_t slots, const std::vector<std::uint32_t>& own) {
  if (slots == 0 || slots > most_slots) {
    throw Error(ErrorKind::configuration, "share", std::to_string(slots) + " slots",
                "give a number of slots from 1 to " + std::to_string(most_slots));
  }
  own_.assign(slots, false);
  for (const std::uint32_t slot : own) {
    if (slot >= slots || own_[slot]) {
      throw Error(ErrorKind::configuration, "share",
                  "slot " + std::to_string(slot) + (slot >= slots ? " is not one of the slots" : " is given twice"),
                  "give each slot once, from 0 to " + std::to_string(slots - 1));
    }
    own_[slot] = true;
  }
  whole_ = own.size() == slots;
}

Share Share::part(std::uint32_t k, std::uint32_t n) {
  if (k == 0 || k > n) {
    throw Error(ErrorKind::configuration, "share", "part " + std::to_string(k) + " of " + std::to_string(n),
                "give a part from 1 to the number of parts");
  }
  return {n, {k - 1}};
}

bool Share::within(const Share& other) const noexcept {
  if (other.whole()) return true;
  if (slots() != other.slots()) return false;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) {
    if (owns(slot) && !other.owns(slot)) return false;
  }
  return true;
}

}  // namespace deltamatch
