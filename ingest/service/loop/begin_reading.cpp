#include "ingest/service/loop/begin_reading.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto missing_patience = 15s;  // time for missing partitions to appear
constexpr auto between = 200ms;
constexpr auto patience = 60s;  // for brokers that do not answer

kafka::Discovery find_partitions(kafka::Input& input, const CommitPoint& last, const std::stop_token& stop) {
  for (const auto until = Clock::now() + missing_patience;;) {
    kafka::Discovery found = input.discover(Clock::now() + patience);
    const auto is_there = [&](const auto& known) {
      return std::ranges::any_of(found.partitions, [&](const auto& at) { return at.id == known.first; });
    };
    if (std::all_of(last.ends.begin(), last.ends.end(), is_there) || Clock::now() >= until || stop.stop_requested())
      return found;
    std::this_thread::sleep_for(between);
  }
}

}  // namespace

BeginReading begin_reading(kafka::Input& input, const CommitPoint& last, std::string_view reading, TopicWaits& topics,
                           const std::stop_token& stop) {
  auto [partitions, absent] = find_partitions(input, last, stop);
  kafka::must_not_be_gone(absent, last.ends);
  topics.note(absent, Clock::now());
  BeginReading begin;
  if (last.reading == reading) {
    for (const kafka::InputPartition& partition : partitions) {
      if (!last.ends.contains(partition.id)) begin.from.emplace(partition.id, input.low(partition.id, Clock::now() + patience));
    }
  } else {
    begin.from = input.first_offsets(partitions, last.ends, Clock::now() + patience);
  }
  for (const auto& [id, end] : last.ends) begin.from.insert_or_assign(id, end);  // including those that are gone
  begin.fresh = std::ranges::any_of(partitions, [&](const auto& at) { return !last.ends.contains(at.id); });
  begin.partitions = std::move(partitions);
  return begin;
}

}  // namespace deltamatch::ingest
