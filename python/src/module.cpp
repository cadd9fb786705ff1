// The extension module deltamatch._core. The package's Python code is what users see.
#include <nanobind/nanobind.h>

#include "engine.hpp"
#include "errors.hpp"
#include "mining.hpp"
#include "query.hpp"
#include "source.hpp"
#include "table.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The library of deltamatch. Use the package deltamatch, which wraps it.";
  // At the end of the interpreter, a generator that feeds a frame may keep the names of a program alive, and so an engine.
  nanobind::set_leak_warnings(false);
  deltamatch::python::translate_errors();
  deltamatch::python::bind_table(module);
  deltamatch::python::bind_source(module);
  deltamatch::python::bind_query(module);
  deltamatch::python::bind_engine(module);
  deltamatch::python::bind_mining(module);
}
