// The service: stands by until it owns the application, recovers, and works until it is stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/journal.hpp"
#include "ingest/service/options.hpp"

namespace deltamatch::ingest {

/// The topics that the service writes to.
[[nodiscard]] std::vector<std::string> output_topics(const ServiceOptions& options);

class Service {
 public:
  /// `reread`: the queries as the configuration file has them now, for reload. `journal` outlives the service.
  Service(ServiceOptions options, std::string_view version, Journal& journal,
          std::function<std::vector<ServiceQuery>()> reread);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Works until stop(). Throws Error where it cannot go on: whatever was committed stays, and a new process goes on from
  /// there.
  void run();
  /// Commits what is read, makes a snapshot, gives up ownership and lets run() return. Any thread.
  void stop();
  /// Takes the queries from the configuration anew. Gives {"added":[…],"removed":[…]}, committed. Any thread. Throws Error
  /// where the configuration is refused or the service is not running.
  std::string reload();
  /// One JSON object; docs/operations.md lists its fields. Any thread.
  [[nodiscard]] std::string status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch::ingest
