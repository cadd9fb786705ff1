// Columns of objects of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "ingest/table/table_reader.hpp"

namespace deltamatch::python {

/// A column of a list, or of an array of numpy that holds objects. If all are texts or missing, their texts are copied side by
/// side: each object is touched once, and reading rows touches none. Other columns become cells, whose texts are read where
/// Python keeps them. An object that cannot be read is Cell::Kind::other, so its row is refused if its column counts.
[[nodiscard]] ingest::TableColumn column_of_objects(const std::string& name, const nanobind::object& values);

}  // namespace deltamatch::python
