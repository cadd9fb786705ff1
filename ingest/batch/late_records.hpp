// Whether records come in order of time. A pattern with WITHIN may miss matches that a late record completes.
#pragma once

#include <cstdint>
#include <optional>

#include "deltamatch/id.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Counts insertions of edges that come later than is allowed: their time lies further below the watermark. A match with such
/// an edge may have aged before the edge came.
class LateRecords {
 public:
  /// `allowed` is in microseconds.
  explicit LateRecords(Timestamp allowed) noexcept : allowed_(allowed) {}

  /// Looks at a batch. `watermark` is the one before it.
  void add(const PositionedBatch& batch, std::optional<Timestamp> watermark);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Where the first one stands.
  [[nodiscard]] Position first() const noexcept { return first_; }
  /// How late the latest of them came, in microseconds.
  [[nodiscard]] Timestamp longest() const noexcept { return longest_; }

 private:
  Timestamp allowed_;
  std::uint64_t count_ = 0;
  Position first_;
  Timestamp longest_ = 0;
};

}  // namespace deltamatch::ingest
