#include "base/labels.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch {

LabelTable::LabelTable(std::size_t limit) : limit_(limit) { enter(0, {}); }

LabelId LabelTable::intern(std::string_view text) {
  if (const std::optional<LabelId> known = find(text)) return *known;
  const LabelId label = least_free();
  if (label >= limit_)
    throw Error("labels", "there are more than 2^31 different labels", "check which columns are read as labels");
  enter(label, text);
  return label;
}

void LabelTable::restore(LabelId label, std::string_view text) {
  if (label >= limit_ || in_use(label) || text.empty() || find(text)) {
    throw Error("labels", "a label or its number occurs twice", "restore from an intact snapshot");
  }
  enter(label, text);
}

LabelId LabelTable::least_free() const noexcept {
  if (count() == size()) return static_cast<LabelId>(size());
  for (std::size_t word = first_free_; word < free_.size(); ++word) {
    if (free_[word] != 0) return static_cast<LabelId>(64 * word + static_cast<unsigned>(std::countr_zero(free_[word])));
  }
  return static_cast<LabelId>(blocks_.size());
}

void LabelTable::enter(LabelId label, std::string_view text) {
  const std::size_t numbers = std::max<std::size_t>(size(), std::size_t{label} + 1);
  if (numbers > blocks_.capacity()) blocks_.reserve(std::max(numbers, 2 * blocks_.size() + 8));
  if (numbers > 64 * free_.size()) free_.resize(std::max((numbers + 63) / 64, 2 * free_.size()));
  index_.reserve(index_.size() + 1);
  const bool several = is_several_labels(text);
  if (several && several_.size() == several_.capacity()) several_.reserve(2 * several_.size() + 8);
  const std::byte* block = texts_.store(text);
  for (auto number = static_cast<LabelId>(size()); number < label; ++number) {
    blocks_.push_back(blocks_[0]);
    free_[number / 64] |= std::uint64_t{1} << (number % 64);
    first_free_ = std::min<std::size_t>(first_free_, number / 64);
  }
  if (label < size()) {
    blocks_[label] = block;
    free_[label / 64] &= ~(std::uint64_t{1} << (label % 64));
  } else {
    blocks_.push_back(block);
  }
  index_.insert(hash_text(text, hash_seed()), label);
  if (count() < size()) {
    while (free_[first_free_] == 0) ++first_free_;
  }
  if (several) several_.insert(std::ranges::lower_bound(several_, label), label);  // there is room
  ++edition_;
}

void LabelTable::free(LabelId label) noexcept {
  index_.erase(hash_text(text(label), hash_seed()), label);
  if (is_several_labels(text(label))) several_.erase(std::ranges::lower_bound(several_, label));
  texts_.release(blocks_[label]);
  blocks_[label] = blocks_[0];
  free_[label / 64] |= std::uint64_t{1} << (label % 64);
  first_free_ = std::min<std::size_t>(first_free_, label / 64);
  while (!in_use(static_cast<LabelId>(size() - 1))) {  // stops at the empty label, which is always in use
    const std::size_t last = size() - 1;
    free_[last / 64] &= ~(std::uint64_t{1} << (last % 64));
    blocks_.pop_back();
  }
  ++edition_;
}

std::optional<LabelId> LabelTable::find(std::string_view text) const noexcept {
  const LabelId label = index_.find(hash_text(text, hash_seed()), [&](LabelId known) { return this->text(known) == text; });
  return label == HashIndex::none ? std::nullopt : std::optional(label);
}

std::size_t LabelTable::bytes() const noexcept {
  return blocks_.capacity() * sizeof(blocks_[0]) + free_.capacity() * sizeof(free_[0]) + texts_.bytes() + index_.bytes() +
         several_.capacity() * sizeof(several_[0]);
}

}  // namespace deltamatch
