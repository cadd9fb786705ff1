// Whether a condition that a program made is well formed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "deltamatch/condition.hpp"

namespace deltamatch::condition {

inline constexpr std::size_t max_depth = 400;   ///< of the tree; recursion over conditions is as deep
inline constexpr std::size_t max_nodes = 4000;  ///< of the tree

/// Whether nodes of this kind are functions of a path.
[[nodiscard]] bool reads_path(Expression::Kind kind) noexcept;
/// Whether they read a vertex or an edge: attributes, ids and functions of a path do.
[[nodiscard]] bool reads_element(Expression::Kind kind) noexcept;

/// What contradicts the documentation of Expression. That is a wrong number of operands, an element that the query lacks, or an
/// empty name. A tree beyond max_depth or max_nodes does, too. Nullopt: nothing does.
[[nodiscard]] std::optional<std::string> find_flaw(const Expression& expression, std::size_t vertices, std::size_t edges);

}  // namespace deltamatch::condition
