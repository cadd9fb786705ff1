// From an owner's first breath to an engine at the last commit record.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/recovery.hpp"

namespace deltamatch::ingest {

struct StartupContext {
  const ServiceOptions& options;
  const kafka::Cluster& cluster;
  const StateDirectory& directory;
  Journal& journal;
  std::function<void(std::string)> progress;  ///< one line, now and then
  std::stop_token stop;
};

/// An engine that stands at the application's last commit record, and the log behind it. Where there is no commit record and no
/// state this is the first start: the start graph is loaded, the input's first offsets are pinned, and both are written down as
/// batch 0 before anything is read. Where state is missing it is made anew from the input, as the commit records cut it. Throws
/// Error where state and commit records do not belong together, or where the input needed is no longer retained: never is an
/// empty graph taken for a lost one. Throws Stopped.
[[nodiscard]] Recovered start_up(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions);

/// A stop was requested meanwhile.
class Stopped : public Error {
 public:
  Stopped() : Error("service", "stopped") {}
};

/// Which entry of the input's topics says how a topic is read: the first whose name it is, else the first whose expression
/// matches it. Throws Error where none does.
[[nodiscard]] std::size_t entry_of(const std::vector<InputTopics>& topics, const std::string& topic);

}  // namespace deltamatch::ingest
