// The parts of a service's configuration; service_config.cpp puts them together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/config/section.hpp"
#include "cli/config/service_config.hpp"

namespace deltamatch::cli {

/// Reads all of it into `config`; `reading` has what is wrong and which keys there are.
void read_service(Reading& reading, const Node& root, ServiceConfig& config);

void read_kafka(Section section, ingest::KafkaProperties& properties);
void read_input(Section section, ingest::InputOptions& input);
/// How the records of messages or of files are read; the section's other keys are read already. No format: it is not stated.
void read_records(Section& section, std::optional<ingest::Format>& format, ingest::CodecOptions& codec, bool files);
void read_sinks(Section section, std::vector<ingest::SinkOptions>& sinks);
void read_budget(Section section, ingest::ServiceBudget& budget);
/// Direction and sinks are read already. `budget` is that of queries which state none.
void read_queries(Section& top, ServiceConfig& config, const ingest::ServiceBudget& budget);

/// A topic's name as Kafka takes it; tells where it is none.
bool topic_name(Section& section, std::string_view key, std::string& target);
[[nodiscard]] bool is_topic_name(std::string_view text) noexcept;

/// What one part alone cannot see: files and topics that are used twice, limits that contradict each other.
void check_together(Section& top, ServiceConfig& config);

}  // namespace deltamatch::cli
