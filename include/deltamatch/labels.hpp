// Labels of a vertex as one text.
//
// A vertex may have several labels. Wherever a vertex label is a text, several labels are one text: they stand in bytewise
// order, each once, joined by the byte label_separator. So a text without that byte is one label, and the empty text is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deltamatch {

/// Joins the labels of a vertex. It is the unit separator of ASCII.
inline constexpr char label_separator = '\x1f';

/// Whether a text is several labels.
[[nodiscard]] inline bool is_several_labels(std::string_view text) noexcept {
  return text.find(label_separator) != std::string_view::npos;
}

/// The parts of a text, as they stand there. The text must outlive them.
[[nodiscard]] std::vector<std::string_view> split_labels(std::string_view text, char separator = label_separator);
/// The one text of these labels, in any order. Empty ones and repetitions are left out.
[[nodiscard]] std::string join_labels(std::vector<std::string_view> labels);
/// The one text of the labels that a text joins in any order.
[[nodiscard]] inline std::string canonical_labels(std::string_view text) { return join_labels(split_labels(text)); }
/// Whether all labels of `part` are among those of `whole`. Both are canonical.
[[nodiscard]] bool includes_labels(std::string_view whole, std::string_view part);
/// The labels of both texts.
[[nodiscard]] std::string add_labels(std::string_view labels, std::string_view added);
/// The labels of the first text that the other lacks.
[[nodiscard]] std::string remove_labels(std::string_view labels, std::string_view removed);

}  // namespace deltamatch
