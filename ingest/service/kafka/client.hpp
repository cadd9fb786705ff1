// What every Kafka client of the service has in common: who it is, where the brokers are, what it may and may not be told.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest::kafka {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The application's name and the user's properties. The clients keep the journal, which must outlive them; librdkafka's own
/// log lines and errors go there, with the values of secret properties blotted out.
struct Cluster {
  std::string application;
  KafkaProperties properties;
  Journal* journal = nullptr;
};

/// The topic of commit records, "<application>.commits", and the group of which one member owns it, "<application>.owner".
[[nodiscard]] std::string commit_topic(std::string_view application);
[[nodiscard]] std::string owner_group(std::string_view application);

/// Whether the value of a property may never be shown: passwords, keys, certificates, tokens.
[[nodiscard]] bool is_secret(std::string_view property);

/// Throws Error (kind configuration) for the first property that librdkafka does not know or whose value it does not take, and
/// for those that the service sets itself (transactional.id, group.id, isolation.level, …), with the reason. No message holds
/// the value of a secret. Contacts nobody. `where` starts the message.
void check_properties(const KafkaProperties& properties, std::string_view where);

/// The brokers did not answer, or not in time. Nothing is wrong with the request; it may be made again.
class Unreachable : public Error {
 public:
  using Error::Error;
};

/// Another instance of the same application has taken over. This one must stop: nothing of it is ever committed again.
class Fenced : public Error {
 public:
  using Error::Error;
};

/// A transaction was neither committed nor aborted in time. Whether its records are visible is told by the last commit record
/// after the next Transactions object of the application has been made; this one refuses everything from now on.
class Undecided : public Error {
 public:
  using Error::Error;
};

}  // namespace deltamatch::ingest::kafka
