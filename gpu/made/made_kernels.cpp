#include "gpu/made/made_kernels.hpp"

#include <utility>

#include "deltamatch/error.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

MadeKernels::MadeKernels(int major, int minor) : major_(major), minor_(minor), compiler_(Compiler::open()) {
  if (!compiler_) {
    throw Error("kernels made for plans", "NVRTC is not installed", "install it, or set DELTAMATCH_NVRTC to libnvrtc.so");
  }
}

void MadeKernels::choose(FlatPrograms& flat) {
  for (FlatWork* work : {&flat.sums, &flat.walks}) {
    work->made.assign(work->programs.size(), nullptr);
    for (std::size_t p = 0; p < work->programs.size(); ++p) {
      if (can_be_made(flat, work->programs[p])) work->made[p] = find(flat, work->programs[p]);
    }
  }
}

const MadeKernel* MadeKernels::find(const FlatPrograms& flat, const Program& program) {
  std::string signature = signature_of(flat, program);
  auto at = kernels_.find(signature);
  if (at == kernels_.end()) {
    auto made = std::make_unique<MadeKernel>();
    made->shape = write_kernels(flat, program);
    const std::string text = std::exchange(made->shape.text, {});
    if (made->shape.ways.size() <= made_ways && made->shape.task_words <= most_task_words) {
      made->cubin = compiler_->compile(text, major_, minor_);
    }
    at = kernels_.emplace(std::move(signature), std::move(made)).first;
  }
  return at->second->cubin.empty() ? nullptr : at->second.get();
}

}  // namespace deltamatch::gpu
