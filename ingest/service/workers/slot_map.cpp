#include "ingest/service/workers/slot_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest::workers {

void CutBook::add(const Cut& cut) {
  if (cuts_.empty()) {
    cuts_.push_back(cut);
    return;
  }
  const auto refuse = [&](std::string_view what) {
    throw Error(fmt::format("cut of batch {}", cut.batch()), what,
                "the commit topic of an application belongs to its instances only; restore it, or begin a new application");
  };
  if (holds(cut.batch())) {
    if (!(at(cut.batch()) == cut)) refuse("the commit topic holds two different cuts of this batch");
    return;
  }
  if (cut.batch() < oldest()) return;
  if (cut.batch() != newest() + 1) refuse(fmt::format("it follows the cut of batch {}", newest()));
  if (cut.places.size() != last().places.size()) {
    refuse(fmt::format("it has {} slots, and the cut before it has {}", cut.places.size(), last().places.size()));
  }
  cuts_.push_back(cut);
}

bool CutBook::holds(std::uint64_t batch) const noexcept { return !cuts_.empty() && batch >= oldest() && batch <= newest(); }

std::string_view CutBook::publisher(Slot slot, std::uint64_t batch) const {
  const auto later = cuts_ | std::views::drop(batch - oldest() + 1) | std::views::reverse;
  const auto taken = std::ranges::find_if(later, [&](const Cut& cut) { return cut.places[slot].change == Change::take_over; });
  return taken != later.end() ? taken->places[slot].worker : at(batch).places[slot].worker;
}

std::vector<std::string> CutBook::owing(Slot slot, std::uint64_t after) const {
  std::vector<std::string> workers;
  const std::string* heir = nullptr;
  for (const Cut& cut : cuts_ | std::views::reverse) {
    if (cut.batch() <= after) break;
    const Place& place = cut.places[slot];
    const std::string& worker = heir != nullptr ? *heir : place.worker;
    if (std::ranges::find(workers, worker) == workers.end()) workers.push_back(worker);
    if (heir == nullptr && place.change == Change::take_over) heir = &place.worker;
  }
  return workers;
}

void CutBook::forget_before(std::uint64_t batch) {
  while (cuts_.size() > 1 && oldest() < batch) cuts_.pop_front();
}

}  // namespace deltamatch::ingest::workers
