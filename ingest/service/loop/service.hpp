// The service: stands by until it owns the application, recovers, and works until it is stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The topics that the service writes to.
[[nodiscard]] std::vector<std::string> output_topics(const ServiceOptions& options);

class Service {
 public:
  /// `reread`: the configuration file as it is now, for the queries of a reload and of a take-over. `journal` outlives the
  /// service.
  Service(ServiceOptions options, std::string_view version, Journal& journal, std::function<ServiceOptions()> reread);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Works until stop(). Throws Error where it cannot go on: whatever was committed stays, and a new process goes on from
  /// there.
  void run();
  /// Commits what is read, makes a snapshot, gives up ownership and lets run() return. Any thread.
  void stop();
  /// Takes the queries from the configuration anew. Gives {"state":"running","added":[…],"removed":[…],"needs_restart":[…]}:
  /// what changed is committed, or where this instance does not work yet nothing has, and they hold once it does; the last are
  /// other keys of the configuration that differ from those at the start. Any thread. Throws Error where the configuration is
  /// refused or the service stops.
  std::string reload();
  /// One JSON object; docs/reference/metrics.md lists its fields. Any thread.
  [[nodiscard]] std::string status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch::ingest
