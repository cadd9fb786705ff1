#include "mine/pattern_table.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace deltamatch::mine {

PatternTable::PatternTable(unsigned k) : k_(k) {
  patterns_[1] = {0};
  for (unsigned size = 1; size < k; ++size) {
    const std::vector<Key>& smaller = patterns_[size];
    std::vector<Key>& larger = patterns_[size + 1];
    std::vector<Canonical> forms(smaller.size() << size);
    for (std::size_t pattern = 0; pattern < smaller.size(); ++pattern) {
      for (Key mask = 1; mask < Key{1} << size; ++mask) {
        Canonical& form = forms[pattern << size | mask];
        form = canonical_form(size + 1, grown(smaller[pattern], size, mask));
        larger.push_back(form.key);
      }
    }
    std::sort(larger.begin(), larger.end(),
              [](Key a, Key b) { return std::popcount(a) != std::popcount(b) ? std::popcount(a) < std::popcount(b) : a < b; });
    larger.erase(std::unique(larger.begin(), larger.end()), larger.end());
    std::unordered_map<Key, ClassId> number;
    for (std::size_t i = 0; i < larger.size(); ++i) number.emplace(larger[i], static_cast<ClassId>(i));
    steps_[size].resize(forms.size());
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if ((i & ((std::size_t{1} << size) - 1)) != 0) steps_[size][i] = {number.at(forms[i].key), forms[i].places};
    }
  }
}

std::size_t PatternTable::bytes() const noexcept {
  std::size_t total = 0;
  for (const auto& keys : patterns_) total += keys.size() * sizeof(Key);
  for (const auto& steps : steps_) total += steps.size() * sizeof(Entry);
  return total;
}

}  // namespace deltamatch::mine
