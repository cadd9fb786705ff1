// Turns the matches of a batch into alerts, apart for each slot of the workers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ingest/service/alert/router.hpp"

namespace deltamatch::ingest {

/// A router for each slot. The engine must own slots of as many (Engine::take_share). Rate limits would hold for each slot
/// alone. Not thread-safe.
class SlotRouter final : public RoutedSink {
 public:
  SlotRouter(std::uint32_t slots, std::span<const SinkOptions> sinks, const AlertMemory& memory, const Schema& schema);

  void set_queries(std::span<const ServiceQuery> queries) override;
  void begin(std::uint64_t batch) override;
  void write(const Match& match) override;
  void end(const ListingEnd& end) override;
  void commit() override;
  void abort() noexcept override;

  /// The alerts of a slot since the last call by sink, in the order written.
  [[nodiscard]] std::vector<AlertList> take(std::uint32_t slot) { return routers_[slot]->take(); }

 private:
  std::vector<std::unique_ptr<AlertRouter>> routers_;  // by slot
};

}  // namespace deltamatch::ingest
