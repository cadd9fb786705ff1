// Patterns as objects of Python.
#pragma once

#include <nanobind/nanobind.h>

#include "deltamatch/query.hpp"

namespace deltamatch::python {

/// A parsed pattern, and its place in messages.
struct Pattern {
  Query query;
  std::string where;
};

void bind_query(nanobind::module_& module);

}  // namespace deltamatch::python
