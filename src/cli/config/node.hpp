// A YAML file as a tree whose values know where they stand. What configurations do well without is refused by name: anchors,
// aliases, merge keys, tags, several documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/config/problems.hpp"

namespace deltamatch::cli {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { null, text, list, map };
  Kind kind = Kind::null;
  std::size_t line = 1;        ///< from 1: of its key, or in a list its own
  std::string text;            ///< with variables replaced
  std::string written;         ///< as the file has it
  bool faulty = false;         ///< a problem with the text has been told already
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a map, in order; no key twice

  /// Whether the environment or a default has a part in the text: what is not to be shown.
  [[nodiscard]] bool expanded() const noexcept { return text != written; }
  /// Null where there is no such key.
  [[nodiscard]] const Node* find(std::string_view key) const noexcept;
};

struct Entry {
  std::string key;
  Node value;
};

/// Reads one document. Duplicate keys and what is refused go to `problems`. Throws Error(configuration) with line and column
/// where the text is no YAML.
[[nodiscard]] Node parse_yaml(const std::string& text, Problems& problems);

/// The value of a variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();

/// Replaces ${NAME}, ${NAME:-default} (where NAME is unset or empty) and $$ (a $) in all values, never in keys; a $ before
/// anything else stays. Values cannot change the structure: the file has been parsed already.
void expand(Node& node, const Environment& environment, Problems& problems, const std::string& path = "");

/// "input" and "topics" to "input.topics".
[[nodiscard]] std::string join_path(std::string_view path, std::string_view key);
/// "input.topics" and 0 to "input.topics[0]".
[[nodiscard]] std::string join_path(std::string_view path, std::size_t index);

}  // namespace deltamatch::cli
