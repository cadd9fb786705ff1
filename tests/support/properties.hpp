// Keys and values of attributes for tests: random ones, and as text for comparison.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch::test {

/// All that a record says beside ends, labels and time: " key 7 {1, NULL, true, 'web', bits of a real}".
inline std::string properties_text(const Update& update) {
  if (update.properties == nullptr) return "";
  const auto quoted = [](std::string_view text) { return "'" + std::string(text) + "'"; };
  std::string text = update.by_key ? " by" : "";
  if (const auto& key = update.properties->key)
    text += " key " + (key->is_text() ? quoted(key->text()) : std::to_string(key->number()));
  if (update.properties->attributes.empty()) return text;
  std::string values;
  for (const AttributeValue& value : update.properties->attributes) {
    if (!values.empty()) values += ", ";
    if (const auto* boolean = std::get_if<bool>(&value))
      values += *boolean ? "true" : "false";
    else if (const auto* integer = std::get_if<std::int64_t>(&value))
      values += std::to_string(*integer);
    else if (const auto* real = std::get_if<double>(&value))
      values += "bits " + std::to_string(std::bit_cast<std::uint64_t>(*real));
    else if (const auto* symbol = std::get_if<std::string_view>(&value))
      values += quoted(*symbol);
    else
      values += "NULL";
  }
  return text + " {" + values + "}";
}

/// Draws keys and rows of every shape, with texts and numbers from the limits of their ranges. It owns what it has drawn.
class PropertiesDraw {
 public:
  /// Rows have up to `most` values.
  explicit PropertiesDraw(std::uint64_t seed, std::size_t most = max_attributes) : random_(seed), most_(most) {}

  /// Gives the update a key and attributes, or some of both, as its kind allows. Some deletions get only a key.
  void add_to(Update& update) {
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    const bool insertion = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::insert_vertex;
    Properties properties;
    if (edge && below(2) == 0) properties.key = below(3) == 0 ? Id(key_text()) : Id(number());
    if (insertion && below(2) == 0) properties.attributes = row();
    if (!properties.key && properties.attributes.empty()) return;
    update.properties = &properties_.emplace_back(properties);
    if (insertion || below(2) == 0) return;
    update.by_key = true;
    update.source = update.target = {};
    update.label = {};
    update.source_label = update.target_label = std::nullopt;
  }

  /// Values of all kinds, with runs of NULLs of any length.
  std::span<const AttributeValue> row() {
    std::vector<AttributeValue>& row = rows_.emplace_back(1 + below(below(4) == 0 ? most_ : std::min<std::size_t>(most_, 6)));
    const std::uint64_t kinds = below(2) == 0 ? 90 : 6;
    for (AttributeValue& value : row) value = draw(below(kinds));
    return row;
  }

  /// A value that fits the type.
  AttributeValue value(const AttributeType& type) {
    if (below(5) == 0) return {};
    switch (type.kind) {
      case AttributeType::Kind::boolean:
        return below(2) == 0;
      case AttributeType::Kind::real:
        return static_cast<double>(number()) / 8;
      case AttributeType::Kind::symbol:
        return symbol();
      case AttributeType::Kind::integer:
      case AttributeType::Kind::decimal:
      case AttributeType::Kind::time:
        break;
    }
    return number();
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  AttributeValue draw(std::uint64_t kind) {
    switch (kind) {
      case 0:
        return below(2) == 0;
      case 1:
      case 2:
        return number();
      case 3:
        return std::bit_cast<double>(random_());
      case 4:
        return symbol();
      default:
        return {};
    }
  }

  std::int64_t number() {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 8> edges = {0, -1, 63, 64, -64, -65, Limits::max(), Limits::min()};
    if (below(2) == 0) return edges[below(edges.size())];
    return static_cast<std::int64_t>(random_() >> below(64)) * (below(2) == 0 ? 1 : -1);
  }

  std::string_view symbol() {
    if (texts_.size() > 20) return texts_[below(texts_.size())];
    std::string& made = texts_.emplace_back(std::array<std::size_t, 6>{0, 1, 5, 127, 128, 300}[below(6)], ' ');
    for (char& c : made) c = static_cast<char>(random_());
    return made;
  }

  std::string_view key_text() {
    const std::string_view text = symbol();
    return text.empty() ? std::string_view("tx") : text;
  }

  std::mt19937_64 random_;
  std::size_t most_;
  std::deque<std::string> texts_;
  std::deque<Properties> properties_;
  std::deque<std::vector<AttributeValue>> rows_;
};

}  // namespace deltamatch::test
