// Reads the topic of the queries that were made over HTTP.
#pragma once

#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/state/query_record.hpp"

namespace deltamatch::ingest::kafka {

/// All committed records of the topic, in order; none if there is no such topic. Final once a Transactions object has been
/// created, because no older transaction survives that. Records that another program wrote are reported to the journal and
/// skipped. Throws Error for a record that is damaged or of another version, or if the topic may not be read, and Unreachable
/// at the deadline. O(all changes ever made).
[[nodiscard]] std::vector<QueryRecord> read_query_log(const Cluster& cluster, Deadline deadline);

}  // namespace deltamatch::ingest::kafka
