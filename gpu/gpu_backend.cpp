// The public factory (deltamatch/gpu.hpp): chooses the slabs that a policy needs and makes the matcher.
#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/nvtx.hpp"
#include "gpu/cuda/slabs.hpp"
#include "gpu/gpu_matcher.hpp"
#include "gpu/mine/device_dense_sets.hpp"
#include "gpu/mine/device_motifs.hpp"
#include "gpu/testing.hpp"
#include "match/backend.hpp"

namespace deltamatch {

namespace {

void check_walks(const GpuOptions& options) {
  if (options.walks == 0) return;
  if (!(options.walks >= GpuOptions::least_walks && options.walks <= GpuOptions::most_walks)) {
    throw Error(ErrorKind::configuration, "walks", "the number of walks is out of range",
                "give " + std::to_string(static_cast<long>(GpuOptions::least_walks)) + " to " +
                    std::to_string(static_cast<long>(GpuOptions::most_walks)));
  }
  if (options.walk_count == WalkCount::paper || options.walk_count == WalkCount::formula) {
    throw Error(ErrorKind::configuration, "walks", "the number is chosen for each batch", "leave the number out");
  }
}

class GpuBackend final : public Backend {
 public:
  GpuBackend(const GpuOptions& options, const GpuTesting& testing) : options_{options, testing} {
    check_walks(options_);
    if (options_.devices.empty()) {
      const std::vector<int> all = gpu_devices();
      if (all.empty()) throw Error(ErrorKind::runtime, "GPU", gpu_absence(), "match on the CPU");
      options_.devices = {all.front()};
    }
    for (const int device : options_.devices) gpu::probe(device);
    gpu::check(cudaSetDevice(options_.devices.front()), "cudaSetDevice");
    switch (options_.policy) {
      case CachePolicy::resident:
        break;
      case CachePolicy::managed:
        managed_ = std::make_unique<gpu::ManagedSlabs>(options_.devices);
        break;
      default:
        pinned_ = std::make_unique<gpu::PinnedSlabs>(options_.devices, options_.testing.refused_slab);
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "gpu"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override {
    return {.own_memory = true,
            .frees_cores = true,
            .whole_graph = true,
            .filters = true,
            .cliques = true,
            .motifs = true,
            .devices = static_cast<unsigned>(options_.devices.size())};
  }

  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override {
    if (managed_) return *managed_;
    if (pinned_) return *pinned_;
    return graph::heap_slabs();
  }

  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return gpu::make_matcher(options_, pinned_.get(), managed_ != nullptr, workers);
  }

  [[nodiscard]] std::unique_ptr<match::DenseSetCounter> make_dense_set_counter() override {
    return gpu::make_dense_set_counter(on_each(gpu::make_cuda_dense_ops), {.memory = options_.memory});
  }

  [[nodiscard]] std::unique_ptr<match::MotifCounter> make_motif_counter() override {
    return gpu::make_motif_counter(on_each(gpu::make_cuda_motif_ops), {.memory = options_.memory});
  }

  void begin_step(const char* name) noexcept override { gpu::begin_range(name); }
  void end_step() noexcept override { gpu::end_range(); }

 private:
  template <class Ops>
  [[nodiscard]] std::vector<gpu::MakeOps<Ops>> on_each(std::unique_ptr<Ops> (*make)()) const {
    std::vector<gpu::MakeOps<Ops>> devices;
    for (const int device : options_.devices) {
      devices.emplace_back([device, make] {
        gpu::check(cudaSetDevice(device), "cudaSetDevice");
        return make();
      });
    }
    return devices;
  }

  GpuSettings options_;
  std::unique_ptr<gpu::PinnedSlabs> pinned_;
  std::unique_ptr<gpu::ManagedSlabs> managed_;
};

}  // namespace

std::vector<int> gpu_devices() {
  std::vector<int> usable;
  for (const gpu::Device& device : gpu::devices()) {
    if (device.has_code) usable.push_back(device.ordinal);
  }
  return usable;
}

std::string gpu_absence() {
  if (!gpu_devices().empty()) return {};
  const std::string strange = gpus_without_code();
  return strange.empty() ? "no CUDA device is found" : "this build has no code for what is there: " + strange;
}

std::string gpus_without_code() {
  std::string all;
  for (const gpu::Device& device : gpu::devices()) {
    if (device.has_code) continue;
    all += (all.empty() ? "" : ", ") + device.name + " (" + std::to_string(device.major) + "." + std::to_string(device.minor) +
           ")";
  }
  return all;
}

std::shared_ptr<Backend> make_gpu_backend(const GpuOptions& options) { return make_gpu_backend(options, GpuTesting{}); }

std::shared_ptr<Backend> make_gpu_backend(const GpuOptions& options, const GpuTesting& testing) {
  return std::make_shared<GpuBackend>(options, testing);
}

}  // namespace deltamatch
