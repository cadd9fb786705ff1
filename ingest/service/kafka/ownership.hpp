// Which instance of the application works, and which stand by.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "ingest/service/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// A member of the group `<application>.owner`, which is subscribed to the commit topic. That topic has one partition, so one
/// member owns it; an owner that lives keeps it when others join. Works in a thread of its own. Ownership only keeps instances
/// from working at once; what keeps a late one from doing harm is that its transactions are fenced.
///
/// A crashed owner is replaced after session.timeout.ms (10 s unless the properties say otherwise), one that released at once.
class Ownership {
 public:
  /// Makes the commit topic if it is missing (one partition, kept forever) and joins the group. `on_loss` is called from the
  /// thread of this object, each time the partition is taken away other than by release. Throws Error if the topic has
  /// several partitions or can be neither found nor made; Unreachable at the deadline.
  Ownership(const Cluster& cluster, Deadline deadline, std::function<void()> on_loss = {});
  /// Releases, within 5 seconds.
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

  /// Waits, for hours if need be. False if `stop` was requested first. Throws Error if the client failed for good.
  [[nodiscard]] bool wait_until_owned(const std::stop_token& stop);

  [[nodiscard]] bool owned() const noexcept;

  /// How often the partition was assigned to this instance. One that still owns, but under another term, lost it in between:
  /// its state may be behind.
  [[nodiscard]] std::uint64_t term() const noexcept;

  /// Leaves the group, so that another instance takes over at once. False if that was not done by the deadline; the group then
  /// notices when the session ends. Does nothing the second time.
  bool release(Deadline deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka
