// Tables of results, as Python takes them.
#pragma once

#include <nanobind/nanobind.h>

#include "ingest/table/array_builder.hpp"

namespace deltamatch::python {

void bind_table(nanobind::module_& module);

}  // namespace deltamatch::python
