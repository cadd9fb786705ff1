#include "ingest/service/loop/startup_context.hpp"

#include "ingest/service/loop/recutter.hpp"

namespace deltamatch::ingest {

void until_answered(const StartupContext& context, const std::function<void()>& attempt) {
  for (;;) {
    if (context.waits) context.waits();
    try {
      return attempt();
    } catch (const kafka::Unreachable& error) {
      if (context.stop.stop_requested()) throw StartupCancelled();
      context.journal.tell(Level::warn, "waiting for the brokers", {{"why", error.what()}});
    }
  }
}

}  // namespace deltamatch::ingest
