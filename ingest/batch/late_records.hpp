// Whether records come in order of time. A pattern with WITHIN may miss matches that a late record completes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "deltamatch/id.hpp"
#include "deltamatch/query.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Whether a record may come too late for a query: whether watermarks decide on what it reports.
[[nodiscard]] inline bool allows_lateness(const Query& query) noexcept {
  return query.within || query.emit_final || query.once;
}

/// Counts insertions of edges that come later than is allowed: their time lies further below the watermark. A match with such
/// an edge may have aged before the edge came.
class LateRecords {
 public:
  /// `allowed` is in microseconds.
  explicit LateRecords(Timestamp allowed) noexcept : allowed_(allowed) {}

  /// Looks at a batch. `watermark` is the one before it. Returns the one behind it.
  std::optional<Timestamp> add(const PositionedBatch& batch, std::optional<Timestamp> watermark);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Where the first one stands.
  [[nodiscard]] Position first() const noexcept { return first_; }
  /// How late the latest of them came, such as "8h". It is rounded up to a whole number of the largest unit of which there are
  /// two.
  [[nodiscard]] std::string longest_text() const;
  /// A warning, once there are any. `where` is the place of the first, and `query` the name of one that heeds their order.
  [[nodiscard]] Warning warning(std::string where, const std::string& query, std::string remedy) const;
  /// The same if no query heeds the order yet, because the input is converted.
  [[nodiscard]] Warning unread(std::string where, std::string remedy) const;

 private:
  Timestamp allowed_;
  std::uint64_t count_ = 0;
  Position first_;
  Timestamp longest_ = 0;
};

}  // namespace deltamatch::ingest
