// An oracle for conditions: evaluates the tree as it was parsed, with exact rational numbers. It shares no code with the
// programs that it judges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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
  /// The edges of a match that an edge of the query stands for; one if it is no path. If empty, edges stand for themselves.
  std::function<std::vector<Element>(const Element&)> steps{};
  /// How many matches the pattern has beside this one. `step` is that of `holds`.
  std::function<std::int64_t(const CountedPattern&, std::optional<std::size_t> step)> count{};
};

/// TRUE, FALSE, or nullopt for NULL. `step`: the condition is about this step of a path, from 0. At step 0, what is compared
/// with prev() is not asked.
[[nodiscard]] std::optional<bool> holds(const Expression& condition, const Values& values,
                                        std::optional<std::size_t> step = std::nullopt);

}  // namespace deltamatch::oracle
