// Asks the brokers about topics, and makes one.
#pragma once

#include <string>

#include "ingest/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// Makes the application's commit topic if it is missing: one partition, replicated as the brokers' default says, kept forever.
/// Throws Error if it has several partitions or can be neither found nor made (with the command that makes it), Unreachable.
/// An existing one that the brokers may clean up is told to the journal.
void ensure_commit_topic(const Cluster& cluster, Deadline deadline);

/// How many partitions a topic has; 0: there is no such topic. Makes none. Throws Unreachable, and Error if it may not be seen.
[[nodiscard]] int partition_count(const Cluster& cluster, const std::string& topic, Deadline deadline);

}  // namespace deltamatch::ingest::kafka
