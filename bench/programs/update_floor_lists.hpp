// The neighbour lists of bench_update_floor, and the memory that they take.
//
// A vertex has a row of 8 bytes that leads to its block. A flat block has a directory and all lists, one after the other. If a
// vertex has too many entries for that, it is tall. Its block then lists pieces, each a part of one list. An entry is a
// neighbour, or in models with slots a neighbour (high half) and a slot.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "base/types.hpp"

namespace deltamatch::update_floor {

using Relation = std::uint32_t;  // an edge label below 127, then a neighbour's label below 256

struct Limits {
  std::uint32_t flat = 128;   ///< most entries of a flat block
  std::uint32_t piece = 256;  ///< most entries of a piece, at most 1,023
};

/// Blocks of 16, 24, 32, 48, 64, 96 … words in one reserved range of addresses.
class Arena {
 public:
  [[nodiscard]] static std::size_t words_of(unsigned size_class) noexcept {
    return std::size_t{size_class % 2 == 0 ? 16U : 24U} << size_class / 2;
  }
  [[nodiscard]] static unsigned class_for(std::size_t words) noexcept {
    if (words <= 16) return 0;
    const auto log = static_cast<unsigned>(std::bit_width(words - 1));  // 2^(log - 1) < words <= 2^log
    return 2 * (log - 4) - (words <= std::size_t{3} << (log - 2) ? 1 : 0);
  }

  Arena() : base_(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    madvise(base_, room, MADV_HUGEPAGE);
  }
  ~Arena() { munmap(base_, room); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The place of a block, never 0.
  [[nodiscard]] std::uint32_t take(unsigned size_class) {
    std::vector<std::uint32_t>& free = free_[size_class];
    if (!free.empty()) {
      const std::uint32_t place = free.back();
      free.pop_back();
      return place;
    }
    if (size_class % 2 == 0) next_ += next_ % 2;  // so that it begins on a cache line
    return static_cast<std::uint32_t>(std::exchange(next_, next_ + words_of(size_class) / unit_words));
  }
  void give_back(std::uint32_t place, unsigned size_class) { free_[size_class].push_back(place); }
  [[nodiscard]] std::uint32_t* at(std::uint32_t place) const noexcept {
    return static_cast<std::uint32_t*>(base_) + unit_words * place;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return next_ * unit_words * sizeof(std::uint32_t); }

 private:
  static constexpr std::size_t room = std::size_t{1} << 36;
  static constexpr std::size_t unit_words = 8;
  void* base_;
  std::size_t next_ = 2;
  std::array<std::vector<std::uint32_t>, 48> free_;
};

/// How many of ascending entries are less. It narrows without branches, then counts.
template <class Entry>
[[nodiscard]] std::uint32_t count_less(const Entry* entries, std::uint32_t size, Entry wanted) noexcept {
  const Entry* low = entries;
  for (; size > 8; size -= size / 2) low += low[size / 2 - 1] < wanted ? size / 2 : 0;
  auto less = static_cast<std::uint32_t>(low - entries);
  for (std::uint32_t i = 0; i < size; ++i) less += low[i] < wanted ? 1 : 0;
  return less;
}
template <class T>
void insert_at(T* items, std::uint32_t size, std::uint32_t at, T item) noexcept {
  std::memmove(items + at + 1, items + at, (size - at) * sizeof(T));
  items[at] = item;
}
template <class T>
void erase_at(T* items, std::uint32_t size, std::uint32_t at) noexcept {
  std::memmove(items + at, items + at + 1, (size - at - 1) * sizeof(T));
}

template <class Entry>
class Lists {
 public:
  struct Row {
    std::uint32_t place = 0;  // of the block; 0: no entries
    std::uint32_t size_class : 6 = 0;
    std::uint32_t tall : 1 = 0;
    std::uint32_t staged : 25 = 0;  // for the batch: 1 + the vertex's place among those that change
  };

  explicit Lists(Limits limits) : limits_(limits) {}
  void resize(std::size_t vertices) { rows_.resize(vertices); }
  [[nodiscard]] Row& row(VertexId vertex) noexcept { return rows_[vertex]; }
  [[nodiscard]] const Row& row(VertexId vertex) const noexcept { return rows_[vertex]; }
  [[nodiscard]] std::size_t bytes() const noexcept { return arena_.bytes() + rows_.size() * sizeof(Row); }

  /// These three ask for what a search or change reads, in this order with other work between.
  void fetch_row(VertexId vertex) const noexcept { fetch_line(&rows_[vertex]); }
  void fetch_block(VertexId vertex) const noexcept {
    const std::uint32_t* block = arena_.at(rows_[vertex].place);
    fetch_line(block);
    fetch_line(block + 16);
  }
  /// The list, and if it changes also the entries behind it in its block, which move.
  void fetch_list(VertexId vertex, Relation relation, Entry entry, bool changes) const noexcept {
    const Row& row = rows_[vertex];
    if (row.place == 0) return;
    const auto fetch = [](const Entry* begin, const Entry* end) {
      constexpr std::uintptr_t line = 64;
      for (auto at = reinterpret_cast<std::uintptr_t>(begin) / line * line; at < reinterpret_cast<std::uintptr_t>(end + 1);
           at += line)
        fetch_line(reinterpret_cast<const void*>(at));  // NOLINT(performance-no-int-to-ptr)
    };
    if (row.tall) {
      const Piece* piece = find_piece(row, relation, entry);
      if (piece != nullptr) fetch(entries_of(*piece), entries_of(*piece) + piece->size);
    } else {
      const Flat flat{arena_.at(row.place)};
      const std::uint32_t s = flat.find(relation);
      if (s < flat.lists()) fetch(flat.entries() + flat.begin(s), flat.entries() + (changes ? flat.total() : flat.end(s)));
    }
  }

  /// Calls visit(entry) for the entries of a list that are not less than `from`, in order, until it returns false.
  template <class Visit>
  void visit(VertexId vertex, Relation relation, Entry from, Visit&& visit) const {
    const Row& row = rows_[vertex];
    if (row.place == 0) return;
    const auto visit_all = [&](const Entry* entries, std::uint32_t size, std::uint32_t i) {
      for (; i < size; ++i) {
        if (!visit(entries[i])) return false;
      }
      return true;
    };
    if (!row.tall) {
      const Flat flat{arena_.at(row.place)};
      const std::uint32_t s = flat.find(relation);
      if (!flat.has(s, relation)) return;
      const Entry* entries = flat.entries() + flat.begin(s);
      const std::uint32_t size = flat.end(s) - flat.begin(s);
      visit_all(entries, size, count_less(entries, size, from));
      return;
    }
    const Piece* piece = find_piece(row, relation, from);
    if (piece == nullptr) return;
    std::uint32_t i = count_less(entries_of(*piece), piece->size, from);
    const Piece* const end = pieces(row) + count(row);
    for (; piece != end && piece->relation == relation && visit_all(entries_of(*piece), piece->size, i); ++piece) i = 0;
  }

  void insert(VertexId vertex, Relation relation, Entry entry) {
    Row& row = rows_[vertex];
    if (row.tall) return insert_tall(row, relation, entry);
    if (row.place == 0) make_flat(row, 3, 1);
    Flat flat{arena_.at(row.place)};
    const std::uint32_t s = flat.find(relation);
    const bool fresh = !flat.has(s, relation);
    const bool widens = fresh && flat.lists() == flat.room();
    if (widens || flat.total() == capacity(row, flat.room())) {
      if (flat.total() >= limits_.flat || (widens && flat.room() == 127)) {
        make_tall(row);
        return insert_tall(row, relation, entry);
      }
      move_flat(row, widens ? 2 * flat.room() + 1 : flat.room(), flat.total() + 1);
      flat = {arena_.at(row.place)};
    }
    if (fresh) {
      insert_at(flat.block + 1, flat.lists(), s, relation << 16 | flat.begin(s));
      flat.block[0] += 1U << 16;
    }
    const std::uint32_t begin = flat.begin(s);
    const std::uint32_t at = begin + count_less(flat.entries() + begin, flat.end(s) - begin, entry);
    insert_at(flat.entries(), flat.total(), at, entry);
    for (std::uint32_t i = s; i < flat.lists(); ++i) ++flat.block[1 + i];
    ++flat.block[0];
  }

  void erase(VertexId vertex, Relation relation, Entry entry) {
    Row& row = rows_[vertex];
    if (row.tall) return erase_tall(row, relation, entry);
    Flat flat{arena_.at(row.place)};
    const std::uint32_t s = flat.find(relation);
    const std::uint32_t begin = flat.begin(s);
    const std::uint32_t size = flat.end(s) - begin;
    erase_at(flat.entries(), flat.total(), begin + count_less(flat.entries() + begin, size, entry));
    for (std::uint32_t i = s; i < flat.lists(); ++i) --flat.block[1 + i];
    --flat.block[0];
    if (size == 1) {
      erase_at(flat.block + 1, flat.lists(), s);
      flat.block[0] -= 1U << 16;
      flat.block[1 + flat.lists()] = Flat::unused;
    }
    if (flat.total() == 0) return release(row);
    if (row.size_class > 0 && 4 * flat.total() < capacity(row, flat.room())) move_flat(row, flat.room(), flat.total());
  }

 private:
  /// A view of a flat block. Word 0 has the number of entries, of lists, of words for lists, and the sign, so that it is less
  /// than any other. The word of a list has its relation and its end.
  struct Flat {
    static constexpr std::uint32_t unused = 0x7fffffff;
    std::uint32_t* block;
    [[nodiscard]] std::uint32_t total() const noexcept { return block[0] & 0xffff; }
    [[nodiscard]] std::uint32_t lists() const noexcept { return block[0] >> 16 & 0xff; }
    [[nodiscard]] std::uint32_t room() const noexcept { return block[0] >> 24 & 0x7f; }
    [[nodiscard]] Entry* entries() const noexcept { return reinterpret_cast<Entry*>(block + 1 + room()); }
    [[nodiscard]] std::uint32_t begin(std::uint32_t s) const noexcept { return s == 0 ? 0 : end(s - 1); }
    [[nodiscard]] std::uint32_t end(std::uint32_t s) const noexcept { return block[1 + s] & 0xffff; }
    /// The first list whose relation is not less. It compares all words, four at a time, instead of guessing where to stop.
    [[nodiscard]] std::uint32_t find(Relation relation) const noexcept {
      const auto wanted = static_cast<std::int32_t>(relation << 16);
      std::uint32_t less = 0;
      for (std::uint32_t i = 0; i <= room(); i += 4) {
        for (std::uint32_t k = 0; k < 4; ++k) less += static_cast<std::int32_t>(block[i + k]) < wanted ? 1 : 0;
      }
      return less - 1;
    }
    [[nodiscard]] bool has(std::uint32_t s, Relation relation) const noexcept {
      return s < lists() && block[1 + s] >> 16 == relation;
    }
  };
  /// A part of one list of a tall vertex. Word 0 of the block has their number. They begin at word 4, in order.
  struct Piece {
    Entry first;
    std::uint32_t place;
    std::uint32_t relation : 16, size : 10, size_class : 6;
  };
  static constexpr std::size_t entry_words = sizeof(Entry) / sizeof(std::uint32_t);  // NOLINT(bugprone-sizeof-expression)

  [[nodiscard]] std::uint32_t& count(const Row& row) const noexcept { return *arena_.at(row.place); }
  [[nodiscard]] Piece* pieces(const Row& row) const noexcept { return reinterpret_cast<Piece*>(arena_.at(row.place) + 4); }
  [[nodiscard]] Entry* entries_of(const Piece& piece) const noexcept {
    return reinterpret_cast<Entry*>(arena_.at(piece.place));
  }
  /// The piece where the entry is or belongs, or null if there is no such list.
  [[nodiscard]] Piece* find_piece(const Row& row, Relation relation, Entry entry) const noexcept {
    Piece* const begin = pieces(row);
    Piece* const end = begin + count(row);
    Piece* const at = std::partition_point(begin, end, [&](const Piece& piece) {
      return piece.relation != relation ? piece.relation < relation : piece.first <= entry;
    });
    if (at != begin && at[-1].relation == relation) return at - 1;
    return at != end && at->relation == relation ? at : nullptr;
  }

  [[nodiscard]] static std::uint32_t capacity(const Row& row, std::uint32_t room) noexcept {
    return static_cast<std::uint32_t>((Arena::words_of(row.size_class) - 1 - room) / entry_words);
  }
  void take(Row& row, std::size_t words) {
    row.size_class = Arena::class_for(words) & 63;
    row.place = arena_.take(row.size_class);
  }
  void release(Row& row) {
    arena_.give_back(row.place, row.size_class);
    row.place = 0;
    row.tall = 0;
  }
  void make_flat(Row& row, std::uint32_t room, std::uint32_t entries) {
    take(row, 1 + room + entries * entry_words);
    std::uint32_t* block = arena_.at(row.place);
    block[0] = 1U << 31 | room << 24;
    std::fill_n(block + 1, room, Flat::unused);
  }
  void move_flat(Row& row, std::uint32_t room, std::uint32_t entries) {
    const Row old = row;
    const Flat from{arena_.at(old.place)};
    make_flat(row, room, entries);
    const Flat to{arena_.at(row.place)};
    to.block[0] |= from.block[0] & 0xffffff;
    std::copy_n(from.block + 1, from.lists(), to.block + 1);
    std::copy_n(from.entries(), from.total(), to.entries());
    arena_.give_back(old.place, old.size_class);
  }
  void make_tall(Row& row) {
    const Row old = row;
    const Flat from{arena_.at(old.place)};
    take(row, 4 + (from.lists() + 1) * sizeof(Piece) / sizeof(std::uint32_t));
    row.tall = 1;
    count(row) = 0;
    for (std::uint32_t s = 0; s < from.lists(); ++s) {
      const std::uint32_t parts = (from.end(s) - from.begin(s) + limits_.piece - 1) / limits_.piece;
      for (std::uint32_t part = 0, begin = from.begin(s); part < parts; ++part) {
        const std::uint32_t size = (from.end(s) - begin) / (parts - part);
        add_piece(row, count(row), make_piece(from.block[1 + s] >> 16, from.entries() + begin, size));
        begin += size;
      }
    }
    arena_.give_back(old.place, old.size_class);
  }
  /// With room for one entry more.
  [[nodiscard]] Piece make_piece(Relation relation, const Entry* begin, std::uint32_t size) {
    const unsigned size_class = Arena::class_for(std::min(size + 1, limits_.piece) * entry_words);
    const std::uint32_t place = arena_.take(size_class);
    std::copy_n(begin, size, reinterpret_cast<Entry*>(arena_.at(place)));
    return {*begin, place, relation & 0xffff, size & 1023, size_class & 63};
  }
  void add_piece(Row& row, std::uint32_t at, const Piece& piece) {
    const std::uint32_t before = count(row);
    const std::size_t words = 4 + (before + 1) * sizeof(Piece) / sizeof(std::uint32_t);
    if (words > Arena::words_of(row.size_class)) {
      const Row old = row;
      take(row, words);
      std::copy_n(pieces(old), before, pieces(row));
      arena_.give_back(old.place, old.size_class);
    }
    insert_at(pieces(row), before, at, piece);
    count(row) = before + 1;
  }
  void insert_tall(Row& row, Relation relation, Entry entry) {
    Piece* piece = find_piece(row, relation, entry);
    if (piece == nullptr) {
      const Piece* const at = std::partition_point(pieces(row), pieces(row) + count(row),
                                                   [&](const Piece& other) { return other.relation < relation; });
      return add_piece(row, static_cast<std::uint32_t>(at - pieces(row)), make_piece(relation, &entry, 1));
    }
    if (piece->size == limits_.piece) {
      const std::uint32_t half = piece->size / 2;
      const Piece upper = make_piece(relation, entries_of(*piece) + half, piece->size - half);
      piece->size = half & 1023;
      add_piece(row, static_cast<std::uint32_t>(piece - pieces(row)) + 1, upper);
      piece = find_piece(row, relation, entry);
    } else if (piece->size * entry_words == Arena::words_of(piece->size_class)) {
      const Piece old = *piece;
      *piece = make_piece(relation, entries_of(old), old.size);
      arena_.give_back(old.place, old.size_class);
    }
    Entry* const entries = entries_of(*piece);
    insert_at(entries, piece->size, count_less(entries, piece->size, entry), entry);
    piece->first = entries[0];
    piece->size = (piece->size + 1U) & 1023;
  }
  void erase_tall(Row& row, Relation relation, Entry entry) {
    Piece* const piece = find_piece(row, relation, entry);
    Entry* const entries = entries_of(*piece);
    erase_at(entries, piece->size, count_less(entries, piece->size, entry));
    piece->size = (piece->size - 1U) & 1023;
    piece->first = entries[0];
    if (piece->size > 0) return;
    arena_.give_back(piece->place, piece->size_class);
    erase_at(pieces(row), count(row), static_cast<std::uint32_t>(piece - pieces(row)));
    if (--count(row) == 0) release(row);
  }

  Limits limits_;
  Arena arena_;
  std::vector<Row> rows_;
};

}  // namespace deltamatch::update_floor
