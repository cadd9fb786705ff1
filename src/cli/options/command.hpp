// Commands and options as the program declares them. This is a front of CLI11, whose header takes seconds to compile: only
// command.cpp and main.cpp include it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace deltamatch::cli {

/// What is to be done once the command line has been read; gives the exit code.
using Run = std::function<int()>;

/// An option that was added; a handle.
class Option {
 public:
  explicit Option(CLI::Option& option) noexcept : option_(&option) {}

  /// The heading under which help shows it.
  Option group(const std::string& name) const;  // NOLINT(modernize-use-nodiscard): chained or not
  Option required() const;                      // NOLINT(modernize-use-nodiscard): chained or not
  Option excludes(const Option& other) const;   // NOLINT(modernize-use-nodiscard): chained or not

 private:
  CLI::Option* option_;
};

/// A command of the program; a handle. Targets of options outlive the reading of the command line.
class Command {
 public:
  explicit Command(CLI::App& app) noexcept : app_(&app) {}

  /// A subcommand; `examples` end its help, without any those of this command do.
  [[nodiscard]] Command add_command(const std::string& name, const std::string& help, const std::string& examples = "") const;
  /// One of the subcommands must be given.
  void require_command() const;
  /// If this is the command that is given, reading the command line leaves `action` in `run`.
  void runs(Run& run, Run action) const;

  /// An argument that is not an option and must be given.
  Option add_argument(const std::string& name, std::string& target, const std::string& help) const;
  Option add_flag(const std::string& name, bool& target, const std::string& help) const;
  Option add_flag(const std::string& name, std::function<void()> set, const std::string& help) const;
  Option add_text(const std::string& name, std::string& target, const std::string& help, const std::string& type) const;
  /// May be given several times, one value each.
  Option add_list(const std::string& name, std::vector<std::string>& target, const std::string& help,
                  const std::string& type) const;
  /// `set` takes the value and throws Error(usage) where it is not one.
  Option add_value(const std::string& name, const std::function<void(const std::string&)>& set, const std::string& help,
                   const std::string& type) const;

 private:
  CLI::App* app_;
};

}  // namespace deltamatch::cli
