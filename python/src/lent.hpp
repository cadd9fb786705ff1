// Memory of Python, lent to readers of tables.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "ingest/table/table_reader.hpp"

namespace deltamatch::python {

/// Keeps an object of Python until the memory that it lends is no longer read. That may end in any thread.
[[nodiscard]] std::shared_ptr<void> keep(nanobind::object object);

/// The buffers of an Arrow array: which rows have values (or nothing, if all have), then the values, then bytes of texts.
using Buffers = std::array<const void*, 3>;

/// A column of an Arrow array in memory that `keeps` holds. `format` is a text that stays.
[[nodiscard]] ingest::TableColumn lend(const std::string& name, const char* format, std::int64_t length, const Buffers& buffers,
                                       std::shared_ptr<void> keeps);

}  // namespace deltamatch::python
