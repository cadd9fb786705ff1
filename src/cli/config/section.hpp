// A map of a configuration, read key by key. Each problem is reported with its place. A key that nobody asked for is unknown.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
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

/// The variable that a configuration of shards may use: the number of the shard. It need not be set in the environment.
inline constexpr std::string_view shard_variable = "DELTAMATCH_SHARD";

/// What all sections of one configuration file share.
struct ConfigContext {
  Problems problems;
  std::filesystem::path folder;  ///< of the file: relative paths begin here
  std::set<std::string> known;   ///< every key that was asked for, e.g. "input.topics[].name"
  /// A file or topic, and the place that names it.
  struct Use {
    std::size_t line;
    std::string key;
    std::string name;
    bool by_shard = false;  ///< the name has the number of the shard in it (shard_variable)
  };
  std::vector<Use> files_read;
  std::vector<Use> files_written;
  std::vector<Use> topics_read;
  std::vector<Use> topics_written;
  std::vector<Use> templates{};          ///< the name is that of the sink
  std::vector<Use> queries_named{};      ///< outside `queries`
  bool knows_schema = true;              ///< false: what the graph's edges are was refused, so nothing is held against it
  std::optional<std::uint32_t> shard{};  ///< as the command line says
};

/// Reads one map. If a key is absent, or its value is wrong, a getter leaves its target as it is. A wrong value is reported.
/// Getters with a `word` read that word as zero ("never").
class Section {
 public:
  /// `key` is the path for messages, `pattern` the one in ConfigContext::known. A null node, or one without a value, is an
  /// empty map.
  Section(ConfigContext& context, const Node* node, std::size_t line, std::string key, std::string pattern);

  [[nodiscard]] ConfigContext& context() const noexcept { return *context_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] bool present() const noexcept { return node_ != nullptr; }
  [[nodiscard]] bool has(std::string_view key) const noexcept { return node_ != nullptr && node_->find(key) != nullptr; }

  [[nodiscard]] bool is_map(std::string_view key) const noexcept {
    return has(key) && node_->find(key)->kind == Node::Kind::map;
  }

  /// Reports a problem with the whole section, or with one of its keys.
  void refuse(std::string_view what, std::string_view remedy) const;
  void refuse(std::string_view key, std::string_view what, std::string_view remedy) const;
  /// Reports a key that is absent. `example` completes "write e.g. …".
  bool require(std::string_view key, std::string_view example);

  /// The line of a key; if it is absent, that of the section.
  [[nodiscard]] std::size_t line_of(std::string_view key) const noexcept;
  /// Any value; null if the key is absent. The key is known from here on.
  const Node* find(std::string_view key);
  /// The value as text. Null if the key is absent, if its value is no text, or if a problem with it was reported before.
  const Node* find_text(std::string_view key);
  /// The items of a list, or one text as a list of one. Null if the key is absent.
  const Node* find_list(std::string_view key);
  /// The section under a key; an empty one if the key is absent.
  Section section(std::string_view key);
  /// The section at item `index` of the list that find_list returned for `key`.
  [[nodiscard]] Section item(std::string_view key, const Node& node, std::size_t index) const;
  /// The section under a name that the user chose: an entry of this map.
  [[nodiscard]] Section named(const Entry& entry) const;
  /// The entries of this map, whose keys are names that the user chose.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept;

  bool text(std::string_view key, std::string& target);
  /// A text that is not empty.
  bool name(std::string_view key, std::string& target);
  /// A text that may be secret. It is written here, or is the contents of {file: PATH} without the last line end.
  bool secret(std::string_view key, std::string& target);
  bool path(std::string_view key, std::filesystem::path& target);
  /// The path of a file that is read. Reports a file that is not there.
  bool input_file(std::string_view key, std::filesystem::path& target);
  bool flag(std::string_view key, bool& target);
  bool number(std::string_view key, std::uint64_t& target, std::uint64_t least,
              std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), std::string_view word = {});
  bool fraction(std::string_view key, double& target, double least, double most, std::string_view word = {});
  bool size(std::string_view key, std::uint64_t& target, std::uint64_t least,
            std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), std::string_view word = {});
  /// A duration in microseconds.
  bool duration(std::string_view key, Timestamp& target, Timestamp least, Timestamp most, std::string_view word = {});
  template <typename Rep, typename Period>
  bool duration(std::string_view key, std::chrono::duration<Rep, Period>& target, std::chrono::duration<Rep, Period> least,
                std::chrono::duration<Rep, Period> most, std::string_view word = {});
  template <typename Value>
  bool choice(std::string_view key, Value& target,
              std::span<const std::pair<std::string_view, std::type_identity_t<Value>>> choices);

  /// Adds the file or topic that the key names to one of the lists of ConfigContext.
  void note(std::vector<ConfigContext::Use> ConfigContext::* list, std::string_view key, const std::string& name) const;

  /// Reports keys that nobody asked for.
  void finish() const;

  /// The text of a node as messages may show it: as the file has it, without the values of variables.
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

  ConfigContext* context_;
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
