#include "unit/workers/input_model.hpp"

namespace deltamatch::ingest::workers {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x9E3779B97F4A7C15U;
  return value ^ (value >> 29);
}

}  // namespace

void Graph::take(const CommitPoint& mark) {
  ++batch;
  end = static_cast<std::uint64_t>(mark.ends.at(input_partition));
  hash = mix(hash + end + 1 + 1000 * static_cast<std::uint64_t>(mark.watermark.value_or(0)));
}

RunningDigest Graph::digest() const { return {.begin = {}, .now = {.high = 1, .low = hash + (diverged ? 1 : 0)}}; }

std::vector<Alert> part_of(std::uint64_t begin, std::uint64_t end, Slot slot, std::uint32_t slots) {
  std::vector<Alert> part;
  for (std::uint64_t record = begin + 1; record <= end; ++record) {
    const bool appears = record % 2 == 1;
    const bool both = appears ? record + 1 <= end : record - 1 > begin;
    if (!both && mix(record) % slots == slot)
      part.push_back({.match = (record + 1) / 2, .sign = appears ? '+' : '-', .binding = {}});
    const std::uint64_t binding = mix(record) % 2;
    if (record % 3 == 0 && binding % slots == slot) part.push_back({.match = 1000 + record, .sign = '+', .binding = binding});
  }
  return part;
}

std::vector<Alert> published_of(const std::vector<Alert>& part, std::set<std::uint64_t>& known) {
  std::vector<Alert> alerts;
  for (const Alert& alert : part) {
    if (!alert.binding || known.insert(*alert.binding).second) alerts.push_back(alert);
  }
  return alerts;
}

}  // namespace deltamatch::ingest::workers
