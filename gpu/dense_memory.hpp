// Memory of a device while dense sets are counted, and what is put there first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/dense_ops.hpp"
#include "gpu/dense_sets.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::gpu {

/// Memory of a device.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(DenseOps& ops, std::uint64_t count) : ops_(&ops), data_(static_cast<T*>(ops.allocate(count * sizeof(T)))) {}
  Buffer(DenseOps& ops, const std::vector<T>& values) : Buffer(ops, values.size()) { write(values); }
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept : ops_(other.ops_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    reset();
    ops_ = other.ops_;
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }

  [[nodiscard]] T* get() const noexcept { return data_; }
  void write(const std::vector<T>& values) const { ops_->write(data_, values.data(), values.size() * sizeof(T)); }

 private:
  void reset() noexcept {
    if (data_ != nullptr) ops_->free(data_);
    data_ = nullptr;
  }
  DenseOps* ops_ = nullptr;
  T* data_ = nullptr;
};

struct NodeBuffer {
  NodeBuffer(DenseOps& ops, std::uint64_t count, unsigned node_words) : heads(ops, count), words(ops, count * node_words) {}
  [[nodiscard]] Nodes nodes() const noexcept { return {heads.get(), words.get()}; }
  Buffer<NodeHead> heads;
  Buffer<Word> words;
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
    begin = Buffer<std::uint64_t>(ops, ends);
    later = Buffer<std::uint32_t>(ops, packed);
    host_begin = std::move(ends);
    bytes = host_begin.size() * sizeof(std::uint64_t) + packed.size() * sizeof(std::uint32_t);
  }
  /// What may be taken beside them.
  [[nodiscard]] std::size_t room(DenseOps& ops, const DenseSettings& settings) const {
    const std::size_t free = ops.free_bytes() / 16 * 15;
    if (settings.memory == 0) return free;
    return std::min(free, settings.memory - std::min(settings.memory, bytes));
  }
  Buffer<std::uint64_t> begin;
  Buffer<std::uint32_t> later;
  std::vector<std::uint64_t> host_begin;
  std::size_t bytes = 0;
};

}  // namespace deltamatch::gpu
