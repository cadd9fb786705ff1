// The program deltamatch: reads the command line and runs the subcommand. Every failure becomes one line on standard error and
// an exit code.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/nearest.hpp"
#include "base/shortage.hpp"
#include "cli/commands/commands.hpp"
#include "cli/options/help.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "deltamatch/error.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::cli;

int fail(const std::string& message, int code) {
  print_err("deltamatch: " + message + '\n');
  return code;
}

/// Returns the first option among the words that `app` does not know; without one, the first word. CLI11 lists the words from
/// last to first.
std::string unexpected(const CLI::App& app, const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
  });
  if (option == words.end()) return "'" + words.front() + "' is not expected";
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* each : app.get_options()) {
    for (const std::string& word : each->get_lnames()) known.push_back("--" + word);
  }
  const std::string meant = nearest(name, known);
  return "'" + name + "' is not an option" + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(each->get_name());
  return names;
}

/// What is wrong with a word in the place of a command.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  const std::string meant = nearest(word, command_names(app));
  return "'" + word + "' is not known" + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

/// Turns CLI11's outcomes into exit codes. Help and version are answers; everything else is wrong usage.
int parse_outcome(const CLI::App& program, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    std::ostringstream out;
    program.exit(error, out, out);
    print_out(out.str());
    return exit_ok;
  }
  std::string command;
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    command += ' ' + app->get_name();
  }
  const std::string where = command.empty() ? "command line" : command.substr(1);
  // CLI11 reports a missing subcommand before it looks at the word in its place.
  const std::vector<std::string> unknown = app->remaining();
  const bool wrong_word = app->get_require_subcommand_min() > 0 && !unknown.empty();
  // An unknown word may be the missing one, misspelt.
  const bool misspelt = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const std::string what = wrong_word                     ? unknown_command(*app, unknown.front())
                           : misspelt && !unknown.empty() ? unexpected(*app, unknown)
                                                          : error.what();
  return fail(where + ": " + what + "; see deltamatch" + command + " --help", exit_usage);
}

/// Prints what `deltamatch WORDS --help` prints.
int print_help(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::string name = program.get_name();
  for (const std::string& word : words) {
    const CLI::App* command = nullptr;
    for (const CLI::App* each : app->get_subcommands([](const CLI::App*) { return true; })) {
      if (each->get_name() == word) command = each;
    }
    if (command == nullptr) {
      const std::string meant = nearest(word, command_names(*app));
      const std::string remedy = meant.empty() ? "see " + name + " --help" : "did you mean " + meant + "?";
      return fail("help: '" + word + "' is not a command of " + name + "; " + remedy, exit_usage);
    }
    app = command;
    name += ' ' + word;
  }
  print_out(app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal));
  return exit_ok;
}

void add_help(CLI::App& program, Run& run) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* const help = program.add_subcommand("help", "Print this help, or that of a command");
  help->add_option("COMMAND", *words, "Command, e.g. match or generate rmat")->type_name("");
  help->callback([&program, &run, words] { run = [&program, words] { return print_help(program, *words); }; });
}

/// Reports that memory ran out. The remedy depends on the command's options. `program` may not have read its command line yet.
int out_of_memory(const CLI::App& program) {
  const std::vector<CLI::App*> given = program.get_subcommands();
  const bool batches = !given.empty() && given.front()->get_option_no_throw("--batch") != nullptr;
  return fail(std::string("out of memory; use a machine with more memory") + (batches ? ", or a smaller --batch" : ""),
              exit_runtime);
}

int run_program(int argc, char** argv) {
  CLI::App program(
      "Continuous subgraph matching: keeps standing graph patterns over a stream of edge insertions and\n"
      "deletions. After every batch it reports exactly the matches that appeared and that vanished.",
      "deltamatch");
  program.set_version_flag("--version", std::string("deltamatch ") + DELTAMATCH_VERSION);
  program.require_subcommand(1);
  program.formatter(make_help_formatter());
  const Command command(program);
  Run run;
  add_replay(command, run);
  add_match(command, run);
  add_motifs(command, run);
  add_cliques(command, run);
  add_quasi_cliques(command, run);
  add_explain(command, run);
  add_validate(command, run);
  add_convert(command, run);
  add_generate(command, run);
  add_snapshot(command, run);
#ifdef DELTAMATCH_WITH_SERVICE
  add_run(command, run);
  add_test_sink(command, run);
#endif
  add_help(program, run);
  if (argc < 2) return print_help(program, {});
  try {
    program.parse(argc, argv);
    return run();
  } catch (const CLI::ParseError& error) {
    return parse_outcome(program, error);
  } catch (const std::bad_alloc&) {
    return out_of_memory(program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // so a file at its size limit fails like a full disk
  try {
    return run_program(argc, argv);
  } catch (const Error& error) {
    return fail(error.what(), exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    return fail("out of memory; use a machine with more memory", exit_runtime);
  } catch (const std::system_error& error) {
    return fail(is_thread_shortage(error) ? thread_shortage(error).what() : error.what(), exit_runtime);
  } catch (const std::exception& error) {
    return fail(error.what(), exit_runtime);
  }
}
