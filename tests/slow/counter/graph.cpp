#include <algorithm>
#include <random>

#include "counter.hpp"

namespace counter {

Graph::Graph(std::vector<std::uint32_t> labels, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges)
    : label_(std::move(labels)) {
  for (const std::uint32_t label : label_) labels_ = std::max(labels_, label + 1);
  bearers_.resize(labels_);
  for (std::uint32_t v = 0; v < vertices(); ++v) bearers_[label_[v]].push_back(v);
  std::minstd_rand random;
  for (std::vector<std::uint32_t>& bearers : bearers_) std::shuffle(bearers.begin(), bearers.end(), random);
  struct Half {
    std::uint32_t from, label, to;
    auto operator<=>(const Half&) const = default;
  };
  std::vector<Half> halves;
  for (const auto& [u, v] : edges) {
    if (u == v) throw std::invalid_argument("an edge from a vertex to itself");
    halves.push_back({u, label_.at(v), v});
    halves.push_back({v, label_.at(u), u});
  }
  std::sort(halves.begin(), halves.end());
  halves.erase(std::unique(halves.begin(), halves.end()), halves.end());
  std::size_t next = 0;
  for (std::uint32_t v = 0; v < vertices(); ++v) {
    begin_.push_back(parts_.size());
    for (const std::size_t first = next; next < halves.size() && halves[next].from == v; ++next) {
      if (next == first || halves[next].label != halves[next - 1].label) parts_.emplace_back(halves[next].label, next);
      ends_.push_back(halves[next].to);
    }
  }
  begin_.push_back(parts_.size());
  parts_.emplace_back(0, ends_.size());

  std::unordered_map<std::uint64_t, double> entries;
  for (std::uint32_t v = 0; v < vertices(); ++v) {
    for (std::size_t part = begin_[v]; part < begin_[v + 1]; ++part) {
      const std::uint64_t key = std::uint64_t{label_[v]} << 32 | parts_[part].first;
      const auto size = static_cast<double>(parts_[part + 1].second - parts_[part].second);
      fan_[key] += size * size;
      entries[key] += size;
    }
  }
  for (auto& [key, fan] : fan_) fan /= entries[key];
}

const std::vector<std::uint32_t>& Graph::bearers(std::uint32_t label) const {
  static const std::vector<std::uint32_t> none;
  return label < labels_ ? bearers_[label] : none;
}

Graph::List Graph::neighbours(std::uint32_t vertex, std::uint32_t label) const {
  for (std::size_t part = begin_[vertex]; part < begin_[vertex + 1]; ++part) {
    if (parts_[part].first == label) return {ends_.data() + parts_[part].second, ends_.data() + parts_[part + 1].second};
  }
  return {nullptr, nullptr};
}

bool Graph::List::holds(std::uint32_t vertex) const { return std::binary_search(first, last, vertex); }

bool Graph::joined(std::uint32_t one, std::uint32_t other) const { return neighbours(one, label_[other]).holds(other); }

double Graph::fan(std::uint32_t from, std::uint32_t to) const {
  const auto found = fan_.find(std::uint64_t{from} << 32 | to);
  return found == fan_.end() ? 0 : found->second;
}

}  // namespace counter
