// The vertex dictionary: external ids (64-bit integers or strings) as dense numbers, and what a vertex bears.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_index.hpp"
#include "base/text_arena.hpp"
#include "base/types.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch::graph {

/// Owns copies of string ids. A dense number that was released is given out again, the latest first. Reading (every const
/// member) is safe from several threads while nobody writes. Except for `alive`, what takes a vertex requires that it is alive.
/// A dictionary that was moved from can only be assigned to or destroyed.
class Dictionary {
 public:
  /// `limit` <= max_vertices, how many numbers there are, is for tests.
  explicit Dictionary(VertexId limit = max_vertices) noexcept;

  /// The vertex that `id` stands for, or invalid_vertex. O(1) expected.
  [[nodiscard]] VertexId find(const Id& id) const noexcept { return find(id, hash(id)); }

  /// For loops over many ids: to find one costs three misses in a row, its slot, its key and its text. With the hash taken
  /// ahead, fetch_slot, fetch_key and fetch_text bring them into the cache, called in this order with other work between.
  [[nodiscard]] std::uint32_t hash(const Id& id) const noexcept;
  [[nodiscard]] VertexId find(const Id& id, std::uint32_t hash) const noexcept {
    return id.is_text() ? find_text(id.text(), hash) : find_number(id.number(), hash);
  }
  void fetch_slot(std::uint32_t hash) const noexcept { index_.prefetch(hash); }
  void fetch_key(std::uint32_t hash) const noexcept;
  void fetch_text(std::uint32_t hash) const noexcept;

  /// A vertex for `id`, which must not have one; undeclared. Throws Error when all 2^31 - 1 numbers are in use or a string id
  /// has 2 GiB or more. Strong exception guarantee.
  VertexId create(const Id& id, LabelId label);

  /// Valid until the vertex is released, and for string ids not beyond the dictionary.
  [[nodiscard]] Id external(VertexId vertex) const noexcept {
    return (flags_[vertex] & text_flag) != 0 ? Id(TextArena::text(block(vertex)))
                                             : Id(static_cast<std::int64_t>(keys_[vertex]));
  }

  [[nodiscard]] LabelId label(VertexId vertex) const noexcept { return labels_[vertex]; }
  /// A label that is new to the dictionary was expected before.
  void set_label(VertexId vertex, LabelId label) noexcept {
    --bearers_[labels_[vertex]];
    labels_[vertex] = label;
    ++bearers_[label];
  }
  /// How many numbers in use bear the label.
  [[nodiscard]] std::uint32_t bearers(LabelId label) const noexcept { return label < bearers_.size() ? bearers_[label] : 0; }
  /// From now on the label can be given without failure.
  void expect(LabelId label) {
    if (label >= bearers_.size()) bearers_.resize(std::max<std::size_t>(std::size_t{label} + 1, 2 * bearers_.size()));
  }

  /// Whether a vertex record named the vertex, so that it lives without edges.
  [[nodiscard]] bool declared(VertexId vertex) const noexcept { return (flags_[vertex] & declared_flag) != 0; }
  void set_declared(VertexId vertex, bool declared) noexcept {
    flags_[vertex] = static_cast<std::uint8_t>(declared ? flags_[vertex] | declared_flag : flags_[vertex] & ~declared_flag);
  }

  /// Whether the number is in use, be it only by a vertex that was rebound and not yet released. Any vertex < capacity().
  [[nodiscard]] bool alive(VertexId vertex) const noexcept { return (flags_[vertex] & alive_flag) != 0; }

  /// A fresh vertex, undeclared, takes over the external id of `old`: find returns the fresh one, while `old` stays readable
  /// until it is released. `old` must be what find returns for its id. Throws as create. Strong exception guarantee.
  VertexId rebind(VertexId old, LabelId label);

  /// Takes rebind back: `fresh` is released and find returns `old` again. `fresh` must be what find returns.
  void undo_rebind(VertexId old, VertexId fresh) noexcept;

  /// Frees the number, and the external id where find still leads to this vertex. In any order among rebound vertices.
  void release(VertexId vertex) noexcept;

  /// Makes room: up to `extra` calls of create or rebind, in any order with the others, cannot throw std::bad_alloc, if the
  /// labels were expected and the lengths of their string ids sum up to at most `text_bytes`. The previous reservation lapses.
  void reserve(std::size_t extra, std::size_t text_bytes);

  /// One past the largest number ever given out.
  [[nodiscard]] VertexId capacity() const noexcept { return static_cast<VertexId>(flags_.size()); }

  /// Another one after every renumbering.
  [[nodiscard]] std::uint64_t numbering() const noexcept { return numbering_; }

  /// How many numbers are in use.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Allocated bytes, unused room included.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// Labels by vertex; capacity() of them. Moves when a vertex is created or room is reserved.
  [[nodiscard]] std::span<const LabelId> labels() const noexcept { return labels_; }

  /// Puts a vertex at a given number, in any order of numbers, into a dictionary that has only been restored into so far;
  /// finish_restore comes before anything else is done with it. Throws Error where the number is out of range or in use or the
  /// id is known already; what was restored before stays. Memory grows with the largest number.
  void restore(VertexId vertex, const Id& id, LabelId label, bool declared);
  void finish_restore() noexcept;

  /// Gives every vertex v the number to[v]: `to` is a permutation of the numbers below capacity(). `done`: room for as many.
  void renumber(std::span<const VertexId> to, std::vector<bool>& done) noexcept;

  /// In an empty dictionary, many at once: each vertex below labels.size() that exists(vertex) is restored with its own number
  /// for an id. finish_restore is done, too.
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
  // Ids go by reference: a copy made right after the original was written stalls until all loads before it are done.
  [[nodiscard]] VertexId find_number(std::int64_t number, std::uint32_t hash) const noexcept;
  [[nodiscard]] VertexId find_text(std::string_view text, std::uint32_t hash) const noexcept;
  [[nodiscard]] std::uint64_t store(const Id& id);
  VertexId take_number(const Id& id, std::uint64_t key, LabelId label) noexcept;
  void free_number(VertexId vertex) noexcept;
  void reserve_one();
  void reserve_numbers(std::size_t count);
  void begin_numbers(std::size_t count);
  void index_numbers();

  // By vertex. A key is the integer id, the address of the stored text, or in a free number the next free number.
  std::vector<std::uint64_t> keys_;
  std::vector<LabelId> labels_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> bearers_;  ///< by label
  HashIndex index_;                     ///< the vertices that find leads to
  TextArena texts_;
  std::uint64_t seed_;
  std::size_t size_ = 0;
  std::uint64_t numbering_ = 0;
  VertexId limit_;
  VertexId free_ = invalid_vertex;  ///< head of the list of free numbers
};

}  // namespace deltamatch::graph
