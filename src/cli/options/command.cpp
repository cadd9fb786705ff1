#include "cli/options/command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::cli {
namespace {

constexpr std::string_view file_type = "FILE";

/// Refuses an empty name, which is mostly an unset variable of the shell.
CLI::Option* named(const std::string& name, CLI::Option& option) {
  return option.check([name](const std::string& value) {
    if (value.empty()) throw Error(ErrorKind::usage, name, "the name is empty", "name a file");
    return std::string();
  });
}

}  // namespace

Option Option::group(const std::string& name) const {
  option_->group(name);
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

std::string Command::given(std::span<const std::string_view> except) const {
  std::string text;
  for (const CLI::Option* option : app_->get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_positional() || std::ranges::find(except, name) != except.end()) continue;
    for (const std::string& value : option->results()) {
      text += ' ' + name;
      if (option->get_items_expected_max() > 0) text += ' ' + ingest::shell_quoted(value);
    }
  }
  return text;
}

Command Command::add_command(const std::string& name, const std::string& help, const std::string& examples) const {
  CLI::App* const command = app_->add_subcommand(name, help);
  if (!examples.empty()) command->footer(examples);
  return Command(*command);
}

void Command::require_command() const { app_->require_subcommand(1); }

void Command::runs(Run& run, Run action) const {
  app_->callback([&run, action = std::move(action)] { run = action; });
}

Option Command::add_argument(const std::string& name, std::string& target, const std::string& help) const {
  return Option(*named(name, *app_->add_option(name, target, help)->required()->type_name("")));
}

Option Command::add_flag(const std::string& name, bool& target, const std::string& help) const {
  return Option(*app_->add_flag(name, target, help));
}

Option Command::add_flag(const std::string& name, std::function<void()> set, const std::string& help) const {
  return Option(*app_->add_flag_callback(name, std::move(set), help));
}

Option Command::add_text(const std::string& name, std::string& target, const std::string& help, const std::string& type) const {
  CLI::Option& option = *app_->add_option(name, target, help)->type_name(type);
  return Option(type == file_type ? *named(name, option) : option);
}

Option Command::add_list(const std::string& name, std::vector<std::string>& target, const std::string& help,
                         const std::string& type) const {
  CLI::Option& option =
      *app_->add_option(name, target, help)->allow_extra_args(false)->expected(1)->take_all()->type_name(type);
  return Option(type == file_type ? *named(name, option) : option);
}

Option Command::add_value(const std::string& name, const std::function<void(const std::string&)>& set, const std::string& help,
                          const std::string& type) const {
  return Option(*app_->add_option_function<std::string>(name, set, help)->type_name(type));
}

}  // namespace deltamatch::cli
