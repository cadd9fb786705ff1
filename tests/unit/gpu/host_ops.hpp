// A device whose memory is the host's. It delays work as long as the interface allows. So tests notice a buffer that is filled
// again too early. Fresh memory holds garbage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <new>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/mirror/device_ops.hpp"

namespace deltamatch::gpu {

class HostOps final : public DeviceOps {
 public:
  struct Figures {
    std::size_t limit = std::size_t{1} << 30;  // of device memory
    std::size_t used = 0;
    std::size_t peak = 0;  // of used
    std::size_t merges = 0;
  };
  explicit HostOps(Figures& figures) : figures_(&figures) {}
  ~HostOps() override { drain(); }

  void* allocate(std::size_t bytes) override {
    if (figures_->used + bytes > figures_->limit) throw DeviceOutOfMemory("test");
    figures_->used += bytes;
    figures_->peak = std::max(figures_->peak, figures_->used);
    void* memory = allocate_host(bytes);
    sizes_[memory] = bytes;
    return memory;
  }
  void free(void* memory) noexcept override {
    drain();
    figures_->used -= sizes_.at(memory);
    sizes_.erase(memory);
    free_host(memory);
  }
  void* allocate_host(std::size_t bytes) override {
    void* memory = ::operator new(bytes);
    std::memset(memory, 0xcd, bytes);
    return memory;
  }
  void free_host(void* memory) noexcept override {
    drain();
    ::operator delete(memory);
  }
  std::size_t free_bytes() override { return figures_->limit - figures_->used; }

  void copy_in(void* device, const void* host, std::size_t bytes) override {
    queue_.emplace_back([=] { std::memcpy(device, host, bytes); });
  }
  void set(void* device, std::uint8_t value, std::size_t bytes) override {
    queue_.emplace_back([=] { std::memset(device, value, bytes); });
  }
  void scatter_rows(Row* rows, const RowChange* changes, std::size_t count, std::uint32_t* places) override {
    queue_.emplace_back([=] {
      for (std::size_t i = 0; i < count; ++i) {
        rows[changes[i].vertex] = changes[i].row;
        if (places != nullptr) places[changes[i].vertex] = DemandRing::absent;
      }
    });
  }
  void scatter_words(std::uint32_t* pool, const Piece* pieces, std::size_t count, const std::uint32_t* words) override {
    // Like pieces of a merge, they may run in any order: the last one first.
    queue_.emplace_back([=] {
      for (std::size_t i = count; i-- > 0;) {
        std::memcpy(pool + pieces[i].to, words + pieces[i].from, pieces[i].words * sizeof(std::uint32_t));
      }
    });
  }
  void merge(const MergeWork& work, std::size_t pieces) override {
    ++figures_->merges;
    // Pieces may run in any order: the last one first.
    queue_.emplace_back([=] {
      for (std::size_t i = pieces; i-- > 0;) {
        for (std::uint32_t lane = 4; lane-- > 0;) merge_piece(work, work.pieces[i], lane, 4);
      }
    });
  }
  void fence(unsigned which) override { fences_[which] = done_ + queue_.size(); }
  void wait(unsigned which) override {
    while (done_ < fences_[which]) run_one();
  }
  void drain() noexcept override {
    while (!queue_.empty()) run_one();
  }

 private:
  void run_one() noexcept {
    queue_.front()();
    queue_.pop_front();
    ++done_;
  }

  Figures* figures_;
  std::map<void*, std::size_t> sizes_;
  std::deque<std::function<void()>> queue_;
  std::size_t done_ = 0;
  std::size_t fences_[fences] = {};
};

}  // namespace deltamatch::gpu
