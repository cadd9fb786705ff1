#include "gpu/made/driver.hpp"

#include <dlfcn.h>

#include <utility>

#include "gpu/cuda/check.hpp"

namespace deltamatch::gpu {

namespace {

constexpr int out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

struct Driver {
  int (*load)(void**, const void*) = nullptr;
  int (*unload)(void*) = nullptr;
  int (*find)(void**, void*, const char*) = nullptr;
  int (*occupancy)(int*, void*, int, std::size_t) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) = nullptr;
  int (*name)(int, const char**) = nullptr;

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto take = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    };
    take(load, "cuModuleLoadData");
    take(unload, "cuModuleUnload");
    take(find, "cuModuleGetFunction");
    take(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    take(launch, "cuLaunchKernel");
    take(name, "cuGetErrorName");
  }
};

const Driver& driver() {
  static const Driver opened;
  if (opened.load == nullptr || opened.unload == nullptr || opened.find == nullptr || opened.occupancy == nullptr ||
      opened.launch == nullptr || opened.name == nullptr) {
    throw Error("CUDA driver", "libcuda.so.1 lacks a function", "install a driver of release 525 or later");
  }
  return opened;
}

void require(int status, std::string_view call) {
  if (status == 0) return;
  if (status == out_of_memory) throw DeviceOutOfMemory(call);
  const char* name = nullptr;
  driver().name(status, &name);
  throw Error(call, name == nullptr ? "an unknown error" : name, "check the driver and the devices with nvidia-smi");
}

}  // namespace

LoadedModule::LoadedModule(const std::string& cubin) { require(driver().load(&module_, cubin.data()), "cuModuleLoadData"); }
LoadedModule::~LoadedModule() {
  if (module_ != nullptr) static_cast<void>(driver().unload(module_));
}
LoadedModule::LoadedModule(LoadedModule&& other) noexcept : module_(std::exchange(other.module_, nullptr)) {}

DriverFunction LoadedModule::function(const std::string& name) const {
  void* found = nullptr;
  require(driver().find(&found, module_, name.c_str()), "cuModuleGetFunction");
  return found;
}

unsigned blocks_at_once(DriverFunction function, unsigned threads) {
  int blocks = 0;
  require(driver().occupancy(&blocks, function, static_cast<int>(threads), 0), "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(blocks);
}

void launch(DriverFunction function, unsigned blocks, unsigned threads, const void* parameter, cudaStream_t stream) {
  void* parameters[] = {const_cast<void*>(parameter)};
  require(driver().launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr), "kernel made for a plan");
}

}  // namespace deltamatch::gpu
