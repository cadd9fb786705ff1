// Makes committed batches again: reads them from the input exactly as their commit records cut them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/ranges.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/repeated_queries.hpp"

namespace deltamatch::ingest {

/// Takes an engine from batch to batch. A start and a standby share this. Not thread-safe.
class Recutter {
 public:
  /// `engine` is at the batch `reached`. `known`: the queries that remember; null: none does. All references must outlive it.
  /// Until leave(), no other query may stand in the engine. Once a call has thrown, only leave() and the destructor may be
  /// called.
  /// `letters`: batches keep the records that were refused, if the configuration wants dead letters. By default they do so only
  /// for a file, which may lack them.
  Recutter(const StartupContext& context, Engine& engine, CommitPoint& reached, const KnownQueries* known,
           bool letters = false);

  /// Absorbs the batch of this mark. Throws Error if it is not the next one, would be read differently, is no longer retained,
  /// or leads to another digest than the mark's. `reached` then tells the last batch that succeeded. After the first three, and
  /// after StartupCancelled, the engine is at that batch too. After another digest, it is useless.
  /// `absorb` takes the batch to the engine in its own way, after leave(). By default the queries that remember stand.
  void repeat(const CommitPoint& mark, const std::function<void(InputBatch&)>& absorb = {});

  /// Lets the queries of the batches leave the engine.
  void leave() { queries_.leave(); }

  /// The input of the batch of this mark, which is the next one. The engine stays as it is.
  InputBatch next(const CommitPoint& mark);

 private:
  void cut(const CommitPoint& mark);
  void must_be_read_alike(const CommitPoint& mark) const;
  void take(const kafka::Message& message);
  std::size_t open(const TopicPartition& at, std::optional<Timestamp> largest);

  const StartupContext& context_;
  Engine& engine_;
  CommitPoint& reached_;
  RepeatedQueries queries_;
  const std::string reading_;
  const std::string commits_;  // the commit topic
  kafka::RangeReader ranges_;
  Assembler assembler_;
  InputBatch batch_;
  std::vector<std::size_t> parts_;  // from the reader's numbers to the assembler's
  std::map<TopicPartition, std::size_t> opened_;
  std::vector<MessageHeader> headers_;
};

/// The batch leads to another digest than its commit record says. The engine that absorbed it is useless.
class OtherDigest : public Error {
 public:
  using Error::Error;
};

/// A stop was requested in the meantime.
class StartupCancelled : public Error {
 public:
  StartupCancelled() : Error("service", "stopped") {}
};

/// The entry of the input's topics that says how a topic is read. It is the first entry with the topic's name, else the first
/// whose expression matches. Throws Error if there is none.
[[nodiscard]] std::size_t entry_of(const std::vector<InputTopics>& topics, const std::string& topic);

}  // namespace deltamatch::ingest
