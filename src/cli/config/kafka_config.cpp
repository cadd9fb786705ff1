// The properties of the Kafka clients.
#include <string>
#include <utility>

#include "cli/config/parts.hpp"

namespace deltamatch::cli {

void read_kafka(Section section, ingest::KafkaProperties& properties) {
  if (!section.has("metadata.broker.list")) section.require("bootstrap.servers", "bootstrap.servers: 'localhost:9092'");
  for (const Entry& entry : section.entries()) {
    if (entry.value.kind == Node::Kind::map && entry.value.find("file") == nullptr) {
      section.refuse(entry.key, "this is a map where one value is meant",
                     "write a property by its whole name, as security.protocol: SASL_SSL, and a secret as {file: PATH}");
      continue;
    }
    std::string value;
    if (!section.secret(entry.key, value)) continue;
    properties[entry.key] = std::move(value);
  }
}

}  // namespace deltamatch::cli
