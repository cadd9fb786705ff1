#include "gpu/cuda/slabs.hpp"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/memory.hpp"

namespace deltamatch::gpu {

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + huge_page - 1) / huge_page * huge_page; }

// Maps memory that is aligned to huge pages.
void* map_pages(std::size_t bytes) {
  const std::size_t mapped = bytes + huge_page;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(memory);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(memory) % huge_page) % huge_page;
  if (before != 0) munmap(first, before);
  if (huge_page != before) munmap(first + before + bytes, huge_page - before);
  madvise(first + before, bytes, MADV_HUGEPAGE);  // only a hint: small pages work, too
  return first + before;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

PinnedSlabs::PinnedSlabs(std::vector<int> devices, std::uint32_t refused_from)
    : devices_(std::move(devices)), refused_from_(refused_from) {
  for (const int device : devices_) {
    if (attribute(cudaDevAttrCanUseHostPointerForRegisteredMem, device) == 0) {
      throw Error("CUDA device " + std::to_string(device),
                  "the device cannot read registered host memory through the host's pointers",
                  "use the policy resident, or the CPU");
    }
  }
}

PinnedSlabs::~PinnedSlabs() {
  for (const auto& [slab, facts] : slabs_) {
    if (facts.registered) cudaHostUnregister(slab);
    munmap(slab, facts.bytes);
  }
}

bool PinnedSlabs::enroll(void* slab, std::size_t bytes) {
  if (allocated_ < refused_from_) ++allocated_;
  const bool refused = refused_from_ != 0 && allocated_ == refused_from_;
  cudaError_t status = devices_.empty() || refused ? cudaErrorNoDevice : cudaSetDevice(devices_.front());
  if (status == cudaSuccess) status = cudaHostRegister(slab, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaSuccess) {
    void* seen = nullptr;
    status = cudaHostGetDevicePointer(&seen, slab, 0);
    if (status == cudaSuccess && seen == slab) return true;
    cudaHostUnregister(slab);
  }
  static_cast<void>(cudaGetLastError());
  notice_ = "CUDA cannot register host memory (" +
            std::string(status == cudaSuccess ? "the device has another address for it" : cudaGetErrorString(status)) +
            "), so only the policy resident works";
  return false;
}

void* PinnedSlabs::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t whole = whole_pages(bytes);
  void* slab = map_pages(whole);
  try {
    slabs_.try_emplace(slab, Slab{whole, false});
    slabs_[slab].registered = enroll(slab, whole);
  } catch (...) {
    slabs_.erase(slab);
    munmap(slab, whole);
    throw std::bad_alloc();
  }
  bytes_ += whole;
  if (!slabs_[slab].registered) ++unregistered_;
  return slab;
}

void PinnedSlabs::release(void* slab, std::size_t /*bytes*/) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = slabs_.find(slab);
  if (found == slabs_.end()) return;
  if (found->second.registered) {
    cudaHostUnregister(slab);
  } else {
    --unregistered_;
  }
  munmap(slab, found->second.bytes);
  bytes_ -= found->second.bytes;
  slabs_.erase(found);
}

bool PinnedSlabs::registered() const {
  const std::lock_guard lock(mutex_);
  return unregistered_ == 0;
}

std::string PinnedSlabs::notice() const {
  const std::lock_guard lock(mutex_);
  return unregistered_ == 0 ? std::string() : notice_;
}

std::size_t PinnedSlabs::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

ManagedSlabs::ManagedSlabs(const std::vector<int>& devices) : device_(devices.front()), limit_(SIZE_MAX) {
  for (const int device : devices) {
    if (attribute(cudaDevAttrConcurrentManagedAccess, device) == 0) {
      throw Error("CUDA device " + std::to_string(device), "the device cannot share unified memory with a running host",
                  "use another policy than managed");
    }
    check(cudaSetDevice(device), "cudaSetDevice");
    limit_ = std::min(limit_, free_device_bytes());
  }
}

void* ManagedSlabs::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - bytes_) {
    throw graph::SlabShortage("policy managed",
                              "the graph's lists exceed the " + std::to_string(limit_ >> 20) +
                                  " MiB of free device memory, and more would be moved back and forth",
                              "use another policy: random-walk, or resident if the graph fits");
  }
  check(cudaSetDevice(device_), "cudaSetDevice");
  void* slab = nullptr;
  try {
    check(cudaMallocManaged(&slab, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
  } catch (const DeviceOutOfMemory&) {
    throw graph::SlabShortage("policy managed", "CUDA has no unified memory left for the graph's lists",
                              "use another policy, or see in nvidia-smi what else takes memory");
  }
  bytes_ += bytes;
  return slab;
}

void ManagedSlabs::release(void* slab, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  cudaFree(slab);
  bytes_ -= bytes;
}

std::size_t ManagedSlabs::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace deltamatch::gpu
