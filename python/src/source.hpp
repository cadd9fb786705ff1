// Tables of Python as sources of rows.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>

#include "ingest/table/table_reader.hpp"

namespace deltamatch::python {

/// A table that has not been read yet. It is read once.
class Source {
 public:
  explicit Source(std::unique_ptr<ingest::TableReader> table) : table_(std::move(table)) {}

  [[nodiscard]] const ingest::TableReader& table() const;
  /// Throws Error(usage) if it has been taken before.
  [[nodiscard]] std::unique_ptr<ingest::TableReader> take();

 private:
  std::unique_ptr<ingest::TableReader> table_;
};

void bind_source(nanobind::module_& module);

}  // namespace deltamatch::python
