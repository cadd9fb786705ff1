// What all Kafka clients of the service share: names, properties and errors.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest::kafka {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The application's name and the user's properties. The clients keep a pointer to the journal, so it must outlive them.
/// librdkafka's own log lines and errors go to the journal, with the values of secret properties masked.
struct Cluster {
  std::string application;
  KafkaProperties properties;
  Journal* journal = nullptr;
  bool shared = false;  ///< several workers work for the application at the same time; for messages
};

/// The topic of commit records, "<application>.commits", and the group "<application>.owner". One member of the group owns the
/// topic.
[[nodiscard]] std::string commit_topic(std::string_view application);
/// The topic of the queries that were made over HTTP, "<application>.queries".
[[nodiscard]] std::string query_topic(std::string_view application);
[[nodiscard]] std::string owner_group(std::string_view application);
/// The topic of what each slot of the workers has published, "<application>.progress". It has a partition for each slot. The
/// topic of what workers say of themselves is "<application>.claims".
[[nodiscard]] std::string progress_topic(std::string_view application);
[[nodiscard]] std::string claims_topic(std::string_view application);
/// The transactional id of a slot, "<application>.slot-3".
[[nodiscard]] std::string slot_id(std::string_view application, std::uint32_t slot);

/// Whether the value of a property must never be shown: passwords, keys, certificates, tokens.
[[nodiscard]] bool is_secret(std::string_view property);

/// Checks the user's properties. Throws Error (kind configuration) for the first property that librdkafka does not know or
/// whose value it rejects. Also throws, with the reason, for properties that the service sets itself (transactional.id,
/// group.id, isolation.level, …). No message contains the value of a secret. Contacts no broker. `where` starts the message.
void check_properties(const KafkaProperties& properties, std::string_view where);

/// The brokers did not answer in time. The request itself is fine and may be repeated.
class Unreachable : public Error {
 public:
  using Error::Error;
};

/// Brokers that failed were asked as often as it makes sense. Nothing was done, and the request may be repeated later.
class GivenUp : public Error {
 public:
  using Error::Error;
};

/// Another instance of the same application has taken over. This one must stop, because it can never commit again.
class Fenced : public Error {
 public:
  using Error::Error;
};

/// A transaction was neither committed nor aborted in time. To learn whether its records are visible, create the application's
/// next Transactions object and read the last commit record. The failed object refuses everything from now on.
class OutcomeUnknown : public Error {
 public:
  using Error::Error;
};

}  // namespace deltamatch::ingest::kafka
