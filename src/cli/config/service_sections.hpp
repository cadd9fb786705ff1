// The parts of a service's configuration. service_config.cpp puts them together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/config/section.hpp"
#include "cli/config/service_config.hpp"

namespace deltamatch::cli {

/// Reads everything into `config`. `context` gets the problems and the known keys.
void read_service(ConfigContext& context, const Node& root, ServiceConfig& config);

/// Makes the options those of one shard: it is an application of its own, with a state directory of its own. Both must have
/// been read.
void read_shards(Section section, ingest::ServiceOptions& service);
void read_standby(Section section, ingest::StandbyOptions& standby);
void read_workers(Section section, ingest::WorkersOptions& workers);
void read_kafka(Section section, ingest::KafkaProperties& properties);
/// `graph` has the edges and attributes, which all topics share.
void read_input(Section section, ingest::InputOptions& input, const ingest::CodecOptions& graph);
/// Reads how the records of messages or files are read. The other keys of the section have been read. `format` stays empty if
/// the section states none. `codec` has the edges and attributes of the graph.
void read_records(Section& section, std::optional<ingest::Format>& format, ingest::CodecOptions& codec, bool files);
void read_sinks(Section section, std::vector<ingest::SinkOptions>& sinks);
void read_budget(Section section, ingest::ServiceBudget& budget);
/// Reads the queries. Direction and sinks must have been read. `budget` is for queries that state none.
void read_queries(Section& top, ServiceConfig& config, const ingest::ServiceBudget& budget);

/// Reads the definition of one query that is made over HTTP. `config` has all but the queries. The result is of use only if no
/// problem was reported.
[[nodiscard]] ingest::ServiceQuery read_definition(Section section, const ServiceConfig& config,
                                                   const std::optional<std::string>& name);

/// Reads a topic's name and reports one that Kafka would not take.
bool topic_name(Section& section, std::string_view key, std::string& target);
[[nodiscard]] bool is_topic_name(std::string_view text) noexcept;

/// Checks what concerns several parts: files and topics that are used twice, limits that contradict each other.
void check_together(Section& top, ServiceConfig& config);

}  // namespace deltamatch::cli
