#include "cli/config/section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/nearest.hpp"
#include "cli/options/small_file.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {
namespace {

std::string_view kind_name(Node::Kind kind) noexcept {
  switch (kind) {
    case Node::Kind::text:
      return "a single value";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::null:
      break;
  }
  return "empty";
}

std::string_view kind_remedy(Node::Kind kind) noexcept {
  switch (kind) {
    case Node::Kind::list:
      return "write a list: [one, other], or one item a line after '- '";
    case Node::Kind::map:
      return "write keys and values: {key: value}, or one a line, indented";
    default:
      return "write one value, or leave the key out for its default";
  }
}

std::string with_word(std::string_view remedy, std::string_view word) {
  return word.empty() ? std::string(remedy) : fmt::format("{}, or {}", remedy, word);
}

}  // namespace

Section::Section(ConfigContext& context, const Node* node, std::size_t line, std::string key, std::string pattern)
    : context_(&context), node_(node), line_(line), key_(std::move(key)), pattern_(std::move(pattern)) {
  if (node_ == nullptr || node_->kind == Node::Kind::map) return;
  if (node_->kind != Node::Kind::null) {
    refuse(fmt::format("this is {}, but a map of keys is needed", kind_name(node_->kind)), kind_remedy(Node::Kind::map));
  }
  node_ = nullptr;
}

void Section::refuse(std::string_view what, std::string_view remedy) const {
  context_->problems.add(line_, key_, what, remedy);
}

void Section::refuse(std::string_view key, std::string_view what, std::string_view remedy) const {
  context_->problems.add(line_of(key), join_path(key_, key), what, remedy);
}

std::size_t Section::line_of(std::string_view key) const noexcept {
  const Node* const node = node_ == nullptr ? nullptr : node_->find(key);
  return node == nullptr ? line_ : node->line;
}

void Section::note(std::vector<ConfigContext::Use> ConfigContext::* list, std::string_view key, const std::string& name) const {
  const Node* const node = node_ == nullptr ? nullptr : node_->find(key);
  const auto has = [&](std::string_view end) {
    if (node == nullptr) return false;
    const std::string variable = fmt::format("${{{}{}", shard_variable, end);
    for (std::size_t at = node->written.find(variable); at != std::string::npos; at = node->written.find(variable, at + 1)) {
      if (at == 0 || node->written[at - 1] != '$') return true;  // $${…} is no variable
    }
    return false;
  };
  const bool by_shard = has("}") || has(":-");
  (context_->*list).push_back({line_of(key), join_path(key_, key), name, by_shard});
}

void Section::refuse(const Node& node, std::string_view key, std::string_view what, std::string_view remedy,
                     std::string_view word) const {
  context_->problems.add(node.line, join_path(key_, key), what, with_word(remedy, word));
}

bool Section::require(std::string_view key, std::string_view example) {
  if (find(key) != nullptr) return true;
  refuse(key, "this key is missing", fmt::format("write e.g. {}", example));
  return false;
}

const Node* Section::find(std::string_view key) {
  asked_.emplace(key);
  context_->known.insert(join_path(pattern_, key));
  return node_ == nullptr ? nullptr : node_->find(key);
}

const Node* Section::expect(std::string_view key, Node::Kind kind) {
  const Node* const node = find(key);
  if (node == nullptr || node->faulty) return nullptr;
  if (node->kind == kind) return node;
  refuse(*node, key, fmt::format("this is {}, but {} is needed", kind_name(node->kind), kind_name(kind)), kind_remedy(kind));
  return nullptr;
}

const Node* Section::find_text(std::string_view key) { return expect(key, Node::Kind::text); }

const Node* Section::find_list(std::string_view key) { return expect(key, Node::Kind::list); }

Section Section::section(std::string_view key) {
  const Node* const node = find(key);
  return {*context_, node, node == nullptr ? line_ : node->line, join_path(key_, key), join_path(pattern_, key)};
}

Section Section::item(std::string_view key, const Node& node, std::size_t index) const {
  return {*context_, &node.items[index], node.items[index].line, join_path(join_path(key_, key), index),
          join_path(pattern_, key) + "[]"};
}

Section Section::named(const Entry& entry) const {
  return {*context_, &entry.value, entry.value.line, join_path(key_, entry.key), join_path(pattern_, "*")};
}

const std::vector<Entry>& Section::entries() const noexcept {
  static const std::vector<Entry> none;
  return node_ == nullptr ? none : node_->entries;
}

bool Section::text(std::string_view key, std::string& target) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  target = node->text;
  return true;
}

bool Section::name(std::string_view key, std::string& target) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  if (node->text.empty()) {
    refuse(*node, key, "this is empty", kind_remedy(Node::Kind::text));
    return false;
  }
  target = node->text;
  return true;
}

bool Section::secret(std::string_view key, std::string& target) {
  const Node* const node = find(key);
  if (node == nullptr || node->kind != Node::Kind::map) return text(key, target);
  Section from = section(key);
  std::filesystem::path file;
  const bool found = from.require("file", "{file: /run/secrets/name}") && from.path("file", file);
  from.finish();
  if (!found) return false;
  try {
    std::string contents = read_small_file(file, "the value");
    if (contents.ends_with('\n')) contents.pop_back();
    if (contents.ends_with('\r')) contents.pop_back();
    target = std::move(contents);
    from.note(&ConfigContext::files_read, "file", file.string());
    return true;
  } catch (const Error& error) {
    from.refuse("file", error.what(), "");
    return false;
  }
}

bool Section::path(std::string_view key, std::filesystem::path& target) {
  std::string text;
  if (!name(key, text)) return false;
  target = (context_->folder / text).lexically_normal();
  return true;
}

bool Section::input_file(std::string_view key, std::filesystem::path& target) {
  if (!path(key, target)) return false;
  std::error_code error;
  if (std::filesystem::is_regular_file(target, error)) {
    note(&ConfigContext::files_read, key, target.string());
    return true;
  }
  refuse(key, fmt::format("there is no file {}", target.string()),
         "check the path; a relative one begins at the folder of the configuration");
  return false;
}

bool Section::flag(std::string_view key, bool& target) {
  constexpr std::pair<std::string_view, bool> words[] = {{"true", true}, {"false", false}};
  return choice(key, target, words);
}

bool Section::number(std::string_view key, std::uint64_t& target, std::uint64_t least, std::uint64_t most,
                     std::string_view word) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  const auto read = is_zero(*node, word) ? 0 : read_number(node->text, least, most);
  if (read) target = *read;
  if (!read) refuse(*node, key, fmt::format("{} is not accepted", shown(*node)), number_remedy(node->text, least, most), word);
  return read.has_value();
}

bool Section::fraction(std::string_view key, double& target, double least, double most, std::string_view word) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  const auto read = is_zero(*node, word) ? 0 : read_fraction(node->text, least, most);
  if (read) target = *read;
  if (!read) refuse(*node, key, fmt::format("{} is not accepted", shown(*node)), fraction_remedy(least, most), word);
  return read.has_value();
}

bool Section::size(std::string_view key, std::uint64_t& target, std::uint64_t least, std::uint64_t most,
                   std::string_view word) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  const auto read = is_zero(*node, word) ? 0 : read_size(node->text);
  if (!read) {
    refuse(*node, key, fmt::format("{} is not a size", shown(*node)), size_remedy, word);
  } else if (!is_zero(*node, word) && (*read < least || *read > most)) {
    refuse(*node, key, fmt::format("{} is out of range", shown(*node)),
           most == std::numeric_limits<std::uint64_t>::max()
               ? fmt::format("write a size from {} up", size_text(least))
               : fmt::format("write a size from {} to {}", size_text(least), size_text(most)),
           word);
  } else {
    target = *read;
    return true;
  }
  return false;
}

bool Section::duration(std::string_view key, Timestamp& target, Timestamp least, Timestamp most, std::string_view word) {
  return duration_in(key, target, 1, least, most, word);
}

bool Section::duration_in(std::string_view key, Timestamp& target, Timestamp unit, Timestamp least, Timestamp most,
                          std::string_view word) {
  const Node* const node = find_text(key);
  if (node == nullptr) return false;
  const auto read = is_zero(*node, word) ? 0 : read_duration(node->text);
  if (!read) {
    refuse(*node, key, fmt::format("{} {}", shown(*node), duration_flaw(node->text)), duration_remedy, word);
  } else if (!is_zero(*node, word) && (*read < least || *read > most)) {
    refuse(*node, key, fmt::format("{} is out of range", shown(*node)),
           fmt::format("write a duration from {} to {}", duration_text(least), duration_text(most)), word);
  } else if (*read % unit != 0) {
    refuse(*node, key, fmt::format("{} is too precise", shown(*node)),
           fmt::format("write a multiple of {}", duration_text(unit)));
  } else {
    target = *read;
    return true;
  }
  return false;
}

std::size_t Section::choose(std::string_view key, const std::vector<std::string_view>& words) {
  const Node* const node = find_text(key);
  if (node == nullptr) return words.size();
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found == words.end()) {
    refuse(*node, key, fmt::format("{} is not a choice", shown(*node)), fmt::format("choose one of {}", fmt::join(words, "|")));
  }
  return static_cast<std::size_t>(found - words.begin());
}

void Section::finish() const {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const Entry& entry : entries()) {
    if (asked_.contains(entry.key)) continue;
    const std::string meant = nearest(entry.key, known);
    refuse(
        entry.key, "this key does not exist",
        meant.empty() ? fmt::format("the keys here are {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", meant));
  }
}

std::string Section::shown(const Node& node) {
  constexpr std::size_t most = 60;
  const std::string& text = node.written;
  return text.size() <= most ? fmt::format("'{}'", text) : fmt::format("'{}…'", text.substr(0, most));
}

}  // namespace deltamatch::cli
