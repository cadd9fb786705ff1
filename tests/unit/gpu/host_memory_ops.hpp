// A device whose memory is the host's. It is limited, refuses when a test says so, and is full of garbage when fresh.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <new>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/memory_ops.hpp"

namespace deltamatch::gpu {

struct HostFigures {
  std::size_t limit = std::size_t{1} << 28;  // of device memory
  std::size_t refused = 0;                   // allocations that fail before one succeeds
  std::size_t used = 0;
  std::size_t launches = 0;
  std::size_t deferred = 0;
};

template <class Ops>
class HostMemoryOps : public Ops {
 public:
  using Figures = HostFigures;
  explicit HostMemoryOps(Figures& figures) : figures_(&figures) {}

  void* allocate(std::size_t bytes) override {
    if (figures_->refused > 0) {
      --figures_->refused;
      throw DeviceOutOfMemory("test");
    }
    if (figures_->used + bytes > figures_->limit) throw DeviceOutOfMemory("test");
    figures_->used += bytes;
    void* memory = ::operator new(bytes);
    std::memset(memory, 0xcd, bytes);
    sizes_[memory] = bytes;
    return memory;
  }
  void free(void* memory) noexcept override {
    figures_->used -= sizes_.at(memory);
    sizes_.erase(memory);
    ::operator delete(memory);
  }
  std::size_t free_bytes() override { return figures_->limit - figures_->used; }
  void write(void* device, const void* host, std::size_t bytes) override { std::memcpy(device, host, bytes); }
  void read(void* host, const void* device, std::size_t bytes) override { std::memcpy(host, device, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void clear(void* device, std::size_t bytes) override { std::memset(device, 0, bytes); }

  double kernel_seconds() override { return 0; }

 protected:
  Figures* figures_;

 private:
  std::map<void*, std::size_t> sizes_;
};

}  // namespace deltamatch::gpu
