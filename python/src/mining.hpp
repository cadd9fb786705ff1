// Motifs and cliques as tables.
#pragma once

#include <nanobind/nanobind.h>

namespace deltamatch::python {

void bind_mining(nanobind::module_& module);

}  // namespace deltamatch::python
