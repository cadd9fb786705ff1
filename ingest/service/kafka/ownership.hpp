// Decides which instance of the application works and which ones stand by.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "ingest/service/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// A member of the group `<application>.owner`, which subscribes to the commit topic. That topic has one partition, so one
/// member owns it. A living owner keeps it if others join. Works in a thread of its own. Ownership only keeps instances from
/// working at the same time. Fencing of its transactions is what makes a late instance harmless.
///
/// A crashed owner is replaced after session.timeout.ms (10 s by default). An owner that released is replaced at once.
class Ownership {
 public:
  /// Creates the commit topic if it is missing (one partition, kept forever) and joins the group. Each time the partition is
  /// taken away, except by release(), this object's thread calls `on_loss`. Throws Error if the topic has several partitions,
  /// or cannot be found or created. Throws Unreachable at the deadline.
  Ownership(const Cluster& cluster, Deadline deadline, std::function<void()> on_loss = {});
  /// Releases within 5 seconds.
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

  /// Waits until the group knows this instance, so it either owns the application or stands by. That takes a moment. If the
  /// last owner ended without a release, it takes until its session ends. Returns false at the deadline, or if `stop` was
  /// requested first. Throws Error if the client failed permanently.
  [[nodiscard]] bool wait_until_joined(const std::stop_token& stop, Deadline deadline);

  /// Waits without a limit. Returns false if `stop` was requested first. Throws Error if the client failed permanently.
  [[nodiscard]] bool wait_until_owned(const std::stop_token& stop);

  [[nodiscard]] bool owned() const noexcept;

  /// Throws Error if the client failed permanently. An owner need not ask, because fencing tells it. One that waits for its
  /// turn while it does other work must: it would never become the owner.
  void check() const;

  /// How many times the partition was assigned to this instance. If it is still the owner but the term has changed, it lost
  /// ownership in between. Its state may then be outdated.
  [[nodiscard]] std::uint64_t term() const noexcept;

  /// Leaves the group, so that another instance takes over at once. Returns false if that was not done by the deadline. The
  /// group then notices when the session ends. A second call does nothing.
  bool release(Deadline deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka
