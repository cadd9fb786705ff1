#include "graph/edge_table.hpp"

#include <algorithm>

#include "deltamatch/error.hpp"

namespace deltamatch::graph {

void EdgeTable::grow() {
  const std::size_t room = std::max<std::size_t>(64, state_.size() + state_.size() / 2);
  free_.reserve(room);
  tails_.reserve(room);
  heads_.reserve(room);
  labels_.reserve(room);
  times_.reserve(room);
  ordinals_.reserve(room);
  if (keyed_) keys_.reserve(room);
  state_.reserve(room);  // the last: if one fails, all try again
}

KeyId EdgeTable::intern_key(const Id& key, std::uint32_t hash) {
  if (const KeyId known = key_ids_.find(key, hash); known != no_key) return known;
  const std::size_t numbers = std::size_t{key_ids_.capacity()} + 1;
  if (numbers > slot_of_key_.size()) {
    slots_of_key_.reserve(std::max(numbers, 2 * slot_of_key_.size()));
    slot_of_key_.resize(slots_of_key_.capacity(), no_slot);
    slots_of_key_.resize(slots_of_key_.capacity());
  }
  return key_ids_.create(key, empty_label);
}

void EdgeTable::forget_key(KeyId key) noexcept {
  slot_of_key_[key] = no_slot;
  key_ids_.release(key);
}

/// Adds a slot that no edge has, and that is not among the free ones. Strong guarantee.
void EdgeTable::append_slot() {
  if (state_.size() == max_slots) throw Error("graph", "more than 2^31 edges", "use a shorter window, or the model 'simple'");
  if (state_.size() == state_.capacity()) grow();
  values_.expect(state_.size() + 1);
  state_.push_back(State::free);
  tails_.push_back(0);
  heads_.push_back(0);
  labels_.push_back(0);
  times_.push_back(0);
  ordinals_.push_back(0);
  if (keyed_) keys_.push_back(no_key);
}

void EdgeTable::write(Slot slot, const EdgeRecord& record, std::span<const Word> words) noexcept {
  tails_[slot] = record.tail;
  heads_[slot] = record.head;
  labels_[slot] = record.label;
  times_[slot] = record.time.value_or(no_time);
  if (!words.empty()) values_.set(slot, words);
  if (!keyed_) return;
  keys_[slot] = record.key;
  ++slots_of_key_[record.key];
}

Slot EdgeTable::create(const EdgeRecord& record, std::span<const Word> words) {
  if (created_.size() == created_.capacity()) created_.reserve(2 * created_.size() + 64);
  Slot slot = 0;
  if (free_.empty()) {
    append_slot();
    slot = static_cast<Slot>(state_.size() - 1);
  } else {
    slot = free_.top();
    free_.pop();
  }
  state_[slot] = State::created;
  write(slot, record, words);
  ordinals_[slot] = ++last_ordinal_;
  created_.push_back(slot);
  return slot;
}

void EdgeTable::restore(Slot slot, const EdgeRecord& record, std::span<const Word> words) {
  while (state_.size() <= slot) {
    append_slot();
    if (state_.size() <= slot) free_.push(static_cast<Slot>(state_.size() - 1));
  }
  write(slot, record, words);
  ordinals_[slot] = record.ordinal;
  settle(slot, record.tail, record.head);
}

void EdgeTable::take_back(std::size_t created) noexcept {
  for (; created_.size() > created; created_.pop_back()) {
    free_if(created_.back(), State::created);
    --last_ordinal_;
  }
}

std::size_t EdgeTable::bytes() const noexcept {
  return state_.capacity() *
             (sizeof(State) + 2 * sizeof(VertexId) + sizeof(LabelId) + sizeof(Timestamp) + sizeof(std::uint64_t)) +
         values_.bytes() + keys_.capacity() * sizeof(KeyId) + (keyed_ ? key_ids_.bytes() : 0) +
         (slot_of_key_.capacity() + slots_of_key_.capacity()) * sizeof(Slot) + free_.bytes() +
         created_.capacity() * sizeof(Slot);
}

}  // namespace deltamatch::graph
