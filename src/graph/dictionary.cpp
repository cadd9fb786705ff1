#include "graph/dictionary.hpp"

#include <algorithm>
#include <cassert>

#include "base/prefetch.hpp"
#include "deltamatch/error.hpp"
#include "graph/permute.hpp"

namespace deltamatch::graph {
namespace {

/// Makes room for `count` entries; grows by at least half.
template <class T>
void reserve_amortised(HugeVector<T>& entries, std::size_t count) {
  if (count > entries.capacity()) entries.reserve(std::max(count, entries.capacity() + entries.capacity() / 2));
}

}  // namespace

Dictionary::Dictionary(VertexId limit) noexcept : seed_(hash_seed()), limit_(limit) { assert(limit <= max_vertices); }

VertexId Dictionary::find_number(std::int64_t number, std::uint32_t hash) const noexcept {
  const auto key = static_cast<std::uint64_t>(number);
  return index_.find(hash, [&](VertexId vertex) { return keys_[vertex] == key; });
}

VertexId Dictionary::find_text(std::string_view text, std::uint32_t hash) const noexcept {
  return index_.find(hash, [&](VertexId vertex) { return TextArena::text(block(vertex)) == text; });
}

void Dictionary::fetch_key(std::uint32_t hash) const noexcept {
  const VertexId vertex = index_.peek(hash);
  if (vertex == HashIndex::none) return;
  fetch_line(&keys_[vertex]);
  fetch_line(&labels_[vertex]);
  fetch_line(&flags_[vertex]);
}

void Dictionary::fetch_text(std::uint32_t hash) const noexcept {
  const VertexId vertex = index_.peek(hash);
  if (vertex != HashIndex::none && (flags_[vertex] & text_flag) != 0) fetch_line(block(vertex));
}

VertexId Dictionary::create(const Id& id, LabelId label) {
  assert(find(id) == invalid_vertex);
  expect(label);
  reserve_one();
  index_.reserve(index_.size() + 1);
  const VertexId vertex = take_number(id, store(id), label);
  index_.insert(hash(id), vertex);
  return vertex;
}

VertexId Dictionary::rebind(VertexId old, LabelId label) {
  const Id id = external(old);
  assert(find(id) == old);
  expect(label);
  reserve_one();
  const VertexId fresh = take_number(id, store(id), label);
  *index_.locate(hash(id), [old](VertexId vertex) { return vertex == old; }) = fresh;
  return fresh;
}

void Dictionary::undo_rebind(VertexId old, VertexId fresh) noexcept {
  assert(find(external(old)) == fresh);
  *index_.locate(hash(external(fresh)), [fresh](VertexId vertex) { return vertex == fresh; }) = old;
  free_number(fresh);
}

void Dictionary::release(VertexId vertex) noexcept {
  assert(alive(vertex));
  index_.erase(hash(external(vertex)), vertex);  // does nothing if the id was rebound
  free_number(vertex);
}

void Dictionary::reserve(std::size_t extra, std::size_t text_bytes) {
  extra = std::min<std::size_t>(extra, limit_ - size_);
  const std::size_t unused = capacity() - size_;
  reserve_numbers(capacity() + (extra > unused ? extra - unused : 0));
  index_.reserve(index_.size() + extra);
  texts_.reserve(extra, text_bytes);
  expect(empty_label);
}

std::size_t Dictionary::bytes() const noexcept {
  return free_.bytes() + keys_.capacity() * sizeof(keys_[0]) + labels_.capacity() * sizeof(labels_[0]) +
         flags_.capacity() * sizeof(flags_[0]) + bearers_.capacity() * sizeof(bearers_[0]) + index_.bytes() + texts_.bytes();
}

void Dictionary::restore(VertexId vertex, const Id& id, LabelId label, bool declared) {
  if (vertex >= limit_) throw Error("vertex dictionary", "a vertex number is out of range", "restore from an intact snapshot");
  if (vertex < capacity() && alive(vertex)) {
    throw Error("vertex dictionary", "a vertex number occurs twice", "restore from an intact snapshot");
  }
  if (find(id) != invalid_vertex) throw Error("vertex dictionary", "an id occurs twice", "restore from an intact snapshot");
  expect(label);
  reserve_numbers(std::size_t{vertex} + 1);
  index_.reserve(index_.size() + 1);
  const std::uint64_t key = store(id);
  if (vertex >= capacity()) {
    keys_.resize(std::size_t{vertex} + 1);
    labels_.resize(std::size_t{vertex} + 1);
    flags_.resize(std::size_t{vertex} + 1);
  }
  keys_[vertex] = key;
  labels_[vertex] = label;
  flags_[vertex] = static_cast<std::uint8_t>(alive_flag | (id.is_text() ? text_flag : 0) | (declared ? declared_flag : 0));
  index_.insert(hash(id), vertex);
  ++bearers_[label];
  ++size_;
}

void Dictionary::renumber(std::span<const VertexId> to, std::vector<bool>& done) noexcept {
  assert(to.size() == flags_.size());
  permute(to, done, keys_, labels_, flags_);
  index_.renumber([&](VertexId vertex) { return to[vertex]; });
  ++numbering_;
  finish_restore();
}

void Dictionary::begin_numbers(std::size_t count) {
  assert(flags_.empty());
  if (count > limit_) throw Error("vertex dictionary", "a vertex number is out of range", "use smaller numbers");
  free_.reserve(count);
  keys_.resize(count);
  labels_.resize(count);
  flags_.resize(count);
}

/// Adds the numbers to the index. begin_numbers made room for them, and its caller has filled in the rest.
void Dictionary::index_numbers() {
  constexpr std::size_t ahead = 16;
  size_ = static_cast<std::size_t>(std::count(flags_.begin(), flags_.end(), alive_flag));
  index_.reserve(size_);
  if (!labels_.empty()) expect(*std::max_element(labels_.begin(), labels_.end()));
  for (std::size_t vertex = 0; vertex < flags_.size(); ++vertex) {
    if (vertex + ahead < flags_.size()) index_.prefetch(hash_of(std::uint64_t{vertex + ahead}, seed_));
    if (flags_[vertex] == 0) continue;
    index_.insert(hash_of(std::uint64_t{vertex}, seed_), static_cast<VertexId>(vertex));
    ++bearers_[labels_[vertex]];
  }
}

/// Finds the free numbers.
void Dictionary::finish_restore() noexcept {
  free_.clear();
  for (VertexId vertex = 0; vertex < capacity(); ++vertex) {
    if (!alive(vertex)) free_.give_back(vertex);  // room is reserved
  }
}

/// Returns the key of an id. Copies text.
std::uint64_t Dictionary::store(const Id& id) {
  return id.is_text() ? reinterpret_cast<std::uintptr_t>(texts_.store(id.text())) : static_cast<std::uint64_t>(id.number());
}

/// Ensures that a number is available.
void Dictionary::reserve_one() {
  if (!free_.empty()) return;
  if (size_ >= limit_) {
    throw Error("vertex dictionary", "all 2^31-1 vertex numbers are in use", "use a window, or split the graph");
  }
  reserve_numbers(std::size_t{capacity()} + 1);
}

/// Makes room for the numbers below `count`.
void Dictionary::reserve_numbers(std::size_t count) {
  reserve_amortised(keys_, count);
  reserve_amortised(labels_, count);
  reserve_amortised(flags_, count);
  free_.reserve(keys_.capacity());
}

VertexId Dictionary::take_number(const Id& id, std::uint64_t key, LabelId label) noexcept {
  VertexId vertex = capacity();
  if (!free_.empty()) {
    vertex = free_.least();
    free_.take(vertex);
  } else {
    keys_.emplace_back();
    labels_.emplace_back();
    flags_.emplace_back();
  }
  keys_[vertex] = key;
  labels_[vertex] = label;
  flags_[vertex] = static_cast<std::uint8_t>(alive_flag | (id.is_text() ? text_flag : 0));
  ++bearers_[label];
  ++size_;
  return vertex;
}

void Dictionary::free_number(VertexId vertex) noexcept {
  if ((flags_[vertex] & text_flag) != 0) texts_.release(block(vertex));
  --bearers_[labels_[vertex]];
  labels_[vertex] = empty_label;
  flags_[vertex] = 0;
  --size_;
  free_.give_back(vertex);  // room is reserved
}

}  // namespace deltamatch::graph
