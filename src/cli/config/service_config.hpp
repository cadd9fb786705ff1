// The configuration file of the service. config/service.yaml documents every key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/config/node.hpp"
#include "cli/options/backend_options.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::cli {

struct ServiceConfig {
  ingest::ServiceOptions service;  ///< engine.backend is null: `backend` says which one to make
  BackendOptions backend;
  ingest::ServiceBudget budget{};     ///< of queries that state none
  std::vector<std::string> warnings;  ///< "file:line: key: what; remedy"
};

/// Reads a configuration and everything that it names: queries and secrets. Relative paths in it begin at its folder. Nothing
/// is started, made or written, and nobody is contacted.
///
/// Throws Error(configuration) that lists up to ten problems with file, line, key and remedy. No message holds a secret: a
/// header, a URL, or a secret property of Kafka. So neither does it show the contents of a variable or a file. It shows a wrong
/// value as the file has it.
///
/// `shard` is the number of the shard that runs here. It is refused if the configuration has no shards. Without it, a
/// configuration of shards is read as that of shard 0.
[[nodiscard]] ServiceConfig read_service_config(const std::filesystem::path& file,
                                                const Environment& environment = process_environment(),
                                                std::optional<std::uint32_t> shard = {});

/// Describes for people what would run: input, batches, sinks, and queries with the size of their matches. Holds no secret.
[[nodiscard]] std::string summary(const ServiceConfig& config);

}  // namespace deltamatch::cli
