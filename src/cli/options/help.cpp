#include "cli/options/help.hpp"

#include <CLI/CLI.hpp>

#include <sstream>
#include <utility>
#include <vector>

namespace deltamatch::cli {
namespace {

constexpr std::size_t left_columns = 34;
constexpr std::size_t columns = 100;

/// Breaks a text at its blanks into lines that fit beside the left columns, and that begin behind them.
std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  std::size_t column = left_columns;
  for (std::string word; words >> word;) {
    if (out.empty()) {
      column += word.size();
    } else if (column + 1 + word.size() <= columns) {
      out += ' ';
      column += 1 + word.size();
    } else {
      out += '\n' + std::string(left_columns, ' ');
      column = left_columns + word.size();
    }
    out += word;
  }
  return out;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return '\n' + CLI::Formatter::make_usage(app, std::move(name)) + '\n';
  }

  std::string make_positionals(const CLI::App* app) const override {
    const std::string group = CLI::Formatter::make_positionals(app);
    return group.empty() ? group : group + '\n';
  }

  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }

  /// The type of the value. Which options exclude each other is said by their meanings.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) {
      if (const std::string type = option->get_type_name(); !type.empty()) text += ' ' + type;
      if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
      if (option->get_required()) text += " (required)";
    }
    return text;
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }

 private:
  static std::string entry(const std::string& name, const std::string& meaning) {
    std::string text = "  " + name;
    text += text.size() < left_columns ? std::string(left_columns - text.size(), ' ') : '\n' + std::string(left_columns, ' ');
    return text + wrapped(meaning) + '\n';
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace deltamatch::cli
