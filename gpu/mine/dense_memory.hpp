// Device memory for counting dense sets, and the lists that are put there first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/mine/dense_ops.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::gpu {

struct NodeBuffer {
  NodeBuffer(DenseOps& ops, std::uint64_t count, unsigned node_words) : heads(ops, count), words(ops, count * node_words) {}
  [[nodiscard]] Nodes nodes() const noexcept { return {heads.get(), words.get()}; }
  DeviceArray<NodeHead> heads;
  DeviceArray<Word> words;
};

/// The later lists on a device.
struct DeviceLists {
  DeviceLists(DenseOps& ops, const match::LaterLists& graph) {
    std::vector<std::uint64_t> ends{0};
    std::vector<VertexId> packed;
    ends.reserve(std::size_t{graph.vertices()} + 1);
    for (VertexId v = 0; v < graph.vertices(); ++v) {
      const auto list = graph.later(v);
      packed.insert(packed.end(), list.begin(), list.end());
      ends.push_back(packed.size());
    }
    begin = DeviceArray<std::uint64_t>(ops, ends);
    later = DeviceArray<std::uint32_t>(ops, packed);
    host_begin = std::move(ends);
    bytes = host_begin.size() * sizeof(std::uint64_t) + packed.size() * sizeof(std::uint32_t);
  }
  DeviceArray<std::uint64_t> begin;
  DeviceArray<std::uint32_t> later;
  std::vector<std::uint64_t> host_begin;
  std::size_t bytes = 0;
};

}  // namespace deltamatch::gpu
