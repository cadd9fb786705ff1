// The condition of a variant: what the conditions of a query with paths say about the steps.
#pragma once

#include <optional>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::query {

struct Variant;

/// The condition of a variant whose edges and vertices are laid out. Parts that read nothing are decided: a constant is left
/// only if the whole condition is one, or a part is NULL.
///
/// - A function of a path becomes a calculation with its steps. A sum adds from the first step to the last.
/// - The condition of steps is asked of each. At the first one, what is compared with prev() is not asked. It
///   counts as TRUE, or as FALSE below NOT.
/// - A count gets the numbers of the variant. It becomes 0 if its condition can never be TRUE.
[[nodiscard]] std::optional<Expression> variant_condition(const Query& query, const Variant& variant);

/// Whether a condition from variant_condition is certainly not TRUE.
[[nodiscard]] bool is_never_true(const std::optional<Expression>& condition) noexcept;

}  // namespace deltamatch::query
