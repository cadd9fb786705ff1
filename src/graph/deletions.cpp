#include "graph/deletions.hpp"

#include <algorithm>

namespace deltamatch::graph {

namespace {

// What the window has passed is dropped whenever the watermark has risen by this part of it.
constexpr Timestamp sweeps_per_window = 8;

void append_integer(std::string& name, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) name.push_back(static_cast<char>(value >> (8 * i)));
}

void append_id(std::string& name, const Id& id) {
  name.push_back(id.is_text() ? 1 : 0);
  if (id.is_text()) {
    append_integer(name, id.text().size(), 4);
    name += id.text();
  } else {
    append_integer(name, static_cast<std::uint64_t>(id.number()), 8);
  }
}

}  // namespace

/// How many of the times, which ascend, the window has passed.
std::size_t Deletions::passed(std::span<const Timestamp> times, const Window* window,
                              std::optional<Timestamp> watermark) noexcept {
  if (window == nullptr || !watermark) return 0;
  const auto living = std::ranges::partition_point(times, [&](Timestamp time) { return window->dead(time, *watermark); });
  return static_cast<std::size_t>(living - times.begin());
}

std::string_view Deletions::name_of(const Update& update) const {
  name_.clear();
  if (model_ == EdgeModel::keyed) {
    append_id(name_, update.key().value_or(Id()));
    return name_;
  }
  const bool swap = !directed_ && update.target < update.source;
  append_id(name_, swap ? update.target : update.source);
  append_id(name_, swap ? update.source : update.target);
  name_ += update.label;
  return name_;
}

/// The times of an edge, which are about to change. What they are now can be taken back.
Deletions::Times& Deletions::change(std::string_view name) {
  const auto at = table_.find(name);
  changes_.emplace_back(name, at == table_.end() ? Times() : at->second);
  if (at != table_.end()) return at->second;
  Times& times = table_.emplace(name, Times()).first->second;
  heap_bytes_ += name.size();
  return times;
}

void Deletions::note(const Update& update) {
  const std::string_view name = name_of(update);
  const auto at = table_.find(name);
  if (at != table_.end() && !at->second.empty() && *update.time <= at->second.back()) return;
  Times& times = change(name);
  if (times.empty()) heap_bytes_ += sizeof(Timestamp);
  times.assign(1, *update.time);
}

std::optional<Timestamp> Deletions::newest(const Update& update) const {
  if (table_.empty()) return std::nullopt;
  const auto at = table_.find(name_of(update));
  return at == table_.end() || at->second.empty() ? std::nullopt : std::optional(at->second.back());
}

void Deletions::wait(const Update& update) {
  Times& times = change(name_of(update));
  times.insert(std::ranges::upper_bound(times, *update.time), *update.time);
  heap_bytes_ += sizeof(Timestamp);
}

bool Deletions::meet(const Update& update) {
  if (table_.empty()) return false;
  const std::string_view name = name_of(update);
  const auto at = table_.find(name);
  if (at == table_.end() || at->second.empty() || at->second.back() < *update.time) return false;
  Times& times = change(name);
  times.erase(std::ranges::lower_bound(times, *update.time));
  heap_bytes_ -= sizeof(Timestamp);
  return true;
}

/// Makes the last changes unmade, latest first. An edge without times stays in the table, so this needs no memory.
void Deletions::take_back(std::size_t changes) noexcept {
  for (; changes_.size() > changes; changes_.pop_back()) {
    auto& [name, before] = changes_.back();
    const auto at = table_.find(name);
    if (at == table_.end()) continue;                                        // there was no memory for the change
    heap_bytes_ += (before.size() - at->second.size()) * sizeof(Timestamp);  // modulo 2^64
    at->second = std::move(before);
  }
}

void Deletions::undo() noexcept {
  const std::size_t all = changes_.size();
  for (std::size_t i = all; i > 0; --i) {
    auto& [name, before] = changes_[i - 1];
    const auto at = table_.find(name);
    if (at == table_.end()) continue;
    heap_bytes_ += (before.size() - at->second.size()) * sizeof(Timestamp);
    at->second.swap(before);
  }
  forget_changes();
}

/// Ends the batch, and drops the edges that it has left without times.
void Deletions::forget_changes() noexcept {
  for (const auto& [name, before] : changes_) {
    const auto at = table_.find(name);
    if (at == table_.end() || !at->second.empty()) continue;
    heap_bytes_ -= name.size();
    table_.erase(at);
  }
  changes_.clear();
}

void Deletions::commit(const Window* window, std::optional<Timestamp> watermark) noexcept {
  forget_changes();
  if (window == nullptr || !watermark || *watermark < next_sweep_ || table_.empty()) return;
  if (__builtin_add_overflow(*watermark, window->span() / sweeps_per_window, &next_sweep_)) next_sweep_ = INT64_MAX;
  boost::unordered::erase_if(table_, [&](auto& each) {
    Times& times = each.second;
    const std::size_t dead = passed(times, window, watermark);
    times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(dead));
    heap_bytes_ -= dead * sizeof(Timestamp);
    if (times.empty()) heap_bytes_ -= each.first.size();
    return times.empty();
  });
}

std::vector<Deletions::Entry> Deletions::entries(const Window* window, std::optional<Timestamp> watermark) const {
  std::vector<Entry> entries;
  for (const auto& [name, times] : table_) {
    const std::span<const Timestamp> living = std::span(times).subspan(passed(times, window, watermark));
    if (!living.empty()) entries.push_back({name, living});
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

bool Deletions::restore(std::string_view name, std::vector<Timestamp> times) {
  if (times.empty() || !std::ranges::is_sorted(times)) return false;
  if (model_ != EdgeModel::events && times.size() > 1) return false;
  const std::size_t size = times.size();
  if (!table_.emplace(name, std::move(times)).second) return false;
  heap_bytes_ += name.size() + size * sizeof(Timestamp);
  return true;
}

std::size_t Deletions::bytes() const noexcept {
  return table_.bucket_count() * (sizeof(std::pair<std::string, Times>) + 1) + heap_bytes_;
}

}  // namespace deltamatch::graph
