// Kinds of options beyond those of CLI11. Each adds one option whose value is checked by the program's own rules, so that
// messages read alike. (CLI11 would read 010 as 8, and clamp numbers beyond 64 bits.)
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/command.hpp"
#include "cli/terminal/values.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {

/// A whole number; `Number` may be an optional.
template <typename Number>
Option add_number(const Command& command, const std::string& name, Number& target, const std::string& help, std::uint64_t least,
                  std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return command.add_value(
      name, [&target, name, least, most](const std::string& text) { target = Number(parse_number(text, name, least, most)); },
      help, "N");
}

inline Option add_fraction(const Command& command, const std::string& name, double& target, const std::string& help,
                           double least, double most) {
  return command.add_value(
      name, [&target, name, least, most](const std::string& text) { target = parse_fraction(text, name, least, most); }, help,
      "X");
}

inline Option add_duration(const Command& command, const std::string& name, Timestamp& target, const std::string& help) {
  return command.add_value(
      name, [&target, name](const std::string& text) { target = parse_duration(text, name); }, help, "TIME");
}

inline Option add_size(const Command& command, const std::string& name, std::size_t& target, const std::string& help) {
  return command.add_value(name, [&target, name](const std::string& text) { target = parse_size(text, name); }, help, "BYTES");
}

/// One of a few words, each for a value. If `Target` is an optional, `Value` may be what it holds. `aliases` are taken as well,
/// but not offered.
template <typename Target, typename Value>
Option add_choice(const Command& command, const std::string& name, Target& target, const std::string& help,
                  std::vector<std::pair<std::string, Value>> choices,
                  const std::vector<std::pair<std::string, Value>>& aliases = {}) {
  std::string words;
  for (const auto& choice : choices) words += (words.empty() ? "" : "|") + choice.first;
  choices.insert(choices.end(), aliases.begin(), aliases.end());
  return command.add_value(
      name,
      [&target, name, words, choices = std::move(choices)](const std::string& text) {
        for (const auto& [word, value] : choices) {
          if (word == text) {
            target = value;
            return;
          }
        }
        throw Error(ErrorKind::usage, name, "'" + text + "' is not a choice", "choose one of " + words);
      },
      help, words);
}

}  // namespace deltamatch::cli
