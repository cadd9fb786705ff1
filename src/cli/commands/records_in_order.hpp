// Puts the records of a stream in order of time. All of them are in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::cli {

class RecordsInOrder {
 public:
  /// Copies the update.
  void add(const Update& update, ingest::Position position);

  /// Gives the updates in order of the times of their records. A record without a time stays behind the one before it. Records
  /// of one time stay as they came. If more times fall than rise, the stream was newest first, so these are turned round, too.
  void for_each(const std::function<void(const Update& update, ingest::Position position)>& visit) const;

 private:
  struct Record {
    Timestamp time;
    std::size_t first;  // of its updates
  };
  [[nodiscard]] std::vector<Record> records() const;

  UpdateBatch updates_;
  std::vector<ingest::Position> positions_;
};

}  // namespace deltamatch::cli
