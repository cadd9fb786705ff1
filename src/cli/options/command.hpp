// Declares commands and options of the program. This wraps CLI11, whose header takes seconds to compile. So only command.cpp
// and main.cpp include it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace deltamatch::cli {

/// The work to do after the command line has been read. Returns the exit code.
using Run = std::function<int()>;

/// A handle of an option that was added.
class Option {
 public:
  explicit Option(CLI::Option& option) noexcept : option_(&option) {}

  /// The heading for it in the help.
  Option group(const std::string& name) const;  // NOLINT(modernize-use-nodiscard): chained or not
  Option required() const;                      // NOLINT(modernize-use-nodiscard): chained or not
  Option excludes(const Option& other) const;   // NOLINT(modernize-use-nodiscard): chained or not

 private:
  CLI::Option* option_;
};

/// A handle of a command of the program. The targets of options must outlive the reading of the command line.
class Command {
 public:
  explicit Command(CLI::App& app) noexcept : app_(&app) {}

  /// The options that were given, except some, as they can be written again: " --edges events". Each begins with a blank. Call
  /// it when the command runs.
  [[nodiscard]] std::string given(std::span<const std::string_view> except) const;

  /// Adds a subcommand. Its help ends with `examples`, or without any with the examples of this command.
  [[nodiscard]] Command add_command(const std::string& name, const std::string& help, const std::string& examples = "") const;
  /// Requires one of the subcommands.
  void require_command() const;
  /// If this command is given, reading the command line puts `action` into `run`.
  void runs(Run& run, Run action) const;

  /// An argument that is not an option, and that must be given.
  Option add_argument(const std::string& name, std::string& target, const std::string& help) const;
  Option add_flag(const std::string& name, bool& target, const std::string& help) const;
  Option add_flag(const std::string& name, std::function<void()> set, const std::string& help) const;
  Option add_text(const std::string& name, std::string& target, const std::string& help, const std::string& type) const;
  /// It may be given several times, with one value each.
  Option add_list(const std::string& name, std::vector<std::string>& target, const std::string& help,
                  const std::string& type) const;
  /// `set` takes the value. It throws Error(usage) if the value is wrong.
  Option add_value(const std::string& name, const std::function<void(const std::string&)>& set, const std::string& help,
                   const std::string& type) const;

 private:
  CLI::App* app_;
};

}  // namespace deltamatch::cli
