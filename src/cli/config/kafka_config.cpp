// Reads the properties of the Kafka clients.
#include <string>
#include <utility>
#include <vector>

#include "cli/config/service_sections.hpp"
#include "deltamatch/error.hpp"
#include "ingest/service/kafka/client.hpp"

namespace deltamatch::cli {
namespace {

/// Reports what the clients have against the properties, one after the other. Each problem gets the line of the property that
/// its message names. `hidden` holds the values that must not be shown.
void check(const Section& section, ingest::KafkaProperties properties, const std::vector<std::string>& hidden) {
  while (true) {
    std::string message;
    try {
      ingest::kafka::check_properties(properties, "");
      return;
    } catch (const Error& error) {
      message = error.what();
    }
    auto named = properties.end();  // the longest in the message: "acks" is part of "request.required.acks"
    for (auto property = properties.begin(); property != properties.end(); ++property) {
      const bool longer = named == properties.end() || property->first.size() > named->first.size();
      if (longer && message.find(property->first) != std::string::npos) named = property;
    }
    for (const std::string& value : hidden) {
      for (std::size_t at = 0; (at = message.find(value, at)) != std::string::npos;) message.replace(at, value.size(), "*");
    }
    if (named == properties.end() || named->first == "bootstrap.servers") {
      section.refuse(message, "");
      return;
    }
    section.refuse(named->first, message, "");
    properties.erase(named);
  }
}

}  // namespace

void read_kafka(Section section, ingest::KafkaProperties& properties) {
  const std::size_t problems = section.context().problems.count();
  if (!section.has("metadata.broker.list")) section.require("bootstrap.servers", "bootstrap.servers: 'localhost:9092'");
  std::vector<std::string> hidden;
  bool whole = true;
  for (const Entry& entry : section.entries()) {
    if (entry.value.kind == Node::Kind::map && entry.value.find("file") == nullptr) {
      section.refuse(entry.key, "this is a map, but one value is needed",
                     "write a property by its whole name, as security.protocol: SASL_SSL, and a secret as {file: PATH}");
      continue;
    }
    std::string value;
    if (!section.secret(entry.key, value)) {
      whole = false;
      continue;
    }
    if (!value.empty() && (entry.value.expanded() || entry.value.kind == Node::Kind::map)) hidden.push_back(value);
    properties[entry.key] = std::move(value);
  }
  if (whole && section.context().problems.count() == problems) check(section, properties, hidden);
}

}  // namespace deltamatch::cli
