#include "deltamatch/attribute.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "deltamatch/error.hpp"

namespace deltamatch {

namespace {

constexpr std::size_t longest_symbol = 1024;

}  // namespace

bool fits(const AttributeType& type, const AttributeValue& value) noexcept {
  if (std::holds_alternative<std::monostate>(value)) return true;
  switch (type.kind) {
    case AttributeType::Kind::integer:
    case AttributeType::Kind::decimal:
    case AttributeType::Kind::time:
      return std::holds_alternative<std::int64_t>(value);
    case AttributeType::Kind::real: {
      const auto* real = std::get_if<double>(&value);
      return real != nullptr && std::isfinite(*real);
    }
    case AttributeType::Kind::boolean:
      return std::holds_alternative<bool>(value);
    case AttributeType::Kind::symbol: {
      const auto* text = std::get_if<std::string_view>(&value);
      return text != nullptr && text->size() <= longest_symbol;
    }
  }
  return false;
}

std::optional<std::size_t> find_misfit(std::span<const Attribute> attributes, std::span<const AttributeValue> values) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i >= attributes.size() || !fits(attributes[i].type, values[i])) return i;
  }
  if (!values.empty() && values.size() < attributes.size()) return values.size();
  return std::nullopt;
}

namespace {

constexpr int largest_scale = 18;

void validate(std::span<const Attribute> attributes, const std::string& of) {
  if (attributes.size() > max_attributes) {
    throw Error(ErrorKind::configuration, "attributes of " + of, "there are " + std::to_string(attributes.size()),
                "declare at most 255");
  }
  std::set<std::string_view> names;
  for (const Attribute& attribute : attributes) {
    if (attribute.name.empty())
      throw Error(ErrorKind::configuration, "attributes of " + of, "a name is empty", "name each attribute");
    if (!names.insert(attribute.name).second) {
      throw Error(ErrorKind::configuration, "attributes of " + of, "'" + attribute.name + "' is declared twice",
                  "declare each attribute once");
    }
    if (attribute.type.kind == AttributeType::Kind::decimal && attribute.type.scale > largest_scale) {
      throw Error(ErrorKind::configuration, "attributes of " + of, "'" + attribute.name + "' has more than 18 decimal places",
                  "choose a scale of 0 to 18");
    }
  }
}

}  // namespace

void validate(const Schema& schema) {
  validate(schema.edges, "edges");
  validate(schema.vertices, "vertices");
  const auto is_time = [](const Attribute& attribute) { return attribute.name == "time"; };
  if (std::ranges::any_of(schema.edges, is_time)) {
    throw Error(ErrorKind::configuration, "attributes of edges", "'time' is the event time, which every edge has",
                "give the attribute another name");
  }
  if (schema.model == EdgeModel::simple && !schema.edges.empty()) {
    throw Error(ErrorKind::configuration, "attributes of edges", "edges of the model 'simple' have none",
                "choose the model keyed or events");
  }
}

}  // namespace deltamatch
