#include "unit/workers/broker.hpp"

#include <algorithm>
#include <utility>

namespace deltamatch::ingest::workers {

std::optional<Broker::Epoch> Broker::initialise(std::size_t id) {
  Id& producer = ids_[id];
  if (!producer.unfinished.empty()) return std::nullopt;
  for (std::size_t partition = 0; partition < partitions_.size(); ++partition) settle(id, partition, Fate::aborted);
  producer.is_open = false;
  return ++producer.epoch;
}

bool Broker::append(std::size_t id, Epoch epoch, std::size_t partition, Payload payload) {
  if (!current(id, epoch)) return false;
  ids_[id].is_open = true;
  partitions_[partition].push_back({.payload = std::move(payload), .fate = Fate::open, .id = id});
  return true;
}

bool Broker::commit(std::size_t id, Epoch epoch) {
  Id& producer = ids_[id];
  if (!current(id, epoch) || !producer.is_open) return false;
  producer.is_open = false;
  for (std::size_t partition = 0; partition < partitions_.size(); ++partition) {
    if (!open(id, partition).empty()) producer.unfinished.push_back(partition);
  }
  return true;
}

bool Broker::time_out(std::size_t id) {
  if (!ids_[id].is_open) return false;
  for (std::size_t partition = 0; partition < partitions_.size(); ++partition) settle(id, partition, Fate::aborted);
  ids_[id].is_open = false;
  ++ids_[id].epoch;
  return true;
}

bool Broker::finish(std::size_t choice) {
  std::vector<std::pair<std::size_t, std::size_t>> left;
  for (std::size_t id = 0; id < ids_.size(); ++id) {
    for (const std::size_t partition : ids_[id].unfinished) left.emplace_back(id, partition);
  }
  if (left.empty()) return false;
  const auto [id, partition] = left[choice % left.size()];
  settle(id, partition, Fate::committed);
  std::erase(ids_[id].unfinished, partition);
  return true;
}

std::vector<Payload> Broker::open(std::size_t id, std::size_t partition) const {
  std::vector<Payload> found;
  for (const Record& record : partitions_[partition]) {
    if (record.id == id && record.fate == Fate::open) found.push_back(record.payload);
  }
  return found;
}

const Payload* Broker::read(std::size_t partition, std::size_t& position) const {
  const std::vector<Record>& records = partitions_[partition];
  while (position < records.size() && records[position].fate == Fate::aborted) ++position;
  if (position == records.size() || records[position].fate == Fate::open) return nullptr;
  return &records[position++].payload;
}

void Broker::settle(std::size_t id, std::size_t partition, Fate fate) {
  for (Record& record : partitions_[partition]) {
    if (record.id == id && record.fate == Fate::open) record.fate = fate;
  }
}

}  // namespace deltamatch::ingest::workers
