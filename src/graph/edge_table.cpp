#include "graph/edge_table.hpp"

#include <algorithm>

#include "deltamatch/error.hpp"

namespace deltamatch::graph {

void EdgeTable::grow() {
  const std::size_t room = std::max<std::size_t>(64, records_.size() + records_.size() / 2);
  free_.reserve(room);
  if (keyed_) keys_.reserve(room);
  records_.reserve(room);  // the last: if one fails, all try again
}

/// Adds a slot that no edge has. Strong guarantee.
void EdgeTable::append_slot() {
  if (records_.size() == max_slots) throw Error("graph", "more than 2^31 edges", "use a shorter window, or the model 'simple'");
  if (records_.size() == records_.capacity()) grow();
  values_.expect(records_.size() + 1);
  records_.emplace_back();
  if (keyed_) keys_.append();
  free_.give_back(static_cast<Slot>(records_.size() - 1));
}

/// Writes the record of a slot that is still free. Strong guarantee.
void EdgeTable::write(Slot slot, const EdgeRecord& record, std::uint64_t ordinal, std::span<const Word> words) {
  if (keyed_) keys_.spell(slot, *record.key);
  records_[slot] = {record.tail, record.head, record.label, State::created, false, record.time.value_or(no_time), ordinal};
  if (!words.empty()) values_.set(slot, words);
}

Slot EdgeTable::create(const EdgeRecord& record, std::span<const Word> words) {
  if (created_.size() == created_.capacity()) created_.reserve(2 * created_.size() + 64);
  if (free_.empty()) append_slot();
  const Slot slot = free_.least();
  write(slot, record, last_ordinal_ + 1, words);
  ++last_ordinal_;
  free_.take(slot);
  created_.push_back(slot);
  return slot;
}

void EdgeTable::restore(Slot slot, const EdgeRecord& record, std::span<const Word> words) {
  while (records_.size() <= slot) append_slot();
  write(slot, record, record.ordinal, words);
  free_.take(slot);
  if (keyed_) keys_.restore(slot);
  records_[slot].state = State::settled;
}

void EdgeTable::take_back(const Mark& to) noexcept {
  for (; dropped_.size() > to.dropped; dropped_.pop_back()) records_[dropped_.back()].dropped = false;
  keys_.take_back(to.touches);
  for (; created_.size() > to.created; created_.pop_back()) {
    free_if(created_.back(), State::created);
    --last_ordinal_;
  }
}

std::size_t EdgeTable::bytes() const noexcept {
  return records_.capacity() * sizeof(Record) + values_.bytes() + keys_.bytes() + free_.bytes() +
         (created_.capacity() + dropped_.capacity()) * sizeof(Slot);
}

}  // namespace deltamatch::graph
