#include "base/labels.hpp"

#include "base/hash.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {

LabelTable::LabelTable(std::size_t limit) : limit_(limit) { intern({}); }

LabelId LabelTable::intern(std::string_view text) {
  if (const std::optional<LabelId> known = find(text)) return *known;
  if (size() >= limit_)
    throw Error("labels", "too many different labels", "at most 2^31 are possible; check the label columns");
  if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 8);
  index_.reserve(size() + 1);
  const std::byte* block = texts_.store(text);
  const auto label = static_cast<LabelId>(size());
  blocks_.push_back(block);
  index_.insert(hash_text(text, hash_seed()), label);
  return label;
}

std::optional<LabelId> LabelTable::find(std::string_view text) const noexcept {
  const LabelId label = index_.find(hash_text(text, hash_seed()), [&](LabelId known) { return this->text(known) == text; });
  return label == HashIndex::none ? std::nullopt : std::optional(label);
}

std::size_t LabelTable::bytes() const noexcept {
  return blocks_.capacity() * sizeof(blocks_[0]) + texts_.bytes() + index_.bytes();
}

}  // namespace deltamatch
