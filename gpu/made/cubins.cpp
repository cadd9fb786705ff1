#include "gpu/made/cubins.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace deltamatch::gpu {

std::vector<Cubin> Cubins::of(std::span<const std::string> texts, const Compile& compile, Workers& workers) {
  std::vector<Cubin> found(texts.size());
  std::map<std::string_view, std::size_t> first;  // of equal texts
  std::vector<std::size_t> missing;
  {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto at = kept_.find(texts[i]);
      if (at != kept_.end()) {
        at->second.used = calls_;
        found[i] = at->second.cubin;
      } else if (first.emplace(texts[i], i).second) {
        missing.push_back(i);
      }
    }
  }
  std::ranges::stable_sort(missing, std::ranges::greater(), [&](std::size_t i) { return texts[i].size(); });
  workers.for_each(missing.size(), 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t m = begin; m < end; ++m) {
      found[missing[m]] = std::make_shared<const std::string>(compile(texts[missing[m]]));
    }
  });
  const std::scoped_lock lock(mutex_);
  for (const std::size_t i : missing) keep(texts[i], found[i]);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!found[i]) found[i] = found[first.at(texts[i])];
  }
  return found;
}

void Cubins::keep(const std::string& text, const Cubin& cubin) {
  const std::size_t own = text.size() + cubin->size();
  if (own > most_bytes_) return;
  // Another thread may have compiled the same text in the meantime.
  if (!kept_.emplace(text, Kept{cubin, calls_}).second) return;
  bytes_ += own;
  while (bytes_ > most_bytes_) {
    const auto oldest = std::ranges::min_element(
        kept_, {}, [&](const auto& of) { return std::pair(of.second.cubin == cubin, of.second.used); });
    bytes_ -= oldest->first.size() + oldest->second.cubin->size();
    kept_.erase(oldest);
  }
}

}  // namespace deltamatch::gpu
