// Values of attributes, as columns by row. A row is the slot of an edge or the number of a vertex.
//
// A value is a word of 64 bits. An integer, the digits of a decimal and a time are there as they are, a real by its bits. A
// truth value is 0 or 1, a symbol is its number. Symbols are texts that are stored once. They get the least free number and are
// given back when no row has them, so all replicas of a graph number alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/labels.hpp"
#include "deltamatch/attribute.hpp"

namespace deltamatch::graph {

/// A value as a row holds it; nullopt is NULL.
using Word = std::optional<std::int64_t>;

/// Texts of attributes, with the number of rows that have each.
class SymbolTable {
 public:
  /// Returns the number of a text and counts one use. Strong guarantee. Throws Error if there are 2^31 texts.
  std::uint32_t use(std::string_view text);
  void use_again(std::uint32_t symbol) noexcept { ++uses_[symbol]; }
  /// Takes back one use. The number of a text without a use is free.
  void release(std::uint32_t symbol) noexcept;

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const noexcept { return texts_.find(text); }
  [[nodiscard]] std::string_view text(std::uint32_t symbol) const noexcept { return texts_.text(symbol); }
  /// A version number that changes whenever a text comes or goes.
  [[nodiscard]] std::uint64_t edition() const noexcept { return texts_.edition(); }
  /// The number of texts in use.
  [[nodiscard]] std::size_t count() const noexcept { return texts_.count() - (uses_[empty_label] == 0 ? 1 : 0); }
  /// One past the largest number in use.
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
  [[nodiscard]] bool in_use(std::uint32_t symbol) const noexcept { return texts_.in_use(symbol) && uses_[symbol] > 0; }
  /// Gives a text its number, without a use. Both must be free. Rows count their uses when they are set.
  void restore(std::uint32_t symbol, std::string_view text);
  [[nodiscard]] std::size_t bytes() const noexcept { return texts_.bytes() + uses_.capacity() * sizeof(std::uint32_t); }

 private:
  LabelTable texts_;  // the empty text always has number 0
  std::vector<std::uint32_t> uses_ = std::vector<std::uint32_t>(1);
};

/// The values of the attributes that edges, or vertices, have. Rows start with NULL.
class AttributeTable {
 public:
  /// Both outlive the table.
  AttributeTable(std::span<const Attribute> attributes, SymbolTable& symbols);

  /// The number of attributes.
  [[nodiscard]] std::size_t width() const noexcept { return columns_.size(); }
  /// Makes room for `rows` rows. Strong guarantee.
  void expect(std::size_t rows);

  /// The words of a record's values, for a row. Empty values are NULL. Each symbol is used once, until the row is cleared or
  /// `drop` takes the words back. The values must fit their types. Strong guarantee.
  void read(std::span<const AttributeValue> values, std::vector<Word>& words);
  void drop(std::span<const Word> words) noexcept;
  /// Uses the symbols of the words once more.
  void hold(std::span<const Word> words) noexcept;

  /// Gives a row its words; their uses of symbols pass to the row. The row must exist and be clear.
  void set(std::size_t row, std::span<const Word> words) noexcept;
  /// Makes all values of a row NULL.
  void clear(std::size_t row) noexcept;

  /// Rows beyond those that exist are NULL.
  [[nodiscard]] Word word(std::size_t row, std::size_t attribute) const noexcept {
    const Column& column = columns_[attribute];
    return row < rows_ && column.known[row] != 0 ? Word(column.words[row]) : std::nullopt;
  }
  /// Gives the row `to`, which must be clear, the values of another.
  void share(std::size_t from, std::size_t to) noexcept;
  /// Moves row v to row to[v]. `to` is a permutation of rows that exist; `done` must have room for as many.
  void renumber(std::span<const VertexId> to, std::vector<bool>& done) noexcept;
  /// Copies the words of a row, without uses of their symbols.
  void copy(std::size_t row, std::vector<Word>& words) const;
  /// Whether two rows have the same values. Reals are equal if their bits are.
  [[nodiscard]] bool equal(std::size_t a, std::size_t b) const noexcept;
  [[nodiscard]] bool equal(std::size_t row, std::span<const Word> words) const noexcept;
  /// Writes the values of a row to `values`, which has room for each attribute. Texts are valid until the row is cleared.
  void values(std::size_t row, std::span<AttributeValue> values) const noexcept;

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Column {
    AttributeType type;
    std::vector<std::int64_t> words;
    std::vector<std::uint8_t> known;  // 0: NULL
  };
  [[nodiscard]] bool is_symbol(std::size_t attribute) const noexcept {
    return columns_[attribute].type.kind == AttributeType::Kind::symbol;
  }

  std::vector<Column> columns_;
  std::size_t rows_ = 0;
  SymbolTable* symbols_;
};

}  // namespace deltamatch::graph
