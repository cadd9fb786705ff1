#include "deltamatch/misfit.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace deltamatch {
namespace {

constexpr std::size_t shown_of_symbol = 40;

std::string counted(std::size_t number, const std::string& thing) {
  return std::to_string(number) + ' ' + thing + (number == 1 ? "" : "s");
}

/// A value as a message shows it.
std::string shown(const AttributeValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "the boolean true" : "the boolean false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return "the integer " + std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::isnan(*real)) return "NaN";
    return std::isinf(*real) ? (*real < 0 ? "-Infinity" : "Infinity") : "the real " + std::to_string(*real);
  }
  const auto* symbol = std::get_if<std::string_view>(&value);
  if (symbol == nullptr) return "NULL";
  if (symbol->size() <= shown_of_symbol) return "the text `" + std::string(*symbol) + "`";
  return "a text of " + std::to_string(symbol->size()) + " bytes, `" + std::string(symbol->substr(0, shown_of_symbol)) + "…`";
}

std::string to_text(std::span<const Attribute> attributes) {
  if (attributes.empty()) return "none";
  std::string text;
  for (const Attribute& attribute : attributes) {
    if (!text.empty()) text += ',';
    text += attribute.name + ':' + to_text(attribute.type);
  }
  return text;
}

}  // namespace

std::optional<Misfit> find_misfit(const Schema& schema, const Update& update) {
  if (update.properties == nullptr) return std::nullopt;
  const bool edge = update.kind == UpdateKind::insert_edge;
  if (!edge && update.kind != UpdateKind::insert_vertex) return std::nullopt;
  const std::span<const Attribute> attributes = edge ? schema.edges : schema.vertices;
  const std::span<const AttributeValue> values = update.properties->attributes;
  const std::optional<std::size_t> misfit = find_misfit(attributes, values);
  if (!misfit) return std::nullopt;
  if (values.size() != attributes.size()) {
    return Misfit{{},
                  "the record has " + counted(values.size(), "value") + ", but " + (edge ? "edges" : "vertices") + " have " +
                      counted(attributes.size(), "attribute")};
  }
  const Attribute& attribute = attributes[*misfit];
  return Misfit{attribute.name,
                "the attribute `" + attribute.name + "` is " + to_text(attribute.type) + ", but has " + shown(values[*misfit])};
}

std::string to_text(const AttributeType& type) {
  switch (type.kind) {
    case AttributeType::Kind::integer:
      return "int";
    case AttributeType::Kind::decimal:
      return "decimal(" + std::to_string(type.scale) + ")";
    case AttributeType::Kind::real:
      return "float";
    case AttributeType::Kind::boolean:
      return "bool";
    case AttributeType::Kind::symbol:
      return "symbol";
    case AttributeType::Kind::time:
      return "time";
  }
  return "unknown";
}

std::string to_text(const Schema& schema) {
  return "edges " + to_text(schema.model) + ", attributes " + to_text(schema.edges) + ", vertex attributes " +
         to_text(schema.vertices);
}

std::string schema_text(const Schema& schema) { return schema == Schema{} ? "" : to_text(schema); }

std::string to_text(EdgeModel model) {
  constexpr std::array<const char*, 3> names = {"simple", "keyed", "events"};
  const auto index = static_cast<std::size_t>(model);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace deltamatch
