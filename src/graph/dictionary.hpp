// The vertex dictionary: maps external ids (64-bit integers or strings) to dense numbers, and holds labels and flags of
// vertices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/hash_index.hpp"
#include "base/huge_pages.hpp"
#include "base/text_arena.hpp"
#include "base/types.hpp"
#include "deltamatch/id.hpp"
#include "graph/free_slots.hpp"

namespace deltamatch::graph {

/// Owns copies of string ids. A new vertex gets the least free number. So what it gets depends only on the numbers in use, and
/// not on how they came about. Several threads may read (every const member) while no thread writes. Functions that take a
/// vertex require that it is alive, except `alive` itself. A dictionary that was moved from can only be assigned to or
/// destroyed.
class Dictionary {
 public:
  /// `limit` <= max_vertices is the number of dense numbers. Smaller limits are for tests.
  explicit Dictionary(VertexId limit = max_vertices) noexcept;

  /// Returns the vertex of `id`, or invalid_vertex. O(1) expected.
  [[nodiscard]] VertexId find(const Id& id) const noexcept { return find(id, hash(id)); }

  /// For loops over many ids. A look-up costs three cache misses in a row: its slot, its key and its text. If the hash is
  /// computed first, fetch_slot, fetch_key and fetch_text prefetch them. Call them in this order with other work in between.
  [[nodiscard]] std::uint32_t hash(const Id& id) const noexcept {
    return id.is_text() ? hash_of(id.text(), seed_) : hash_of(static_cast<std::uint64_t>(id.number()), seed_);
  }
  [[nodiscard]] VertexId find(const Id& id, std::uint32_t hash) const noexcept {
    return id.is_text() ? find_text(id.text(), hash) : find_number(id.number(), hash);
  }
  void fetch_slot(std::uint32_t hash) const noexcept { index_.prefetch(hash); }
  void fetch_key(std::uint32_t hash) const noexcept;
  /// The vertex that find would compare first, or invalid_vertex. It may have another id.
  [[nodiscard]] VertexId peek(std::uint32_t hash) const noexcept { return index_.peek(hash); }
  void fetch_text(std::uint32_t hash) const noexcept;

  /// Creates a vertex for `id`, which must not have one. The vertex is undeclared. Throws Error if all 2^31 - 1 numbers are in
  /// use or a string id has 2 GiB or more. Strong exception guarantee.
  VertexId create(const Id& id, LabelId label);

  /// Returns the external id. It is valid until the vertex is released. A string id is also valid only as long as the
  /// dictionary.
  [[nodiscard]] Id external(VertexId vertex) const noexcept {
    return (flags_[vertex] & text_flag) != 0 ? Id(TextArena::text(block(vertex)))
                                             : Id(static_cast<std::int64_t>(keys_[vertex]));
  }

  /// Whether the external id is a string. Unlike external, it does not touch the string.
  [[nodiscard]] bool has_text_id(VertexId vertex) const noexcept { return (flags_[vertex] & text_flag) != 0; }

  [[nodiscard]] LabelId label(VertexId vertex) const noexcept { return labels_[vertex]; }
  /// Sets the label. If the dictionary has never had this label, call expect for it first.
  void set_label(VertexId vertex, LabelId label) noexcept {
    --bearers_[labels_[vertex]];
    labels_[vertex] = label;
    ++bearers_[label];
  }
  /// The number of dense numbers in use that have the label.
  [[nodiscard]] std::uint32_t bearers(LabelId label) const noexcept { return label < bearers_.size() ? bearers_[label] : 0; }
  /// Makes room, so that setting this label cannot fail.
  void expect(LabelId label) {
    if (label >= bearers_.size()) bearers_.resize(std::max<std::size_t>(std::size_t{label} + 1, 2 * bearers_.size()));
  }

  /// Whether a vertex record named the vertex, so that it exists even without edges.
  [[nodiscard]] bool declared(VertexId vertex) const noexcept { return (flags_[vertex] & declared_flag) != 0; }
  void set_declared(VertexId vertex, bool declared) noexcept {
    flags_[vertex] = static_cast<std::uint8_t>(declared ? flags_[vertex] | declared_flag : flags_[vertex] & ~declared_flag);
  }

  /// Whether the number is in use. A vertex that was rebound is in use until it is released. Requires vertex < capacity().
  [[nodiscard]] bool alive(VertexId vertex) const noexcept { return (flags_[vertex] & alive_flag) != 0; }

  /// Creates a fresh, undeclared vertex that takes over the external id of `old`. find then returns the fresh vertex, and `old`
  /// stays readable until it is released. `old` must be the vertex that find returns for its id. Throws as create does. Strong
  /// exception guarantee.
  VertexId rebind(VertexId old, LabelId label);

  /// Undoes rebind: releases `fresh`, so that find returns `old` again. `fresh` must be the vertex that find returns.
  void undo_rebind(VertexId old, VertexId fresh) noexcept;

  /// Frees the number, and the external id if find still returns this vertex. Rebound vertices may be released in any order.
  void release(VertexId vertex) noexcept;

  /// Makes room, so that up to `extra` calls of create or rebind cannot throw std::bad_alloc. Other calls may come in between.
  /// The labels must be expected, and the string ids must have at most `text_bytes` bytes in total. Replaces the previous
  /// reservation.
  void reserve(std::size_t extra, std::size_t text_bytes);

  /// One past the largest number ever used.
  [[nodiscard]] VertexId capacity() const noexcept { return static_cast<VertexId>(flags_.size()); }

  /// A version number that changes with every renumbering.
  [[nodiscard]] std::uint64_t numbering() const noexcept { return numbering_; }

  /// The number of dense numbers in use.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Allocated bytes, including unused room.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// Labels by vertex; capacity() of them. The span becomes invalid when a vertex is created or room is reserved.
  [[nodiscard]] std::span<const LabelId> labels() const noexcept { return labels_; }

  /// Restores a vertex at a given number, in any order of numbers. The dictionary must hold only restored vertices. Call
  /// finish_restore before anything else. Throws Error if the number is out of range or in use, or if the id is known already.
  /// Vertices restored before stay. Memory grows with the largest number.
  void restore(VertexId vertex, const Id& id, LabelId label, bool declared);
  void finish_restore() noexcept;

  /// Gives every vertex v the number to[v]. `to` is a permutation of the numbers below capacity(); `done` must have room for as
  /// many.
  void renumber(std::span<const VertexId> to, std::vector<bool>& done) noexcept;

  /// Restores many vertices at once into an empty dictionary: each vertex below labels.size() for which exists(vertex) is true.
  /// Its id is its number. Includes finish_restore.
  template <class Exists>
  void restore_numbers(std::span<const LabelId> labels, Exists&& exists) {
    begin_numbers(labels.size());
    for (VertexId vertex = 0; vertex < labels.size(); ++vertex) {
      if (!exists(vertex)) continue;
      keys_[vertex] = vertex;
      labels_[vertex] = labels[vertex];
      flags_[vertex] = alive_flag;
    }
    index_numbers();
    finish_restore();
  }

 private:
  static constexpr std::uint8_t alive_flag = 1;
  static constexpr std::uint8_t text_flag = 2;
  static constexpr std::uint8_t declared_flag = 4;

  [[nodiscard]] const std::byte* block(VertexId vertex) const noexcept {
    return reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(keys_[vertex]));  // NOLINT(performance-no-int-to-ptr)
  }
  // Hashes of integers are even and those of strings are odd. So equal hashes mean the same kind of key, and a look-up need not
  // check.
  [[nodiscard]] static std::uint32_t hash_of(std::uint64_t number, std::uint64_t seed) noexcept {
    return hash_number(number, seed) & ~1U;
  }
  [[nodiscard]] static std::uint32_t hash_of(std::string_view text, std::uint64_t seed) noexcept {
    return hash_text(text, seed) | 1U;
  }
  // Ids are passed by reference: a copy made right after the original was written would stall until all loads before it are
  // done.
  [[nodiscard]] VertexId find_number(std::int64_t number, std::uint32_t hash) const noexcept;
  [[nodiscard]] VertexId find_text(std::string_view text, std::uint32_t hash) const noexcept;
  [[nodiscard]] std::uint64_t store(const Id& id);
  VertexId take_number(const Id& id, std::uint64_t key, LabelId label) noexcept;
  void free_number(VertexId vertex) noexcept;
  void reserve_one();
  void reserve_numbers(std::size_t count);
  void begin_numbers(std::size_t count);
  void index_numbers();

  // Indexed by vertex. A key is the integer id, or the address of the stored text.
  HugeVector<std::uint64_t> keys_;
  HugeVector<LabelId> labels_;
  HugeVector<std::uint8_t> flags_;
  std::vector<std::uint32_t> bearers_;  ///< by label
  HashIndex index_;                     ///< the vertices that find returns
  TextArena texts_;
  std::uint64_t seed_;
  std::size_t size_ = 0;
  std::uint64_t numbering_ = 0;
  VertexId limit_;
  FreeSlots free_;  ///< the free numbers; has room for all numbers
};

}  // namespace deltamatch::graph
