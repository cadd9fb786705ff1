#include "ingest/service/loop/topic_waits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace deltamatch::ingest {

void TopicWaits::note(const std::vector<std::string>& absent, Clock::time_point now) {
  std::erase_if(waits_, [&](const auto& waiting) {
    const auto& [topic, wait] = waiting;
    if (std::ranges::find(absent, topic) != absent.end()) return false;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - wait.since);
    journal_.tell(Level::info, "input_topic_found", {{"topic", topic}, {"waited_ms", std::to_string(waited.count())}});
    return true;
  });
  for (const std::string& topic : absent) {
    const auto [at, fresh] = waits_.try_emplace(topic, Wait{now, now});
    if (!fresh && now - at->second.told < told_again_after) continue;
    at->second.told = now;
    journal_.tell(Level::warn, "input_topic_waiting",
                  {{"topic", topic},
                   {"why", "the topic does not exist"},
                   {"effect", "it is read from its first record once it exists; the other topics are read"},
                   {"remedy", fmt::format("create it: {} --topic {}, or correct its name in input.topics", creation_, topic)}});
  }
  const std::scoped_lock lock(mutex_);
  why_.clear();
  if (!waits_.empty()) {
    why_ = fmt::format("waiting for topics of the input that do not exist: {}; create them, or correct input.topics",
                       fmt::join(waits_ | std::views::keys, ", "));
  }
}

std::string TopicWaits::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

}  // namespace deltamatch::ingest
