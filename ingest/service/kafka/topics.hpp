// Creates the topics of commit records, and of queries that were made over HTTP.
#pragma once

#include "ingest/service/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// Creates the application's commit topic if it is missing: one partition, the brokers' default replication, kept forever.
/// Throws Error if it has several partitions, or cannot be found or created; the message then has the command that creates it.
/// Throws Unreachable. If the brokers may clean up an existing topic, that is reported to the journal.
void ensure_commit_topic(const Cluster& cluster, Deadline deadline);
/// The same for query_topic.
void ensure_query_topic(const Cluster& cluster, Deadline deadline);

}  // namespace deltamatch::ingest::kafka
