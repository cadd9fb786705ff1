#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>

#include "gpu/cuda/check.hpp"
#include "gpu/mirror/device_graph_impl.hpp"

namespace deltamatch::gpu {

namespace {

// Vertices that a thread packs at a time.
constexpr std::size_t pack_grain = 32;
// Vertices that are made resident at a time.
constexpr std::size_t fill_vertices = std::size_t{1} << 20;
// In a cache, selected lists may lack places. If they need more than this share of the pool, others give up theirs.
constexpr std::uint64_t lost_share = 64;

// Size of a resident graph's pool, which holds more than the lists. The first is the initial size. The second is the least
// after refilling, so that refilling does not happen again and again.
constexpr std::uint64_t with_room(std::uint64_t words) noexcept { return words + words / 4; }
constexpr std::uint64_t with_least_room(std::uint64_t words) noexcept { return words + words / 16; }

}  // namespace

Row DeviceGraph::Impl::row_of(const Mirror& mirror, unsigned s, VertexId vertex) const noexcept {
  const graph::Adjacency::Block block = mirror.store->block(vertex);
  if (const CacheSlot* slot = plan.find({vertex, s})) {
    const std::uint32_t* words = slot->shape.entries == 0 ? nullptr : pool.as<std::uint32_t>() + slot->offset;
    return {words, slot->shape.entries, Row::make_shape(slot->shape.slices, slot->shape.directory_log(), true, block.staged)};
  }
  if (resident()) return {nullptr, 0, Row::make_shape(0, 0, true, block.staged)};
  return {block.words, block.capacity, Row::make_shape(block.slices, block.directory_log, false, block.staged)};
}

void DeviceGraph::Impl::send_rows(Mirror& mirror, unsigned s) {
  if (mirror.store == nullptr) return;
  // If more rows changed, sending the whole table is cheaper.
  if (mirror.dirty.size() > mirror.valid_rows / 2) mirror.valid_rows = 0;
  const std::size_t sent_before = mirror.valid_rows;
  if (s == 0 && sent_before == 0) clear_ring();
  send_row_range(mirror, s);
  if (sent_before != 0) send_dirty_rows(mirror, s);
  mirror.dirty.clear();
}

// Sends rows that were never sent.
void DeviceGraph::Impl::send_row_range(Mirror& mirror, unsigned s) {
  const std::size_t all = mirror.store->vertices();
  while (mirror.valid_rows < all) {
    const std::size_t first = mirror.valid_rows;
    const std::size_t count = std::min(all - first, staging.chunk_bytes() / sizeof(Row));
    staging.open(count * sizeof(Row));
    Row* rows = staging.host<Row>(0);
    workers->for_each(count, look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) rows[i] = row_of(mirror, s, static_cast<VertexId>(first + i));
    });
    staging.send_to(mirror.rows.as<Row>() + first, count * sizeof(Row));
    staging.close();
    mirror.valid_rows = first + count;
  }
}

void DeviceGraph::Impl::send_dirty_rows(Mirror& mirror, unsigned s) {
  const std::span<const VertexId> dirty = mirror.dirty;
  for (std::size_t first = 0; first < dirty.size();) {
    const std::size_t count = std::min(dirty.size() - first, staging.chunk_bytes() / sizeof(RowChange));
    staging.open(count * sizeof(RowChange));
    auto* changes = staging.host<RowChange>(0);
    workers->for_each(count, look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const VertexId vertex = dirty[first + i];
        if (i + 16 < end) {
          mirror.store->prefetch(dirty[first + i + 16]);
          plan.prefetch({dirty[first + i + 16], s});
        }
        if (i + 8 < end) plan.prefetch_slot({dirty[first + i + 8], s});
        changes[i] = {row_of(mirror, s, vertex), vertex, {}};
      }
    });
    staging.send(count * sizeof(RowChange));
    ops->scatter_rows(mirror.rows.as<Row>(), staging.device<RowChange>(0), count, s == 0 ? view.ring.places : nullptr);
    staging.close();
    first += count;
  }
}

/// Sets `shapes`, parallel to `vertices`.
void DeviceGraph::Impl::look_up_shapes(std::span<const HotVertex> vertices) {
  shapes.resize(vertices.size());
  workers->for_each(vertices.size(), look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Mirror& mirror = mirrors[vertices[i].store];
      if (i + 8 < end) mirrors[vertices[i + 8].store].store->prefetch(vertices[i + 8].vertex);
      if (i + 4 < end) mirrors[vertices[i + 4].store].store->prefetch_block(vertices[i + 4].vertex);
      shapes[i] = shape_of(mirror, vertices[i].vertex);
    }
  });
}

// Sets `order` to positions in `hot`, long blocks first.
void DeviceGraph::Impl::order_longest_first() {
  order.resize(hot.size());
  std::iota(order.begin(), order.end(), 0);
  longest_first(order, [&](std::uint32_t i) { return shapes[i].words(); });
}

// Fills the places of these vertices.
void DeviceGraph::Impl::send_blocks(std::span<const CacheSlot> slots) {
  counts.moved += slots.size();
  for (std::size_t first = 0; first < slots.size();) {
    std::uint64_t words = 0;
    std::uint32_t pieces = 0;
    std::size_t end = first;
    chunk_words.clear();
    chunk_pieces.clear();
    for (; end < slots.size(); ++end) {
      const std::uint64_t more = slots[end].shape.words();
      const std::size_t bytes = (words + more) * sizeof(std::uint32_t) + (pieces + pieces_of(more)) * sizeof(Piece);
      if (end > first && bytes > staging.chunk_bytes()) break;
      chunk_words.push_back(words);
      chunk_pieces.push_back(pieces);
      words += more;
      pieces += pieces_of(more);
    }
    if (words != 0) send_chunk(slots.subspan(first, end - first), pieces, words);
    first = end;
  }
}

void DeviceGraph::Impl::send_chunk(std::span<const CacheSlot> slots, std::uint32_t pieces, std::uint64_t words) {
  Parts parts;
  const std::size_t pieces_at = parts.add<Piece>(pieces);
  const std::size_t words_at = parts.add<std::uint32_t>(words);
  staging.open(parts.bytes());
  auto* all_pieces = staging.host<Piece>(pieces_at);
  auto* all_words = staging.host<std::uint32_t>(words_at);
  workers->for_each(slots.size(), pack_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 4 < end) mirrors[slots[i + 4].owner.store].store->prefetch_block(slots[i + 4].owner.vertex);
      const CacheSlot& slot = slots[i];
      const Mirror& mirror = mirrors[slot.owner.store];
      pack(*mirror.store, slot.owner.vertex, mirror.relations, owner(mirror, slot.owner.vertex), slot.shape,
           all_words + chunk_words[i]);
      cut(slot.offset, chunk_words[i], slot.shape.words(), all_pieces + chunk_pieces[i]);
    }
  });
  staging.send(parts.bytes());
  ops->scatter_words(pool.as<std::uint32_t>(), staging.device<Piece>(pieces_at), pieces,
                     staging.device<std::uint32_t>(words_at));
  staging.close();
  counts.packed_bytes += parts.bytes();
}

void DeviceGraph::Impl::select(std::span<const HotVertex> wanted) {
  if (!sound) throw Error("device graph", "select was called without begin", "report this as a bug");
  sound = false;
  hot.clear();
  for (const HotVertex vertex : wanted) {
    const graph::Adjacency* store = mirrors[vertex.store].store;
    if (store != nullptr && vertex.vertex < store->vertices()) hot.push_back(vertex);
  }
  look_up_shapes(hot);
  plan.select(hot, shapes, selection);
  send_blocks(selection.moved);
  for (const CacheSlot& slot : selection.moved) mirrors[slot.owner.store].dirty.push_back(slot.owner.vertex);
  for (const HotVertex vertex : selection.evicted) mirrors[vertex.store].dirty.push_back(vertex.vertex);
  for (Mirror& mirror : mirrors) mirror.fill.clear();
  for (const HotVertex vertex : selection.unplaced) mirrors[vertex.store].fill.push_back(vertex.vertex);
  for (unsigned s = 0; s < stores; ++s) send_rows(mirrors[s], s);
  counts.kept += selection.kept;
  counts.evicted += selection.evicted.size();
  sound = true;
}

// Gives a place to every vertex with lists. If the pool has become too small, starts over in a larger one.
void DeviceGraph::Impl::make_resident() {
  if (!has_pool) renew_pool();
  const auto fill_all = [&] {
    for (unsigned s = 0; s < stores; ++s) {
      if (!fill(s)) return false;
    }
    return true;
  };
  if (fill_all()) return;
  renew_pool();
  if (!fill_all()) throw DeviceOutOfMemory("the resident graph's lists");
}

// Returns false if there is no room.
bool DeviceGraph::Impl::fill(unsigned s) {
  Mirror& mirror = mirrors[s];
  if (mirror.store == nullptr) return true;
  const std::size_t count = mirror.fill_all ? mirror.store->vertices() : mirror.fill.size();
  if (mirror.fill_all) mirror.valid_rows = 0;
  std::vector<HotVertex> some;
  for (std::size_t first = 0; first < count; first += fill_vertices) {
    some.clear();
    for (std::size_t i = first; i < std::min(count, first + fill_vertices); ++i) {
      const HotVertex vertex{mirror.fill_all ? static_cast<VertexId>(i) : mirror.fill[i], s};
      if (plan.find(vertex) == nullptr) some.push_back(vertex);
    }
    if (!fill_some(some)) return false;
  }
  return true;
}

bool DeviceGraph::Impl::fill_some(std::span<const HotVertex> vertices) {
  look_up_shapes(vertices);
  selection.moved.clear();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (shapes[i].entries == 0 || plan.find(vertices[i]) != nullptr) continue;
    if (!plan.add(vertices[i], shapes[i])) return false;
    selection.moved.push_back(*plan.find(vertices[i]));
  }
  send_blocks(selection.moved);
  return true;
}

// Gives places to vertices that the last selection wanted and that have none, the longest first.
// Much may remain without a place if no gap is long enough for a list. Then changed vertices give up theirs first. If that does
// not suffice, and all would fit, all wanted vertices give up theirs. All are then placed together.
void DeviceGraph::Impl::regain(unsigned s) {
  Mirror& mirror = mirrors[s];
  if (mirror.fill.empty()) return;
  hot.clear();
  for (const VertexId vertex : mirror.fill) hot.push_back({vertex, s});
  const std::uint64_t bearable = plan.pool_words() / lost_share;
  const auto give_up = [&](HotVertex vertex) {
    plan.drop(vertex);
    hot.push_back(vertex);
  };
  std::uint64_t lost = place_longest_first();
  if (lost > bearable) {
    for (const CacheSlot& slot : selection.moved) plan.drop(slot.owner);
    for (const std::uint32_t i : mirror.merge) {
      if (const HotVertex vertex{mirror.batch.vertices[i], s}; plan.wants(vertex)) give_up(vertex);
    }
    lost = place_longest_first();
  }
  if (lost > bearable && plan.used_words() + lost <= plan.pool_words() - bearable) {
    for (const CacheSlot& slot : selection.moved) plan.drop(slot.owner);
    plan.for_each(s, [&](const CacheSlot& slot) {
      if (plan.wants(slot.owner)) give_up(slot.owner);
    });
    (void)place_longest_first();
  }
  mirror.fill.clear();
  for (std::size_t i = 0; i < hot.size(); ++i) {
    if (shapes[i].entries != 0 && plan.find(hot[i]) == nullptr) mirror.fill.push_back(hot[i].vertex);
    mirror.dirty.push_back(hot[i].vertex);
  }
  send_blocks(selection.moved);
}

// Places those vertices of `hot` that have no place. `selection.moved` gets those that find one. Returns the words of the
// others.
std::uint64_t DeviceGraph::Impl::place_longest_first() {
  look_up_shapes(hot);
  order_longest_first();
  selection.moved.clear();
  std::uint64_t lost = 0;
  for (const std::uint32_t i : order) {
    if (shapes[i].entries == 0 || plan.find(hot[i]) != nullptr) continue;
    make_room(shapes[i]);
    if (plan.add(hot[i], shapes[i])) {
      selection.moved.push_back(*plan.find(hot[i]));
    } else {
      lost += shapes[i].words();
    }
  }
  return lost;
}

// Computes the packed sizes of the vertices that have changed, or of all.
void DeviceGraph::Impl::size_up(Mirror& mirror, std::span<const VertexId> changes) {
  mirror.granules.resize(mirror.store->vertices());
  const std::size_t count = mirror.fill_all ? mirror.granules.size() : changes.size();
  workers->for_each(count, look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    const auto vertex_at = [&](std::size_t i) { return mirror.fill_all ? static_cast<VertexId>(i) : changes[i]; };
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 8 < end) mirror.store->prefetch(vertex_at(i + 8));
      if (i + 4 < end) mirror.store->prefetch_block(vertex_at(i + 4));
      const std::uint64_t words = plan.words_of(shape_of(mirror, vertex_at(i)));
      // A vertex that changed in several batches occurs as often.
      std::atomic_ref(mirror.granules[vertex_at(i)])
          .store(static_cast<std::uint32_t>(words / DeviceArena::granule), std::memory_order_relaxed);
    }
  });
}

// Words of all lists.
DeviceGraph::Impl::ResidentWords DeviceGraph::Impl::resident_words(const Mirror& mirror) const {
  ResidentWords all;
  if (mirror.store == nullptr) return all;
  std::vector<ResidentWords> own(workers->size());
  workers->for_each(mirror.store->vertices(), look_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    ResidentWords some;
    for (std::size_t vertex = begin; vertex < end; ++vertex) {
      const std::uint64_t words = shape_of(mirror, static_cast<VertexId>(vertex)).words();
      if (words != 0) some += {words, DeviceArena::rounded(words), DeviceArena::roomy(words)};
    }
    own[worker] += some;
  });
  for (const ResidentWords& some : own) all += some;
  return all;
}

// Makes an empty pool that can hold all lists and has room to grow.
void DeviceGraph::Impl::renew_pool() {
  ResidentWords all;
  for (const Mirror& mirror : mirrors) all += resident_words(mirror);
  const std::uint64_t need = all.exact;
  const std::size_t least = with_least_room(need) * sizeof(std::uint32_t);
  if (!has_pool || pool.bytes() < with_least_room(with_least_room(need)) * sizeof(std::uint32_t)) {
    ops->drain();
    pool.release();
    made.release();
    has_pool = false;
    plan = CachePlan();
    const std::size_t limit = std::min(cache_limit, ops->free_bytes());
    if (limit < least) {
      throw DeviceOutOfMemory("memory for " + std::to_string(((least - 1) >> 20) + 1) + " MiB of lists",
                              "raise --gpu-memory if it is set, or use another policy than resident");
    }
    try {
      // Room to grow comes only from memory that nobody else needs.
      const std::size_t wanted = std::max(with_room(need) * sizeof(std::uint32_t), least_pool_bytes);
      pool.reserve(std::max(least, std::min({wanted, limit, spare_bytes()})));
    } catch (const DeviceOutOfMemory&) {
      pool.reserve(least);
    }
    has_pool = true;
  }
  // If the pool is large enough, blocks get more room than they need, so that most growing lists keep their places.
  const std::uint64_t words = pool.bytes() / sizeof(std::uint32_t);
  const auto blocks = [&] {
    if (words < with_least_room(all.rounded)) return CachePlan::Blocks::exact;
    return words < with_least_room(all.roomy) ? CachePlan::Blocks::rounded : CachePlan::Blocks::roomy;
  };
  plan = CachePlan(words, blocks());
  for (unsigned s = 0; s < stores; ++s) {
    Mirror& mirror = mirrors[s];
    mirror.fill_all = true;
    mirror.fill.clear();
    if (mirror.store != nullptr) plan.reserve_vertices(s, mirror.store->vertices());
  }
}

std::size_t resident_bytes(const graph::DataGraph& graph) noexcept {
  std::size_t bytes = 0;
  for (const graph::Adjacency* store : {&graph.base(), graph.derived()}) {
    if (store == nullptr) continue;
    const std::size_t entry_words = store->column() == graph::Column::tag ? 2 : 1;
    std::uint64_t lists = 0;
    std::uint64_t words = 0;
    for (const graph::RelationFigures& figures : store->figures()) {
      lists += figures.lists;
      words += figures.entries * entry_words;
    }
    // A directory takes up to twice the words of its lists, and a block is rounded up.
    words += lists * 4 + std::min<std::uint64_t>(lists, store->vertices()) * (DeviceArena::granule - 1);
    bytes += words * sizeof(std::uint32_t) + store->vertices() * sizeof(Row);
  }
  return bytes;
}

std::size_t resident_bytes(const graph::DataGraph& graph, const Reads& reads, Workers& workers) {
  std::size_t bytes = 0;
  const auto of_graph = graph.stores();
  for (unsigned s = 0; s < stores; ++s) {
    const graph::Adjacency* store = of_graph[s];
    if (store == nullptr) continue;
    std::vector<std::uint64_t> words(workers.size());
    workers.for_each(store->vertices(), look_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        const auto vertex = static_cast<VertexId>(v);
        const LabelId owner = reads[s].by_owner() ? graph.dictionary.label(vertex) : empty_label;
        words[worker] += packed_shape(*store, vertex, reads[s], owner).words();
      }
    });
    bytes += with_least_room(std::accumulate(words.begin(), words.end(), std::uint64_t{0})) * sizeof(std::uint32_t) +
             store->vertices() * sizeof(Row);
  }
  return bytes;
}

bool fits(const graph::DataGraph& graph, std::size_t free_bytes, std::size_t budget) noexcept {
  const std::size_t limit = budget == 0 ? free_bytes : std::min(free_bytes, budget);
  const std::size_t bytes = resident_bytes(graph);
  return bytes + bytes / 4 <= limit;
}

}  // namespace deltamatch::gpu
