// The parts of a configuration that say what an instance does beside others: standbys, workers, shards.
#include <fmt/format.h>

#include <chrono>

#include "cli/config/service_sections.hpp"

namespace deltamatch::cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void read_standby(Section section, ingest::StandbyOptions& standby) {
  section.flag("warm", standby.warm);
  section.finish();
}

void read_shards(Section section, ingest::ServiceOptions& service) {
  const std::optional<std::uint32_t> wanted = section.context().shard;
  const bool has_count = section.has("count");
  std::uint64_t count = 0;
  const bool read = section.number("count", count, 1, ingest::ShardOptions::most);
  section.finish();
  if (!has_count) {
    if (wanted)
      section.refuse("the command line has --shard, but there are no shards", "add shards: {count: 4}, or leave --shard out");
    else if (section.present())
      section.refuse("the number of shards is missing", "write shards: {count: 4}, or leave shards out");
    return;
  }
  if (!read) return;
  if (wanted && *wanted >= count) {
    return section.refuse("count", fmt::format("there is no shard {}, as --shard says", *wanted),
                          fmt::format("shards are numbered from 0 to {}", count - 1));
  }
  ingest::ShardOptions& shard = service.input.shard;
  shard = {static_cast<std::uint32_t>(count), wanted.value_or(0), service.application};
  service.application = shard.application(shard.number);
  if (!service.state.directory.empty()) service.state.directory /= fmt::format("shard-{}", shard.number);
}

void read_workers(Section section, ingest::WorkersOptions& workers) {
  std::uint64_t slots = 0;
  section.number("slots", slots, 1, ingest::WorkersOptions::most_slots);
  workers.slots = static_cast<std::uint32_t>(slots);
  section.flag("spare", workers.spare);
  section.text("name", workers.name);
  section.duration("hang_after", workers.hang_after, milliseconds(1s), milliseconds(24h), "never");
  section.finish();
  const bool says_more = workers.spare || !workers.name.empty() || workers.hang_after != ingest::WorkersOptions{}.hang_after;
  if (!section.has("slots") && says_more)
    section.refuse("there are no slots", "set slots, as all instances of the application do: slots: 16");
}

}  // namespace deltamatch::cli
