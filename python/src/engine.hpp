// The engine as an object of Python.
#pragma once

#include <nanobind/nanobind.h>

namespace deltamatch::python {

void bind_engine(nanobind::module_& module);

}  // namespace deltamatch::python
