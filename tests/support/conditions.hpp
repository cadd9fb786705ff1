// An oracle for conditions: evaluates the tree as it was parsed, with exact rational numbers. It shares no code with the
// programs that it judges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "deltamatch/attribute.hpp"
#include "deltamatch/condition.hpp"

namespace deltamatch::oracle {

/// A value of an attribute. std::monostate is NULL; an integer, decimal or time is a number of units (see AttributeType).
using Stored = std::variant<std::monostate, std::int64_t, double, bool, std::string>;

/// Finds the values of a match. `type` is nullptr for an unknown attribute.
struct Values {
  std::function<Stored(const Element&, const std::string& name)> attribute;
  std::function<AttributeType(const Element&, const std::string& name)> type;  ///< not asked for an edge's time
  std::function<std::variant<std::int64_t, std::string>(const Element&)> id;
  std::function<std::int64_t(const CountedPattern&)> count{};  ///< how many matches the pattern has beside this one
};

/// TRUE, FALSE, or nullopt for NULL.
[[nodiscard]] std::optional<bool> holds(const Expression& condition, const Values& values);

}  // namespace deltamatch::oracle
