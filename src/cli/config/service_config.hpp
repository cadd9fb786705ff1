// The configuration file of the service. config/service.yaml documents every key.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/config/node.hpp"
#include "cli/options/backend_options.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::cli {

struct ServiceConfig {
  ingest::ServiceOptions service;  ///< engine.backend is null: `backend` says which one to make
  BackendOptions backend;
  std::vector<std::string> warnings;  ///< "file:line: key: what; remedy"
};

/// Reads a configuration and everything it names: queries, secrets. Relative paths in it begin at its folder. Nothing is
/// started, made or written and nobody is contacted. Throws Error(configuration) that lists what is wrong with it, up to ten
/// places with file, line, key and remedy. No message holds a secret: a header, a URL, a property of Kafka that is one, with
/// what a variable or a file holds of it. A value that is wrong is shown as the file has it.
[[nodiscard]] ServiceConfig read_service_config(const std::filesystem::path& file,
                                                const Environment& environment = process_environment());

/// What would run, for people: input, batches, sinks, queries with the number of their plans. Holds no secret.
[[nodiscard]] std::string summary(const ServiceConfig& config);

}  // namespace deltamatch::cli
