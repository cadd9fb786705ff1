#include "ingest/service/kafka/claim_writer.hpp"

namespace deltamatch::ingest::kafka {

ClaimWriter::ClaimWriter(const Cluster& cluster)
    : producer_(cluster, "claims", configure(cluster, {{"linger.ms", "1"}}, {{"message.timeout.ms", "5000"}})),
      topic_(claims_topic(cluster.application)) {}

void ClaimWriter::write(const std::string& claim) {
  producer_->poll(0);
  static_cast<void>(producer_->produce(topic_, 0, RdKafka::Producer::RK_MSG_COPY, const_cast<char*>(claim.data()), claim.size(),
                                       nullptr, 0, 0, nullptr));
}

void ClaimWriter::flush(Deadline deadline) { producer_->flush(remaining_ms(deadline)); }

}  // namespace deltamatch::ingest::kafka
