// Kinds of options beyond CLI11's own: each adds one option whose value is checked by the program's own rules, so that messages
// read alike. (CLI11 would read 010 as 8 and clamp what is beyond 64 bits.)
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::cli {

/// A whole number; `Number` may be an optional.
template <typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& target, const std::string& help,
                        std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return command
      .add_option_function<std::string>(
          name,
          [&target, name, least, most](const std::string& text) { target = Number(parse_number(text, name, least, most)); },
          help)
      ->type_name("N");
}

inline CLI::Option* add_fraction(CLI::App& command, const std::string& name, double& target, const std::string& help,
                                 double least, double most) {
  return command
      .add_option_function<std::string>(
          name, [&target, name, least, most](const std::string& text) { target = parse_fraction(text, name, least, most); },
          help)
      ->type_name("X");
}

inline CLI::Option* add_duration(CLI::App& command, const std::string& name, Timestamp& target, const std::string& help) {
  return command
      .add_option_function<std::string>(
          name, [&target, name](const std::string& text) { target = parse_duration(text, name); }, help)
      ->type_name("TIME");
}

/// One of a few words, each standing for a value; `Value` may be what an optional holds.
template <typename Target, typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Target& target, const std::string& help,
                        std::vector<std::pair<std::string, Value>> choices) {
  std::string words;
  for (const auto& choice : choices) words += (words.empty() ? "" : "|") + choice.first;
  return command
      .add_option_function<std::string>(
          name,
          [&target, name, words, choices = std::move(choices)](const std::string& text) {
            for (const auto& [word, value] : choices) {
              if (word == text) {
                target = value;
                return;
              }
            }
            throw Error(ErrorKind::usage, name, "'" + text + "' is not offered", "choose one of " + words);
          },
          help)
      ->type_name(words);
}

/// An option that may be given several times, one value each.
inline CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& target,
                             const std::string& help, const std::string& type) {
  return command.add_option(name, target, help)->allow_extra_args(false)->expected(1)->take_all()->type_name(type);
}

inline CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& target, const std::string& help,
                             const std::string& type) {
  return command.add_option(name, target, help)->type_name(type);
}

}  // namespace deltamatch::cli
