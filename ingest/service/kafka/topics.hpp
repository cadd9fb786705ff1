// Makes the topic of commit records.
#pragma once

#include "ingest/service/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// Makes the application's commit topic if it is missing: one partition, replicated as the brokers' default says, kept forever.
/// Throws Error if it has several partitions or can be neither found nor made (with the command that makes it), Unreachable.
/// An existing one that the brokers may clean up is told to the journal.
void ensure_commit_topic(const Cluster& cluster, Deadline deadline);

}  // namespace deltamatch::ingest::kafka
