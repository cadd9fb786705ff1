// Options as dictionaries of Python. The package's Python code makes them, so each key is there unless it may be left out.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "deltamatch/engine.hpp"
#include "deltamatch/query_options.hpp"
#include "ingest/stream.hpp"
#include "ingest/table/table_source.hpp"

namespace deltamatch::python {

/// A dictionary, as stubs say it.
using Dict = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

[[nodiscard]] EngineOptions engine_options(const nanobind::dict& settings);
/// How matches are told apart and counted. `list`: whether they are listed.
[[nodiscard]] QueryOptions query_options(const nanobind::dict& settings, bool list);

/// A time-out in microseconds. What is longer than a century is one: the clock's range ends some time after.
[[nodiscard]] std::optional<std::chrono::nanoseconds> timeout_of(std::optional<std::int64_t> microseconds);

/// How a table is read.
struct ReadSettings {
  ingest::TableRoles roles;
  ingest::ReadOptions options;
};
[[nodiscard]] ReadSettings read_settings(const nanobind::dict& settings, const EngineOptions& engine);

}  // namespace deltamatch::python
