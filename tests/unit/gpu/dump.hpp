// Reads a vertex's list and the staged changes to it through the device's view. Works on host and device alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/mirror/packed_list.hpp"

namespace deltamatch::gpu {

/// Appends to `out`, or only counts if it is null: size, ids, tags, added, their tags, removed, their tags. Only the derived
/// store has tags.
struct Dumper {
  std::uint32_t* out;
  std::uint32_t words = 0;

  DELTAMATCH_HOST_DEVICE void put(std::uint32_t word) {
    if (out != nullptr) out[words] = word;
    ++words;
  }
  DELTAMATCH_HOST_DEVICE void put(const std::uint32_t* column, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) put(column[i]);
  }
  DELTAMATCH_HOST_DEVICE void put_changes(const std::uint32_t* ids, const std::uint32_t* tags, std::uint32_t begin,
                                          std::uint32_t end) {
    put(end - begin);
    put(ids, begin, end);
    if (tags != nullptr) put(tags, begin, end);
  }
  DELTAMATCH_HOST_DEVICE void put_list(const GraphView& view, const DeviceQueryRelation& query_relation, std::uint32_t vertex) {
    if (query_relation.relation == 0xffffffff) return;
    const Store& store = view.stores[query_relation.store];
    const Row row = store.rows[vertex];
    const PackedList list = list_of(view, query_relation, vertex);
    put_changes(list.ids, query_relation.derived != 0 ? list.ids + list.capacity : nullptr, 0, list.size);
    if ((row.shape & Row::staged_bit) == 0) return;
    const std::uint32_t d = merge_search(store.delta_vertices, nullptr, 0, store.delta_rows, vertex, 0);
    for (std::uint32_t i = store.delta_first_slice[d]; i < store.delta_first_slice[d + 1]; ++i) {
      if (store.slices[i].relation != query_relation.relation) continue;
      put_changes(store.added, store.added_tags, store.slices[i].added_begin, store.slices[i + 1].added_begin);
      put_changes(store.removed, store.removed_tags, store.slices[i].removed_begin, store.slices[i + 1].removed_begin);
    }
  }
};

/// All lists of all vertices, by query relation and vertex, through a view of host memory.
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> dump_on_host(const GraphView& view, std::size_t query_relations) {
  std::vector<std::vector<std::uint32_t>> all;
  for (std::size_t query_relation = 0; query_relation < query_relations; ++query_relation) {
    for (std::uint32_t vertex = 0; vertex < view.stores[0].vertices; ++vertex) {
      Dumper count{nullptr};
      count.put_list(view, view.query_relations[query_relation], vertex);
      std::vector<std::uint32_t>& words = all.emplace_back(count.words);
      Dumper write{words.data()};
      write.put_list(view, view.query_relations[query_relation], vertex);
    }
  }
  return all;
}
/// The same for device memory. Runs a kernel.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> dump_on_device(const GraphView& view, std::size_t query_relations);

}  // namespace deltamatch::gpu
