// The definitions of queries that are made over HTTP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/config/service_config.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::cli {

/// Reads a definition as QueryHandlers::define: one JSON object with the keys of an entry of `queries`, except those that name
/// files. `config` says which sinks, attributes and budget there are. Throws QueryRefusal: 400 for what is no JSON object or
/// has a key twice, 422 for all else.
[[nodiscard]] ingest::ServiceQuery read_definition(std::string_view json, const std::optional<std::string>& name,
                                                   const ServiceConfig& config);

/// The plans of a query in a service with this configuration, as `deltamatch explain` shows them without a graph.
[[nodiscard]] std::string plan_of(const ingest::ServiceQuery& query, const ServiceConfig& config);

}  // namespace deltamatch::cli
