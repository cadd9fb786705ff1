#include "base/label_terms.hpp"

#include <algorithm>

#include "deltamatch/labels.hpp"

namespace deltamatch {

bool is_plain_term(std::string_view term) noexcept { return !is_several_labels(term) && !is_absence(term); }

bool asks_for_absence(std::string_view term) noexcept {
  return is_absence(term) || term.find("\x1f\x1e") != std::string_view::npos;
}

bool is_term(std::string_view term) {
  const auto parts = split_labels(term);
  return parts.size() == 1 || (canonical_labels(term) == term && std::ranges::find(parts, "") == parts.end());
}

bool satisfies(std::span<const std::string_view> labels, std::string_view term) {
  return std::ranges::all_of(split_labels(term), [&](std::string_view part) {
    const bool wanted = !is_absence(part);
    return (std::ranges::find(labels, wanted ? part : part.substr(1)) != labels.end()) == wanted;
  });
}

}  // namespace deltamatch
