// The ring that kernels fill with lists that they miss. The mirror gives it memory, and takes places of vertices back whose
// lists have changed (DeviceOps::scatter_rows).
#include "gpu/mirror/device_graph_impl.hpp"
#include "gpu/mirror/ring_shape.hpp"

namespace deltamatch::gpu {

namespace {

constexpr std::size_t least_ring_bytes = std::size_t{1} << 16;
// Short lists may need less than this. Then a segment holds fewer blocks than would fit.
constexpr std::uint32_t block_granules = 4;
static_assert(RingShape::granule_bytes == DemandRing::granule_words * sizeof(std::uint32_t));

}  // namespace

// Makes a ring of about so many bytes, or none if they are few. The rows must have their memory.
void DeviceGraph::Impl::make_ring(std::size_t bytes) {
  release_ring();
  if (bytes < least_ring_bytes) return;
  const RingShape shape(bytes);
  DemandRing ring{};
  ring.segments = shape.segments;
  ring.segments_ahead = shape.segments_ahead;
  ring.segment_granules = shape.segment_granules;
  ring.segment_blocks = ring.segment_granules / block_granules;
  ring.most_granules = shape.most_granules;
  ring.bytes = std::uint64_t{ring.segments} * ring.segment_granules * RingShape::granule_bytes;
  ring_words.reserve(ring.bytes);
  Parts parts;
  const std::size_t state_at = parts.add<DemandState>(1);
  const std::size_t announced_at = parts.add<std::uint32_t>(DemandRing::most_warps);
  const std::size_t blocks_at = parts.add<std::uint32_t>(ring.segments);
  const std::size_t emptied_at = parts.add<std::uint32_t>(ring.segments);
  const std::size_t owners_at = parts.add<std::uint32_t>(std::size_t{ring.segments} * ring.segment_blocks);
  ring_notes.reserve(parts.bytes());
  ring.words = ring_words.as<std::uint32_t>();
  ring.state = ring_notes.as<DemandState>(state_at);
  ring.announced = ring_notes.as<std::uint32_t>(announced_at);
  ring.blocks = ring_notes.as<std::uint32_t>(blocks_at);
  ring.emptied_at = ring_notes.as<std::uint32_t>(emptied_at);
  ring.owners = ring_notes.as<std::uint32_t>(owners_at);
  ring_start = {.cursor = std::uint64_t{ring.segments} << 32,
                .emptying = std::uint64_t{ring.segments_ahead} << 32,
                .withdrawn = 0,
                .epoch = 1,
                .lock = 0};
  view.ring = ring;
  if (mirrors[0].valid_rows != 0) clear_ring();  // otherwise it is cleared with the rows
}

void DeviceGraph::Impl::release_ring() noexcept {
  ring_words.release();
  ring_places.release();
  ring_notes.release();
  view.ring = {};
}

// Empties the ring. All rows are about to be sent.
void DeviceGraph::Impl::clear_ring() {
  DemandRing& ring = view.ring;
  if (ring.words == nullptr) return;
  const std::size_t bytes = mirrors[0].rows.bytes() / sizeof(Row) * sizeof(std::uint32_t);
  if (bytes > ring_places.bytes()) {
    ops->drain();
    ring_places.reserve(bytes);
  }
  ring.places = ring_places.as<std::uint32_t>();
  ops->set(ring.places, 0, ring_places.bytes());
  ops->set(ring.owners, 0, std::size_t{ring.segments} * ring.segment_blocks * sizeof(std::uint32_t));
  ops->set(ring.blocks, 0, ring.segments * sizeof(std::uint32_t));
  ops->set(ring.emptied_at, 0, ring.segments * sizeof(std::uint32_t));
  ops->set(ring.announced, 0xff, DemandRing::most_warps * sizeof(std::uint32_t));
  ops->copy_in(ring.state, &ring_start, sizeof(DemandState));
}

}  // namespace deltamatch::gpu
