#include "ingest/batch/late_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace deltamatch::ingest {

std::optional<Timestamp> LateRecords::add(const PositionedBatch& batch, std::optional<Timestamp> watermark) {
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
  return watermark;
}

std::string LateRecords::longest_text() const {
  using Unit = std::pair<std::string_view, std::uint64_t>;
  static constexpr std::array<Unit, 6> units{
      {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000}}};
  const auto value = static_cast<std::uint64_t>(longest_);
  const Unit* unit = units.data();
  for (const Unit& each : units) {
    if (value >= 2 * each.second) unit = &each;
  }
  return fmt::format("{}{}", (value + unit->second - 1) / unit->second, unit->first);
}

Warning LateRecords::warning(std::string where, const std::string& query, std::string remedy) const {
  return {
      "out_of_order", std::move(where),
      fmt::format("the record is older than one before it, so matches of the query {} may be missing or wrong; such records "
                  "come up to {} late",
                  query, longest_text()),
      std::move(remedy), count_};
}

Warning LateRecords::unread(std::string where, std::string remedy) const {
  return {"out_of_order", std::move(where),
          fmt::format("the record is older than one before it, so patterns may miss matches; such records come up to {} late",
                      longest_text()),
          std::move(remedy), count_};
}

}  // namespace deltamatch::ingest
