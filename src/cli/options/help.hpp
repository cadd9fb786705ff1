// The form of the help that `--help` and `deltamatch help` print.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}  // namespace CLI

namespace deltamatch::cli {

/// Prints options with their values left and their meanings right, in lines of at most 100 columns.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> make_help_formatter();

}  // namespace deltamatch::cli
