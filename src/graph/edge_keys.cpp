#include "graph/edge_keys.hpp"

#include <utility>

namespace deltamatch::graph {

EdgeKeys::Place EdgeKeys::find(const Id& key, std::uint32_t hash) noexcept {
  if (key.is_text()) {
    const std::string_view text = key.text();
    return {hash, index_.locate(hash, [&](std::uint32_t number) { return TextArena::text(block(speller(number))) == text; })};
  }
  const auto wanted = static_cast<std::uint64_t>(key.number());
  return {hash, index_.locate(hash, [&](std::uint32_t number) { return keys_[speller(number)] == wanted; })};
}

void EdgeKeys::spell(Slot slot, const Id& key) {
  keys_[slot] =
      key.is_text() ? reinterpret_cast<std::uintptr_t>(texts_.store(key.text())) : static_cast<std::uint64_t>(key.number());
  texts_of_[slot] = key.is_text();
}

void EdgeKeys::clear(Slot slot) noexcept {
  index_.erase(hash(external(slot)), slot);  // does nothing if the key leads elsewhere
  if (texts_of_[slot]) texts_.release(block(slot));
  texts_of_[slot] = false;
}

void EdgeKeys::restore(Slot slot) {
  index_.reserve(index_.size() + 1);
  index_.insert(hash(external(slot)), slot);
}

void EdgeKeys::touch(const Place& place, Slot now, bool record) {
  const bool first = place.entry == nullptr || !is_version(*place.entry);
  if (touches_.size() == touches_.capacity()) touches_.reserve(2 * touches_.size() + 64);
  if (first) {
    if (place.entry == nullptr) index_.reserve(index_.size() + 1);
    const Slot before = place.entry == nullptr ? no_slot : *place.entry;
    versions_.push_back({.before = before, .spelled = before == no_slot ? now : before, .hash = place.hash});
    const auto number = static_cast<std::uint32_t>(in_batch | (versions_.size() - 1));
    if (place.entry == nullptr) {
      index_.insert(place.hash, number);
    } else {
      *place.entry = number;
    }
  }
  const std::uint32_t number = first ? static_cast<std::uint32_t>(versions_.size() - 1) : *place.entry ^ in_batch;
  Version& version = versions_[number];
  touches_.push_back({number, version.now, version.records, version.deleted, first});  // there is room
  version.now = now;
  version.records += record ? 1 : 0;
  if (record) version.deleted = now == no_slot;
}

void EdgeKeys::take_back(std::size_t touches) noexcept {
  for (; touches_.size() > touches; touches_.pop_back()) {
    const Touch& touch = touches_.back();
    Version& version = versions_[touch.version];
    version.now = touch.now;
    version.records = touch.records;
    version.deleted = touch.deleted;
    if (!touch.first) continue;
    if (version.before == no_slot) {
      index_.erase(version.hash, in_batch | touch.version);
    } else {
      entry_of(touch.version) = version.before;
    }
    versions_.pop_back();  // the latest that was touched first
  }
}

std::size_t EdgeKeys::bytes() const noexcept {
  return keys_.capacity() * sizeof(keys_[0]) + texts_of_.capacity() / 8 + index_.bytes() + texts_.bytes() +
         versions_.capacity() * sizeof(Version) + touches_.capacity() * sizeof(Touch);
}

}  // namespace deltamatch::graph
