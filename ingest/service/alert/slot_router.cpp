#include "ingest/service/alert/slot_router.hpp"

#include <chrono>

namespace deltamatch::ingest {

SlotRouter::SlotRouter(std::uint32_t slots, std::span<const SinkOptions> sinks, const AlertMemory& memory,
                       const Schema& schema) {
  AlertMemory each = memory;
  each.bytes = memory.bytes / slots;
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    routers_.push_back(std::make_unique<AlertRouter>(sinks, std::chrono::steady_clock::now, each, schema));
}

void SlotRouter::set_queries(std::span<const ServiceQuery> queries) {
  for (const auto& router : routers_) router->set_queries(queries);  // if one refuses them, the first does
}

void SlotRouter::begin(std::uint64_t batch) {
  for (const auto& router : routers_) router->begin(batch);
}

void SlotRouter::write(const Match& match) { routers_[match.slot]->write(match); }

void SlotRouter::end(const ListingEnd& end) { routers_.front()->end(end); }

void SlotRouter::commit() {
  for (const auto& router : routers_) router->commit();
}

void SlotRouter::abort() noexcept {
  for (const auto& router : routers_) router->abort();
}

}  // namespace deltamatch::ingest
