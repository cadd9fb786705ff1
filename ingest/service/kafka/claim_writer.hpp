// Writes what a worker says of itself.
#pragma once

#include <string>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/handle.hpp"

namespace deltamatch::ingest::kafka {

/// Writes to claims_topic, in no transaction. A claim that is lost costs nothing, since the next one says the same. Only one
/// thread may use it.
class ClaimWriter {
 public:
  explicit ClaimWriter(const Cluster& cluster);
  /// Queues the text and returns at once.
  void write(const std::string& claim);
  /// Waits until the brokers have what was written, at most until the deadline.
  void flush(Deadline deadline);

 private:
  Producer producer_;
  std::string topic_;
};

}  // namespace deltamatch::ingest::kafka
