// A broker in memory: partitions, transactions that are fenced by epochs, and readers that see only what was committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// An alert: `sign` is + or -. Alerts of ALERT ONCE have a binding and no -.
struct Alert {
  std::uint64_t match = 0;
  char sign = '+';
  std::optional<std::uint64_t> binding{};
  friend bool operator==(const Alert&, const Alert&) = default;
};

/// What a record holds, by the partition that it lies in.
struct Payload {
  std::optional<Cut> cut{};
  std::uint64_t number = 0;  ///< a batch of progress, or the binding of a state record
  Slot slot = 0;
  Alert alert{};
};

class Broker {
 public:
  using Epoch = std::uint32_t;

  Broker(std::size_t partitions, std::size_t ids) : partitions_(partitions), ids_(ids) {}

  /// Ends what is open under this id, and fences its older producers. Nothing while a commit of it is being finished.
  std::optional<Epoch> initialise(std::size_t id);
  /// Whether a commit of this id is being finished. Until then nothing may be appended with it.
  [[nodiscard]] bool busy(std::size_t id) const { return !ids_[id].unfinished.empty(); }
  /// False if the producer is fenced.
  bool append(std::size_t id, Epoch epoch, std::size_t partition, Payload payload);
  /// Decides that the open transaction is committed. Its records become visible by finish(). False if the producer is fenced.
  bool commit(std::size_t id, Epoch epoch);
  /// Ends an open transaction without its producer, and fences it. False if none is open.
  bool time_out(std::size_t id);
  /// Writes one of the markers that are left, if there is one. `choice` says which.
  bool finish(std::size_t choice);

  /// Whether a transaction of this producer may go on.
  [[nodiscard]] bool current(std::size_t id, Epoch epoch) const { return ids_[id].epoch == epoch; }
  /// The records of an open transaction, by partition.
  [[nodiscard]] std::vector<Payload> open(std::size_t id, std::size_t partition) const;

  /// The end of a partition, with what is not committed.
  [[nodiscard]] std::size_t end(std::size_t partition) const { return partitions_[partition].size(); }
  /// The committed record at `position` or after it, which moves behind it. Nothing at the last stable offset; then `position`
  /// is there.
  const Payload* read(std::size_t partition, std::size_t& position) const;

 private:
  enum class Fate : std::uint8_t { open, committed, aborted };
  struct Record {
    Payload payload;
    Fate fate = Fate::open;
    std::size_t id = 0;
  };
  struct Id {
    Epoch epoch = 0;
    bool is_open = false;
    std::vector<std::size_t> unfinished;  // partitions that lack a marker
  };

  void settle(std::size_t id, std::size_t partition, Fate fate);

  std::vector<std::vector<Record>> partitions_;
  std::vector<Id> ids_;
};

}  // namespace deltamatch::ingest::workers
