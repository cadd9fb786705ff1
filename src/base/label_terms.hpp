// Terms of label sets in queries: LabelSet says what they are.
#pragma once

#include <span>
#include <string_view>

#include "deltamatch/query.hpp"

namespace deltamatch {

/// Whether a term asks for one label alone, or for none.
[[nodiscard]] bool is_plain_term(std::string_view term) noexcept;
/// Whether a part of a term is a label that must be absent.
[[nodiscard]] inline bool is_absence(std::string_view part) noexcept { return !part.empty() && part.front() == label_negation; }
/// Whether a term asks that a label is absent.
[[nodiscard]] bool asks_for_absence(std::string_view term) noexcept;
/// Whether a term is in normal form.
[[nodiscard]] bool is_term(std::string_view term);
/// Whether labels satisfy a term: those of a vertex, or the label of an edge. The empty label stands for none.
[[nodiscard]] bool satisfies(std::span<const std::string_view> labels, std::string_view term);

}  // namespace deltamatch
