#include "gpu/mirror/device_graph_impl.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/cuda/check.hpp"

namespace deltamatch::gpu {

using graph::Adjacency;

namespace {

constexpr unsigned batch_fence = 2;

void write_query_relations(std::span<const graph::Resolved> resolved, DeviceQueryRelation* query_relations) {
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    const graph::Resolved& where = resolved[i];
    query_relations[i] = {where.store == nullptr ? graph::no_relation : where.relation,
                          where.edge_label,
                          static_cast<std::uint8_t>(where.derived),
                          static_cast<std::uint8_t>(where.incoming),
                          static_cast<std::uint8_t>(where.parallel),
                          static_cast<std::uint8_t>(where.kind())};
  }
}

}  // namespace

DeviceGraph::DeviceGraph(std::unique_ptr<DeviceOps> ops, const DeviceGraphOptions& options, Workers& workers)
    : impl_(std::make_unique<Impl>(std::move(ops), options, workers)) {}

DeviceGraph::~DeviceGraph() = default;

void DeviceGraph::begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved) {
  begin(graph, resolved, all_reads(resolved));
}

void DeviceGraph::begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const Reads& reads) {
  for (;;) {
    try {
      impl_->begin(graph, resolved, reads);
      return;
    } catch (const DeviceOutOfMemory&) {
      if (!shrink()) throw;
    }
  }
}

void DeviceGraph::select(std::span<const HotVertex> hot) {
  if (impl_->options.storage == Storage::cached) impl_->select(hot);
}

std::size_t DeviceGraph::packed_bytes(HotVertex vertex) const noexcept {
  const Impl::Mirror& mirror = impl_->mirrors[vertex.store];
  if (mirror.store == nullptr || vertex.vertex >= mirror.granules.size()) return 0;
  return mirror.granules[vertex.vertex] * (DeviceArena::granule * sizeof(std::uint32_t));
}

bool DeviceGraph::divide(double ring_share) noexcept {
  Impl& impl = *impl_;
  if (impl.options.storage != Storage::cached || ring_share == impl.options.ring_share) return false;
  impl.options.ring_share = ring_share;
  impl.dividing = true;
  return true;
}

void DeviceGraph::forget() noexcept { impl_->forgetting = impl_->options.storage == Storage::cached; }

bool DeviceGraph::holds(HotVertex vertex) const noexcept {
  return impl_->resident() || (impl_->caches() && impl_->plan.find(vertex) != nullptr);
}

std::size_t DeviceGraph::cache_bytes() const noexcept { return impl_->plan.selectable_words() * sizeof(std::uint32_t); }

bool DeviceGraph::shrink() {
  Impl& impl = *impl_;
  if (impl.options.storage != Storage::cached || impl.pool.bytes() == 0) return false;
  impl.sound = false;
  const std::size_t half = (impl.pool.bytes() + impl.ring_words.bytes()) / 2;
  impl.release_cache();
  impl.cache_limit = half < least_cache_bytes ? 0 : half;
  impl.counts.reduced = true;
  return true;
}

const GraphView& DeviceGraph::view() const noexcept { return impl_->view; }

DeviceGraphStatistics DeviceGraph::statistics() const noexcept {
  const Impl& impl = *impl_;
  DeviceGraphStatistics figures = impl.counts;
  figures.copied_bytes = impl.staging.sent_bytes() + impl.batch_bytes;
  figures.cached_vertices = impl.sound ? impl.plan.vertices() : 0;
  figures.cached_lists = impl.plan.lists();
  figures.cached_bytes = impl.plan.used_words() * sizeof(std::uint32_t);
  figures.cache_bytes = impl.pool.bytes() + impl.ring_words.bytes();
  figures.device_bytes = impl.pool.bytes() + impl.ring_words.bytes() + impl.ring_places.bytes() + impl.ring_notes.bytes() +
                         impl.made.bytes() + impl.batch_device.bytes() + impl.staging.device_bytes();
  for (const Impl::Mirror& mirror : impl.mirrors) figures.device_bytes += mirror.rows.bytes();
  return figures;
}

std::size_t DeviceGraph::host_bytes() const noexcept {
  const Impl& impl = *impl_;
  std::size_t granules = 0;
  for (const Impl::Mirror& mirror : impl.mirrors) granules += mirror.granules.capacity();
  return impl.plan.bytes() + impl.staging.host_bytes() + impl.batch_host.bytes() + impl.shapes.capacity() * sizeof(BlockShape) +
         impl.hot.capacity() * sizeof(HotVertex) + impl.fates.capacity() + impl.merge_rows.capacity() * sizeof(MergeRow) +
         impl.group_sizes.capacity() * sizeof(Impl::MergeSizes) +
         (granules + impl.order.capacity() + impl.merges.capacity()) * sizeof(std::uint32_t);
}

void DeviceGraph::Impl::start_over() {
  plan = CachePlan(plan.pool_words(), plan.blocks());
  for (Mirror& mirror : mirrors) mirror.restart();
}

void DeviceGraph::Impl::begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const Reads& reads) {
  if (!sound) start_over();
  sound = false;
  followed = &graph;
  const auto of_graph = graph.stores();
  for (unsigned s = 0; s < stores; ++s) follow(s, of_graph[s], reads[s]);
  if (std::exchange(dividing, false)) {
    empty_cache();
    release_cache();
  }
  if (std::exchange(forgetting, false)) empty_cache();
  for (Mirror& mirror : mirrors) reserve_rows(mirror);
  if (options.storage == Storage::cached) make_pool();
  for (unsigned s = 0; s < stores; ++s) merge(s);
  if (resident()) make_resident();
  if (options.storage == Storage::cached) {
    for (unsigned s = 0; s < stores; ++s) regain(s);
  }
  send_batch(graph, resolved);
  for (unsigned s = 0; s < stores; ++s) {
    mirrors[s].fill_all = false;
    send_rows(mirrors[s], s);
  }
  sound = true;
}

// Blocks that are packed with more relations than needed stay. If a needed relation with entries is missing, all are packed
// again.
void DeviceGraph::Impl::use_relations(Mirror& mirror, unsigned s, const RelationSet& used) {
  const auto figures = mirror.store->figures();
  bool missing = false;
  for (graph::RelationId relation = 0; relation < used.bound(); ++relation) {
    if (mirror.relations.covers(used, relation)) continue;
    missing = missing || (relation < figures.size() && figures[relation].entries > 0);
  }
  if (!missing) {
    mirror.relations.insert(used);
    return;
  }
  plan.drop_store(s);
  mirror.relations = used;
  mirror.valid_rows = 0;
  mirror.fill.clear();
  mirror.fill_all = true;
}

// Finds what has changed in the store since the last begin: rows to send and blocks that are out of date.
void DeviceGraph::Impl::follow(unsigned s, const Adjacency* store, const RelationSet& used) {
  Mirror& mirror = mirrors[s];
  mirror.dirty.clear();
  mirror.merge.clear();
  if (resident()) mirror.fill.clear();
  mirror.store = store;
  const Adjacency::Mark now = store == nullptr ? Adjacency::Mark{} : store->mark();
  if (now.store != mirror.mark.store) {
    plan.drop_store(s);
    mirror.restart();
    mirror.relations.clear();
    mirror.granules.clear();
  }
  if (store == nullptr) return;
  if (mirror.mark.store == 0) mirror.mark = {now.store, now.changes, now.compactions, now.settled};
  plan.reserve_vertices(s, store->vertices());
  use_relations(mirror, s, used);
  if (now.compactions != mirror.mark.compactions && !resident()) mirror.valid_rows = 0;
  const auto changes = store->changes_since(mirror.mark);
  if (changes) {
    follow_changes(mirror, s, *changes);
  } else {
    forget_outdated(mirror, s);
  }
  if (options.storage == Storage::cached) size_up(mirror, changes.value_or(std::span<const VertexId>()));
  mirror.mark = now;
}

void DeviceGraph::Impl::follow_changes(Mirror& mirror, unsigned s, std::span<const VertexId> changes) {
  // Whether exactly the batch that lies on the device has been settled since.
  const bool known =
      mirror.batch.rows != 0 && changes.size() == mirror.batch.rows && mirror.store->mark().settled == mirror.batch.number;
  mirror.dirty.assign(changes.begin(), changes.end());
  if (!known) mirror.dirty.insert(mirror.dirty.end(), mirror.batch.vertices, mirror.batch.vertices + mirror.batch.rows);
  if (!caches() || mirror.fill_all) return;
  for (std::uint32_t i = 0; i < changes.size(); ++i) {
    const HotVertex vertex{changes[i], s};
    if (!resident() && plan.find(vertex) == nullptr) continue;
    if (known) {
      mirror.merge.push_back(i);
    } else {
      if (resident() || plan.wants(vertex)) mirror.fill.push_back(vertex.vertex);
      plan.drop(vertex);
    }
  }
}

void DeviceGraph::Impl::forget_outdated(Mirror& mirror, unsigned s) {
  hot.clear();
  plan.for_each(s, [&](const CacheSlot& slot) {
    if (mirror.store->version(slot.owner.vertex) != slot.shape.version) hot.push_back(slot.owner);
  });
  for (const HotVertex vertex : hot) {
    if (!resident() && plan.wants(vertex)) mirror.fill.push_back(vertex.vertex);
    plan.drop(vertex);
  }
  mirror.valid_rows = 0;
  mirror.fill_all = true;
}

void DeviceGraph::Impl::empty_cache() {
  clear_ring();
  for (unsigned s = 0; s < stores; ++s) {
    plan.for_each(s, [&](const CacheSlot& slot) { mirrors[s].dirty.push_back(slot.owner.vertex); });
    plan.drop_store(s);
    mirrors[s].merge.clear();
    mirrors[s].fill.clear();
  }
}

void DeviceGraph::Impl::reserve_rows(Mirror& mirror) {
  const std::size_t count = mirror.store == nullptr ? 0 : mirror.store->vertices();
  if (count * sizeof(Row) <= mirror.rows.bytes()) return;
  ops->drain();
  mirror.valid_rows = 0;
  mirror.rows.reserve((mirror.rows.bytes() == 0 ? count : count + count / 4) * sizeof(Row));
}

// Free bytes on the device, less the reserve, but at least half.
std::size_t DeviceGraph::Impl::spare_bytes() {
  const std::size_t free = ops->free_bytes();
  return std::max(free / 2, free - std::min(free, options.reserve_bytes));
}

// Gives the memory of the cache back. The next begin takes some again.
void DeviceGraph::Impl::release_cache() {
  ops->drain();
  pool.release();
  release_ring();
  has_pool = false;
  plan = CachePlan();
}

// Takes memory for the cache, after the rows have theirs.
void DeviceGraph::Impl::make_pool() {
  if (has_pool) return;
  const std::size_t spare = spare_bytes();
  counts.reduced = counts.reduced || (options.cache_bytes != 0 && spare < options.cache_bytes);
  for (std::size_t bytes = std::min(cache_limit, spare); bytes >= least_cache_bytes; bytes /= 2) {
    try {
      const auto for_ring = static_cast<std::size_t>(options.ring_share * static_cast<double>(bytes));
      make_ring(for_ring);
      pool.reserve(bytes - for_ring);
      break;
    } catch (const DeviceOutOfMemory&) {  // try half of it
      counts.reduced = true;
    }
  }
  plan = CachePlan(pool.bytes() / sizeof(std::uint32_t));
  for (unsigned s = 0; s < stores; ++s) {
    if (mirrors[s].store != nullptr) plan.reserve_vertices(s, mirrors[s].store->vertices());
  }
  has_pool = true;
}

// Sends the batch and the query relations in one copy.
void DeviceGraph::Impl::send_batch(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved) {
  Parts parts;
  const std::size_t query_relations_at = parts.add<DeviceQueryRelation>(resolved.size());
  BatchLayout layouts[stores];
  for (unsigned s = 0; s < stores; ++s) {
    if (mirrors[s].store != nullptr) layouts[s] = lay_out(*mirrors[s].store, parts);
  }
  reserve_batch(parts.bytes());
  write_query_relations(resolved, batch_host.as<DeviceQueryRelation>(query_relations_at));
  for (unsigned s = 0; s < stores; ++s) {
    Mirror& mirror = mirrors[s];
    mirror.batch = {};
    mirror.view = {};
    if (mirror.store == nullptr) continue;
    write_batch(mirror, layouts[s]);
    mirror.view = view_of(mirror, layouts[s]);
    // The rows of the batch's vertices have staged_bit.
    mirror.dirty.insert(mirror.dirty.end(), mirror.batch.vertices, mirror.batch.vertices + mirror.batch.rows);
  }
  ops->copy_in(batch_device.as<void>(), batch_host.as<void>(), parts.bytes());
  ops->fence(batch_fence);
  batch_bytes += parts.bytes();
  view = {{mirrors[0].view, mirrors[1].view, mirrors[2].view},
          view.ring,
          batch_device.as<const DeviceQueryRelation>(query_relations_at),
          static_cast<std::uint8_t>(graph.directed() ? 1 : 0)};
}

DeviceGraph::Impl::BatchLayout DeviceGraph::Impl::lay_out(const Adjacency& store, Parts& parts) {
  BatchLayout layout;
  layout.staged = store.staged();
  layout.slice_count = std::max<std::size_t>(layout.staged.slices.size(), 1);  // the sentinel is always there
  layout.vertices = parts.add<std::uint32_t>(layout.staged.rows);
  layout.first_slice = parts.add<std::uint32_t>(layout.staged.rows + 1);
  layout.slices = parts.add<DeltaSlice>(layout.slice_count);
  // If nothing is staged, the columns still hold the last batch.
  if (layout.staged.rows == 0) layout.staged = {};
  layout.added = parts.add<std::uint32_t>(layout.staged.added.size());
  layout.removed = parts.add<std::uint32_t>(layout.staged.removed.size());
  layout.tagged = store.column() == graph::Column::tag;
  if (!layout.tagged) return layout;
  layout.added_tags = parts.add<std::uint32_t>(layout.staged.added_payload.size());
  layout.removed_tags = parts.add<std::uint32_t>(layout.staged.removed_payload.size());
  return layout;
}

// Waits until the last batch has been copied.
void DeviceGraph::Impl::reserve_batch(std::size_t bytes) {
  ops->wait(batch_fence);
  if (bytes > batch_host.bytes()) {
    ops->drain();
    batch_host.reserve(bytes + bytes / 2);
    batch_device.reserve(batch_host.bytes());
  }
  batch_device.reserve(batch_host.bytes());  // may have failed before
}

// Writes the batch to host memory.
void DeviceGraph::Impl::write_batch(Mirror& mirror, const BatchLayout& layout) {
  const auto rows = static_cast<std::uint32_t>(layout.staged.rows);
  auto* vertices = batch_host.as<std::uint32_t>(layout.vertices);
  auto* first_slice = batch_host.as<std::uint32_t>(layout.first_slice);
  for (std::uint32_t i = 0; i < rows; ++i) {
    const Adjacency::StagedRow row = mirror.store->staged_row(i);
    vertices[i] = row.vertex;
    first_slice[i] = row.first_slice;
  }
  first_slice[rows] = static_cast<std::uint32_t>(layout.slice_count - 1);
  auto* slices = batch_host.as<DeltaSlice>(layout.slices);
  slices[0] = {graph::no_relation, 0, 0};
  std::transform(layout.staged.slices.begin(), layout.staged.slices.end(), slices, [](const Adjacency::DeltaSlice& slice) {
    return DeltaSlice{slice.relation, slice.added_begin, slice.removed_begin};
  });
  const auto put = [&](std::size_t at, std::span<const std::uint32_t> column) {
    if (!column.empty()) std::memcpy(batch_host.as<void>(at), column.data(), column.size_bytes());
  };
  put(layout.added, layout.staged.added);
  put(layout.removed, layout.staged.removed);
  if (layout.tagged) put(layout.added_tags, layout.staged.added_payload);
  if (layout.tagged) put(layout.removed_tags, layout.staged.removed_payload);
  mirror.batch = {vertices, first_slice, slices, rows, mirror.store->stages()};
}

// The store with its batch, as device pointers.
Store DeviceGraph::Impl::view_of(const Mirror& mirror, const BatchLayout& layout) const {
  const auto column = [&](std::size_t at) { return batch_device.as<const std::uint32_t>(at); };
  return {.rows = mirror.rows.as<Row>(),
          .vertices = static_cast<std::uint32_t>(mirror.store->vertices()),
          .delta_rows = mirror.batch.rows,
          .delta_vertices = column(layout.vertices),
          .delta_first_slice = column(layout.first_slice),
          .slices = batch_device.as<const DeltaSlice>(layout.slices),
          .added = column(layout.added),
          .added_tags = layout.tagged ? column(layout.added_tags) : nullptr,
          .removed = column(layout.removed),
          .removed_tags = layout.tagged ? column(layout.removed_tags) : nullptr};
}

}  // namespace deltamatch::gpu
