// Creates the topics of commit records, of queries that were made over HTTP, and of workers. Looks at those of the input.
#pragma once

#include <cstdint>
#include <string>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/handle.hpp"

namespace deltamatch::ingest::kafka {

/// Creates the application's commit topic if it is missing: one partition, the brokers' default replication, kept forever.
/// Throws Error if it has several partitions, or cannot be found or created; the message then has the command that creates it.
/// Throws Unreachable. If the brokers may clean up an existing topic, that is reported to the journal.
void ensure_commit_topic(const Cluster& cluster, Deadline deadline);
/// The same for query_topic.
void ensure_query_topic(const Cluster& cluster, Deadline deadline);
/// The same for progress_topic, with one partition for each slot, where only the newest record of a key must stay. Throws
/// Error(configuration) if the brokers may clean it up.
void ensure_progress_topic(const Cluster& cluster, std::uint32_t slots, Deadline deadline);
/// The same for claims_topic, whose records are of no use after a minute.
void ensure_claims_topic(const Cluster& cluster, Deadline deadline);

/// The beginning of a command that creates a topic of a cluster: Kafka's own tool and the brokers that it asks.
[[nodiscard]] std::string topic_creation(const KafkaProperties& properties);

/// Throws Error(configuration) if this topic is compacted. If the brokers do not allow the question, that is reported to the
/// journal. Throws Unreachable.
void must_not_be_compacted(Consumer& client, const std::string& topic, Deadline deadline);

}  // namespace deltamatch::ingest::kafka
