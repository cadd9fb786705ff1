#include "cli/report/top_vertices.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace deltamatch::cli {
namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

/// A query vertex and an id as bytes, whose order is that of the vertices, then of the ids.
void encode(std::size_t vertex, const Id& id, std::string& key) {
  key.clear();
  key += static_cast<char>(vertex);
  key += id.is_text() ? '\1' : '\0';
  if (id.is_text()) {
    key += id.text();
    return;
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(id.number()) ^ sign_bit;
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(bits >> shift & 0xff);
}

TopVertex decode(const BoundedCounts::Entry& entry, const std::vector<std::string>& names) {
  TopVertex vertex;
  vertex.name = names[static_cast<unsigned char>(entry.text[0])];
  vertex.matches = entry.count;
  vertex.is_text = entry.text[1] != '\0';
  if (vertex.is_text) {
    vertex.id = entry.text.substr(2);
    return vertex;
  }
  std::uint64_t bits = 0;
  for (const char byte : entry.text.substr(2)) bits = bits << 8 | static_cast<unsigned char>(byte);
  vertex.id = std::to_string(static_cast<std::int64_t>(bits ^ sign_bit));
  return vertex;
}

}  // namespace

void BoundedCounts::add(std::string_view text, std::uint64_t times) {
  const auto known = counts_.find(text);
  if (known != counts_.end()) {
    known->second += times;
    return;
  }
  counts_.emplace(text, times);
  if (counts_.size() > capacity_) drop_half();
}

void BoundedCounts::add_all(const BoundedCounts& other) {
  for (const auto& [text, count] : other.counts_) add(text, count);
  missing_ += other.missing_;
}

void BoundedCounts::clear() noexcept {
  counts_ = {};  // a large table would take long to clear, batch by batch
  missing_ = 0;
}

void BoundedCounts::drop_half() {
  std::vector<std::uint64_t> counts;
  counts.reserve(counts_.size());
  for (const auto& [text, count] : counts_) counts.push_back(count);
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(capacity_ / 2);
  std::nth_element(counts.begin(), middle, counts.end(), std::greater<>());
  const std::uint64_t least = *middle;
  missing_ += least;
  boost::unordered::erase_if(counts_, [&](const auto& entry) { return entry.second <= least; });
  for (auto& [text, count] : counts_) count -= least;
}

std::vector<BoundedCounts::Entry> BoundedCounts::top(std::size_t most) const {
  std::vector<Entry> all;
  all.reserve(counts_.size());
  for (const auto& [text, count] : counts_) all.push_back({text, count});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), end, all.end(),
                    [](const Entry& a, const Entry& b) { return std::pair(b.count, a.text) < std::pair(a.count, b.text); });
  all.erase(end, all.end());
  return all;
}

TopVertices::Counts& TopVertices::of(std::string_view query) {
  const auto known = queries_.find(query);
  return known != queries_.end() ? known->second : queries_.emplace(query, Counts(capacity_)).first->second;
}

void TopVertices::begin(std::uint64_t batch) {
  if (next_ != nullptr) next_->begin(batch);
}

void TopVertices::write(const Match& match) {
  if (match.added) {
    Counts& counts = of(match.query);
    if (counts.names.empty()) counts.names.assign(match.names.begin(), match.names.end());
    for (std::size_t v = 0; v < match.names.size(); ++v) {
      encode(v, match.vertices[v], key_);
      counts.batch.add(key_);
    }
  }
  if (next_ != nullptr) next_->write(match);
}

void TopVertices::flush() {
  if (next_ != nullptr) next_->flush();
}

void TopVertices::end(const ListingEnd& end) {
  if (next_ != nullptr) next_->end(end);
}

void TopVertices::commit() {
  if (next_ != nullptr) next_->commit();
  for (auto& [name, counts] : queries_) {
    counts.kept.add_all(counts.batch);
    counts.batch.clear();
  }
}

void TopVertices::abort() noexcept {
  for (auto& [name, counts] : queries_) counts.batch.clear();
  if (next_ != nullptr) next_->abort();
}

TopOfQuery TopVertices::top(std::string_view query, std::size_t most) const {
  TopOfQuery answer;
  const auto counts = queries_.find(query);
  if (counts == queries_.end()) return answer;
  answer.missing = counts->second.kept.missing();
  for (const BoundedCounts::Entry& entry : counts->second.kept.top(most))
    answer.vertices.push_back(decode(entry, counts->second.names));
  return answer;
}

}  // namespace deltamatch::cli
