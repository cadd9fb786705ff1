#include "ingest/service/loop/schema_waits.hpp"

#include <fmt/format.h>

#include <thread>

namespace deltamatch::ingest {

std::string SchemaWaits::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

void SchemaWaits::sleep(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

void SchemaWaits::tell(std::string_view why) {
  {
    const std::scoped_lock lock(mutex_);
    why_ = fmt::format("waiting for the schema registry: {}", why);
    const auto now = Clock::now();
    if (!since_) since_ = now;
    if (told_ && now - *told_ < told_again_after) return;
    told_ = now;
  }
  journal_.tell(Level::warn, "schema_registry_waiting",
                {{"why", std::string(why)},
                 {"effect", "records wait until their schema is there; none is skipped"},
                 {"remedy", "make the registry reachable, or correct input.registry"}});
}

void SchemaWaits::end() {
  Clock::duration waited{};
  {
    const std::scoped_lock lock(mutex_);
    why_.clear();
    if (since_) waited = Clock::now() - *since_;
    since_.reset();
    told_.reset();
  }
  journal_.tell(Level::info, "schema_registry_back",
                {{"waited_ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(waited).count())}});
}

}  // namespace deltamatch::ingest
