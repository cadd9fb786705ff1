// The service: waits until it owns the application, recovers, and works until it is stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// The topics that the service writes to.
[[nodiscard]] std::vector<std::string> output_topics(const ServiceOptions& options);

/// What a configuration says when it is read again.
struct ReadAgain {
  std::vector<ServiceQuery> queries;
  std::vector<std::string> needs_restart;  ///< other keys that differ from those at the start
};

/// How the service reads what users write. Any thread may call these functions. They throw Error(configuration).
struct ServiceReaders {
  std::function<ReadAgain()> reread;  ///< reads the current configuration file, for reloads and take-overs
  /// Reads the definition of a query that is made over HTTP; as QueryHandlers::define.
  std::function<ServiceQuery(std::string_view json, const std::optional<std::string>& name)> define;
  std::function<std::string(const ServiceQuery&)> plan;  ///< the plans of a query as text
};

class Service {
 public:
  /// `journal` must outlive the service.
  Service(ServiceOptions options, std::string_view version, Journal& journal, ServiceReaders readers);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Works until stop(). Throws Error if it cannot continue. What was committed stays, and a new process continues from there.
  void run();
  /// Commits what was read, makes a snapshot, gives up ownership and lets run() return. Any thread may call it.
  void stop();
  /// Reloads the queries from the configuration. Returns {"state":"running","added":[…],"removed":[…],"needs_restart":[…]}. The
  /// change is committed on return. If this instance does not work yet, nothing has changed, and the queries apply once it
  /// does. needs_restart lists other keys that differ from those at the start. Any thread may call it. Throws Error if the
  /// configuration is refused or the service stops.
  std::string reload();
  /// Returns one JSON object. docs/reference/metrics.md lists its fields. Any thread may call it.
  [[nodiscard]] std::string status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch::ingest
