#include <algorithm>

#include "deltamatch/labels.hpp"

namespace deltamatch {

std::vector<std::string_view> split_labels(std::string_view text, char separator) {
  std::vector<std::string_view> labels;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    labels.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return labels;
}

std::string join_labels(std::vector<std::string_view> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::string text;
  for (const std::string_view label : labels) {
    if (label.empty()) continue;
    if (!text.empty()) text += label_separator;
    text += label;
  }
  return text;
}

bool includes_labels(std::string_view whole, std::string_view part) {
  if (part.empty()) return true;
  const auto all = split_labels(whole);
  const auto wanted = split_labels(part);
  return std::includes(all.begin(), all.end(), wanted.begin(), wanted.end());
}

std::string add_labels(std::string_view labels, std::string_view added) {
  auto all = split_labels(labels);
  for (const std::string_view label : split_labels(added)) all.push_back(label);
  return join_labels(std::move(all));
}

std::string remove_labels(std::string_view labels, std::string_view removed) {
  auto left = split_labels(labels);
  const auto gone = split_labels(removed);
  std::erase_if(left, [&](std::string_view label) { return std::find(gone.begin(), gone.end(), label) != gone.end(); });
  return join_labels(std::move(left));
}

}  // namespace deltamatch
