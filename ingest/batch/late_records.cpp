#include "ingest/batch/late_records.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace deltamatch::ingest {

void LateRecords::add(const PositionedBatch& batch, std::optional<Timestamp> watermark) {
  const std::span<const Update> updates = batch.updates.updates();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const Update& update = updates[i];
    if (!update.time) continue;
    if (!update.ahead && (!watermark || *update.time > *watermark)) {
      watermark = update.time;
      if (batch.updates.sets_watermark()) watermark = std::min(watermark, batch.updates.watermark());
    }
    if (update.kind != UpdateKind::insert_edge || !watermark || *update.time >= *watermark) continue;
    Timestamp late = 0;
    if (__builtin_sub_overflow(*watermark, *update.time, &late)) late = std::numeric_limits<Timestamp>::max();
    if (late <= allowed_) continue;
    if (count_++ == 0) first_ = batch.position(i);
    longest_ = std::max(longest_, late);
  }
}

}  // namespace deltamatch::ingest
