// Errors of the library as exceptions of Python.
#pragma once

#include <nanobind/nanobind.h>

namespace deltamatch::python {

/// From here on, errors that the module throws become exceptions of deltamatch.errors. Their texts are those of the program.
void translate_errors();

/// The parts of an error's text: "where: what; remedy".
struct ErrorParts {
  std::string where;
  std::string what;
  std::string remedy;
};
[[nodiscard]] ErrorParts take_apart(std::string_view text);

}  // namespace deltamatch::python
