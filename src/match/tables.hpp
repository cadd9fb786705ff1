// Dense tables over the vertices: membership bits and weights. A reset costs only what was touched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.hpp"

namespace deltamatch::match {

/// A weight for each vertex, 0 unless set. A reset costs only what was touched.
template <class Weight>
class Table {
 public:
  void reserve(std::size_t vertices) {
    if (vertices <= weights_.size()) return;
    bits_.resize((vertices + 63) / 64);
    weights_.resize(vertices);
  }
  [[nodiscard]] bool holds(VertexId v) const noexcept { return (bits_[v >> 6] >> (v & 63u) & 1u) != 0; }
  [[nodiscard]] Weight weight(VertexId v) const noexcept { return weights_[v]; }
  [[nodiscard]] const std::uint64_t* bits() const noexcept { return bits_.data(); }
  [[nodiscard]] const std::vector<VertexId>& touched() const noexcept { return touched_; }

  void set(VertexId v, Weight weight) {
    touched_.push_back(v);
    bits_[v >> 6] |= std::uint64_t{1} << (v & 63u);
    weights_[v] = weight;
  }
  /// Adds to a weight. Returns whether the sum overflowed.
  bool add(VertexId v, Weight weight) {
    if (!holds(v)) {
      set(v, weight);
      return false;
    }
    return __builtin_add_overflow(weights_[v], weight, &weights_[v]);
  }
  /// Erases a weight as if it had never been set.
  void erase(VertexId v) noexcept {
    bits_[v >> 6] &= ~(std::uint64_t{1} << (v & 63u));
    weights_[v] = 0;
  }
  void clear() noexcept {
    for (const VertexId v : touched_) {
      bits_[v >> 6] = 0;
      weights_[v] = 0;
    }
    touched_.clear();
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bits_.capacity() * sizeof(std::uint64_t) + weights_.capacity() * sizeof(Weight) +
           touched_.capacity() * sizeof(VertexId);
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<Weight> weights_;
  std::vector<VertexId> touched_;
};

/// Lends tables out and takes them back clean.
template <class Weight>
class TablePool {
 public:
  /// Sets the number of vertices that tables have from the next `lend` on.
  void resize(std::size_t vertices) noexcept { vertices_ = vertices; }
  Table<Weight>* lend() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Table<Weight>>());
      free_.reserve(all_.size());
      free_.push_back(all_.back().get());
    }
    Table<Weight>* table = free_.back();
    table->reserve(vertices_);
    free_.pop_back();
    return table;
  }
  void give_back(Table<Weight>* table) noexcept {
    table->clear();
    free_.push_back(table);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const auto& table : all_) sum += table->bytes();
    return sum;
  }

 private:
  std::size_t vertices_ = 0;
  std::vector<std::unique_ptr<Table<Weight>>> all_;
  std::vector<Table<Weight>*> free_;
};

/// Tables of leaves that stay the same while loops go on; see match/kept_sets.hpp.
template <class Weight>
class LeafTables {
 public:
  struct Leaf {
    const void* edge = nullptr;  // of a tree
    std::uint64_t at = 0;        // the version of the last position that it depends on
    double spared = 0;           // what a table would have spared
    double cost = 0;             // of making it
    Table<Weight>* table = nullptr;
  };

  explicit LeafTables(TablePool<Weight>& pool) noexcept : pool_(&pool) {}
  ~LeafTables() {
    for (Leaf& leaf : leaves_) drop(leaf);
  }
  LeafTables(const LeafTables&) = delete;
  LeafTables& operator=(const LeafTables&) = delete;

  /// What is known of a leaf at this version. `anchor`: the version at which the anchor began. Null if there is no room.
  [[nodiscard]] Leaf* find(const void* edge, std::uint64_t at, std::uint64_t anchor) noexcept {
    Leaf* free = nullptr;
    for (Leaf& leaf : leaves_) {
      if (leaf.edge == edge && leaf.at == at) return &leaf;
      if (leaf.edge == edge || (free == nullptr && leaf.at < anchor)) free = &leaf;
    }
    if (free == nullptr) return nullptr;
    drop(*free);
    *free = {edge, at, 0, 0, nullptr};
    return free;
  }
  [[nodiscard]] bool has_room() const noexcept { return made_ < most_tables; }
  Table<Weight>& make(Leaf& leaf) {
    leaf.table = pool_->lend();
    ++made_;
    return *leaf.table;
  }
  void drop(Leaf& leaf) noexcept {
    if (leaf.table == nullptr) return;
    pool_->give_back(leaf.table);
    leaf.table = nullptr;
    --made_;
  }

 private:
  TablePool<Weight>* pool_;
  static constexpr std::size_t most_tables = 2;  // each has room for all vertices

  std::array<Leaf, 8> leaves_;
  std::size_t made_ = 0;
};

/// The tables of a root (plan::TreeEdge::table). Each is made when first asked for.
template <class Weight>
class RootTables {
 public:
  explicit RootTables(TablePool<Weight>& pool) noexcept : pool_(&pool) {}
  ~RootTables() { clear(); }
  RootTables(const RootTables&) = delete;
  RootTables& operator=(const RootTables&) = delete;

  /// Makes room for `count` tables. Call it between roots.
  void reserve(std::size_t count) {
    if (tables_.size() < count) tables_.resize(count);
  }
  /// Null until it is made.
  [[nodiscard]] Table<Weight>* operator[](std::size_t index) const noexcept { return tables_[index]; }
  Table<Weight>& make(std::size_t index) { return *(tables_[index] = pool_->lend()); }
  /// Drops all tables, before the next root.
  void clear() noexcept {
    for (Table<Weight>*& table : tables_) {
      if (table != nullptr) pool_->give_back(table);
      table = nullptr;
    }
  }

 private:
  TablePool<Weight>* pool_;
  std::vector<Table<Weight>*> tables_;
};

}  // namespace deltamatch::match
