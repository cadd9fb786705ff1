// A map of a configuration, read key by key: what is wrong is told with its place, and what was not asked for is unknown.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/config/node.hpp"
#include "cli/terminal/values.hpp"

namespace deltamatch::cli {

/// What the reading of one file shares.
struct Reading {
  Problems problems;
  std::filesystem::path folder;  ///< of the file: what relative paths begin at
  std::set<std::string> known;   ///< every key that was asked for, e.g. "input.topics[].name"
  /// A file or topic, and the place that names it.
  struct Use {
    std::size_t line;
    std::string key;
    std::string name;
  };
  std::vector<Use> files_read;
  std::vector<Use> files_written;
  std::vector<Use> topics_read;
  std::vector<Use> topics_written;
};

/// Getters leave their target as it is where the key is absent or its value is wrong, which is then told. Those with a `word`
/// take it for zero ("never").
class Section {
 public:
  /// `key` is the path in messages, `pattern` that of Reading::known. A null node or one without a value is an empty map.
  Section(Reading& reading, const Node* node, std::size_t line, std::string key, std::string pattern);

  [[nodiscard]] Reading& reading() const noexcept { return *reading_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] bool has(std::string_view key) const noexcept { return node_ != nullptr && node_->find(key) != nullptr; }

  [[nodiscard]] bool is_map(std::string_view key) const noexcept {
    return has(key) && node_->find(key)->kind == Node::Kind::map;
  }

  /// A problem with the section as a whole, or with a key of it.
  void refuse(std::string_view what, std::string_view remedy) const;
  void refuse(std::string_view key, std::string_view what, std::string_view remedy) const;
  /// Tells where the key is absent; `example` completes "write e.g. …".
  bool require(std::string_view key, std::string_view example);

  /// The line of a key, or where it is absent that of the section.
  [[nodiscard]] std::size_t line_of(std::string_view key) const noexcept;
  /// The value, whatever it is; null where the key is absent. From here on the key is known.
  const Node* find(std::string_view key);
  /// The value as text; null where it is absent, or none, or something was wrong with it already.
  const Node* find_text(std::string_view key);
  /// The items of a list, or one text as a list of one; null where the key is absent.
  const Node* find_list(std::string_view key);
  /// Absent: an empty one.
  Section section(std::string_view key);
  /// The section at item `index` of what find_list gave for `key`.
  [[nodiscard]] Section item(std::string_view key, const Node& node, std::size_t index) const;
  /// The section under a name that is the user's: an entry of this map.
  [[nodiscard]] Section named(const Entry& entry) const;
  /// The entries of this map, whose keys are names that the user gives.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept;

  bool text(std::string_view key, std::string& target);
  /// Not empty.
  bool name(std::string_view key, std::string& target);
  /// A text that may be secret: written here, or {file: PATH} whose contents it is, less a line end.
  bool secret(std::string_view key, std::string& target);
  bool path(std::string_view key, std::filesystem::path& target);
  /// A path of a file that is read. Tells where there is none.
  bool input_file(std::string_view key, std::filesystem::path& target);
  bool flag(std::string_view key, bool& target);
  bool number(std::string_view key, std::uint64_t& target, std::uint64_t least,
              std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), std::string_view word = {});
  bool fraction(std::string_view key, double& target, double least, double most, std::string_view word = {});
  bool size(std::string_view key, std::uint64_t& target, std::uint64_t least,
            std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), std::string_view word = {});
  /// In microseconds.
  bool duration(std::string_view key, Timestamp& target, Timestamp least, Timestamp most, std::string_view word = {});
  template <typename Rep, typename Period>
  bool duration(std::string_view key, std::chrono::duration<Rep, Period>& target, std::chrono::duration<Rep, Period> least,
                std::chrono::duration<Rep, Period> most, std::string_view word = {});
  template <typename Value>
  bool choice(std::string_view key, Value& target,
              std::span<const std::pair<std::string_view, std::type_identity_t<Value>>> choices);

  /// Notes in one of the lists of Reading that the key names a file or topic.
  void note(std::vector<Reading::Use> Reading::* list, std::string_view key, const std::string& name) const;

  /// Tells of keys that nobody asked for.
  void finish() const;

  /// The text of a node as messages may show it: as the file has it, not what a variable holds.
  [[nodiscard]] static std::string shown(const Node& node);

 private:
  const Node* expect(std::string_view key, Node::Kind kind);
  [[nodiscard]] static bool is_zero(const Node& node, std::string_view word) noexcept {
    return !word.empty() && node.text == word;
  }
  void refuse(const Node& node, std::string_view key, std::string_view what, std::string_view remedy,
              std::string_view word = {}) const;
  bool duration_in(std::string_view key, Timestamp& target, Timestamp unit, Timestamp least, Timestamp most,
                   std::string_view word);
  std::size_t choose(std::string_view key, const std::vector<std::string_view>& words);

  Reading* reading_;
  const Node* node_;  // a map, or null
  std::size_t line_;
  std::string key_;
  std::string pattern_;
  std::set<std::string, std::less<>> asked_;
};

template <typename Rep, typename Period>
bool Section::duration(std::string_view key, std::chrono::duration<Rep, Period>& target,
                       std::chrono::duration<Rep, Period> least, std::chrono::duration<Rep, Period> most,
                       std::string_view word) {
  using Duration = std::chrono::duration<Rep, Period>;
  const auto micros = [](Duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d).count(); };
  Timestamp read = 0;
  if (!duration_in(key, read, micros(Duration(1)), micros(least), micros(most), word)) return false;
  target = std::chrono::duration_cast<Duration>(std::chrono::microseconds(read));
  return true;
}

template <typename Value>
bool Section::choice(std::string_view key, Value& target,
                     std::span<const std::pair<std::string_view, std::type_identity_t<Value>>> choices) {
  std::vector<std::string_view> words;
  for (const auto& entry : choices) words.push_back(entry.first);
  const std::size_t chosen = choose(key, words);
  if (chosen == choices.size()) return false;
  target = choices[chosen].second;
  return true;
}

}  // namespace deltamatch::cli
