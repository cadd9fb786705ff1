// A YAML file as a tree whose values know their places. It refuses by name what a configuration does not need: anchors,
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
  std::size_t line = 1;        ///< from 1: of its key; of an item, its own
  std::string text;            ///< with variables replaced
  std::string written;         ///< as the file has it
  bool faulty = false;         ///< a problem with the text has been reported already
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a map, in order; no key twice

  /// Whether the environment or a default is part of the text. Such a text is not shown.
  [[nodiscard]] bool expanded() const noexcept { return text != written; }
  /// Null if there is no such key.
  [[nodiscard]] const Node* find(std::string_view key) const noexcept;
};

struct Entry {
  std::string key;
  Node value;
};

/// Reads one document. Duplicate keys, and what is refused by name, go to `problems`. If the text is no YAML, throws
/// Error(configuration) with line and column.
[[nodiscard]] Node parse_yaml(const std::string& text, Problems& problems);

/// Reads one JSON value strictly, as a tree of the same form. Numbers, true and false are texts as they were written. Duplicate
/// keys go to `problems`. Throws Error(configuration) with line and column if the text is no JSON, or nested too deeply.
[[nodiscard]] Node parse_json(std::string_view text, Problems& problems);

/// Returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();

/// Replaces ${NAME}, ${NAME:-default} (if NAME is unset or empty) and $$ (a $) in all values, never in keys. A $ before
/// anything else stays. Values cannot change the structure, because the file has been parsed already.
void expand(Node& node, const Environment& environment, Problems& problems, const std::string& path = "");

/// Joins "input" and "topics" to "input.topics".
[[nodiscard]] std::string join_path(std::string_view path, std::string_view key);
/// Joins "input.topics" and 0 to "input.topics[0]".
[[nodiscard]] std::string join_path(std::string_view path, std::size_t index);

}  // namespace deltamatch::cli
