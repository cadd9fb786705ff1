#include "graph/attribute_table.hpp"

#include <algorithm>
#include <bit>

#include "graph/permute.hpp"

namespace deltamatch::graph {

namespace {

/// The word of a value that is no symbol.
Word plain_word(const AttributeValue& value) noexcept {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* real = std::get_if<double>(&value)) return std::bit_cast<std::int64_t>(*real);
  return std::nullopt;
}

}  // namespace

std::uint32_t SymbolTable::use(std::string_view text) {
  std::optional<LabelId> symbol = texts_.find(text);
  if (!symbol) {
    if (uses_.size() == uses_.capacity()) uses_.reserve(2 * uses_.size());
    symbol = texts_.intern(text);
    if (uses_.size() < texts_.size()) uses_.resize(texts_.size());  // by one at most: there is room
  }
  ++uses_[*symbol];
  return *symbol;
}

void SymbolTable::release(std::uint32_t symbol) noexcept {
  if (--uses_[symbol] == 0 && symbol != empty_label) texts_.free(symbol);
}

void SymbolTable::restore(std::uint32_t symbol, std::string_view text) {
  if (uses_.size() <= symbol) uses_.resize(std::size_t{symbol} + 1);
  texts_.restore(symbol, text);
}

AttributeTable::AttributeTable(std::span<const Attribute> attributes, SymbolTable& symbols) : symbols_(&symbols) {
  for (const Attribute& attribute : attributes) columns_.push_back({attribute.type, {}, {}});
}

void AttributeTable::expect(std::size_t rows) {
  if (rows <= rows_) return;
  for (Column& column : columns_) {
    if (rows > column.words.capacity()) column.words.reserve(std::max(rows, 2 * rows_));
    if (rows > column.known.capacity()) column.known.reserve(std::max(rows, 2 * rows_));
  }
  for (Column& column : columns_) {  // there is room
    column.words.resize(rows);
    column.known.resize(rows);
  }
  rows_ = rows;
}

void AttributeTable::read(std::span<const AttributeValue> values, std::vector<Word>& words) {
  words.assign(columns_.size(), std::nullopt);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const auto* text = std::get_if<std::string_view>(&values[i])) {
      try {
        words[i] = symbols_->use(*text);
      } catch (...) {
        drop(words);
        throw;
      }
    } else {
      words[i] = plain_word(values[i]);
    }
  }
}

void AttributeTable::drop(std::span<const Word> words) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_symbol(i) && words[i]) symbols_->release(static_cast<std::uint32_t>(*words[i]));
  }
}

void AttributeTable::hold(std::span<const Word> words) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_symbol(i) && words[i]) symbols_->use_again(static_cast<std::uint32_t>(*words[i]));
  }
}

void AttributeTable::set(std::size_t row, std::span<const Word> words) noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].words[row] = words[i].value_or(0);
    columns_[i].known[row] = words[i] ? 1 : 0;
  }
}

void AttributeTable::clear(std::size_t row) noexcept {
  if (row >= rows_) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (is_symbol(i) && columns_[i].known[row] != 0) symbols_->release(static_cast<std::uint32_t>(columns_[i].words[row]));
    columns_[i].known[row] = 0;
  }
}

void AttributeTable::share(std::size_t from, std::size_t to) noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    column.words[to] = column.words[from];
    column.known[to] = column.known[from];
    if (is_symbol(i) && column.known[to] != 0) symbols_->use_again(static_cast<std::uint32_t>(column.words[to]));
  }
}

void AttributeTable::renumber(std::span<const VertexId> to, std::vector<bool>& done) noexcept {
  for (Column& column : columns_) permute(to, done, column.words, column.known);
}

void AttributeTable::copy(std::size_t row, std::vector<Word>& words) const {
  words.assign(columns_.size(), std::nullopt);
  for (std::size_t i = 0; i < columns_.size(); ++i) words[i] = word(row, i);
}

bool AttributeTable::equal(std::size_t a, std::size_t b) const noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (word(a, i) != word(b, i)) return false;
  }
  return true;
}

bool AttributeTable::equal(std::size_t row, std::span<const Word> words) const noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (word(row, i) != words[i]) return false;
  }
  return true;
}

void AttributeTable::values(std::size_t row, std::span<AttributeValue> values) const noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Word stored = word(row, i);
    values[i] = {};
    if (!stored) continue;
    switch (columns_[i].type.kind) {
      case AttributeType::Kind::integer:
      case AttributeType::Kind::decimal:
      case AttributeType::Kind::time:
        values[i] = *stored;
        break;
      case AttributeType::Kind::real:
        values[i] = std::bit_cast<double>(*stored);
        break;
      case AttributeType::Kind::boolean:
        values[i] = *stored != 0;
        break;
      case AttributeType::Kind::symbol:
        values[i] = symbols_->text(static_cast<std::uint32_t>(*stored));
        break;
    }
  }
}

std::size_t AttributeTable::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Column& column : columns_) bytes += column.words.capacity() * sizeof(std::int64_t) + column.known.capacity();
  return bytes;
}

}  // namespace deltamatch::graph
