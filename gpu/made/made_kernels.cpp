#include "gpu/made/made_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "deltamatch/error.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// What a block may have without asking for more.
constexpr std::uint32_t most_shared_bytes = 46U << 10;
// Longer texts take many seconds to compile.
constexpr std::size_t most_text = std::size_t{128} << 10;

// Whether the kernels of a plan are worth compiling, and can run.
bool is_small(const MadeText& made) {
  const std::uint32_t shared = made_threads / 32 * (made.bitmaps * bitmap_bytes + made.meetings * meeting_bytes);
  return made.ways.size() <= made_ways && made.task_words <= most_task_words && shared <= most_shared_bytes &&
         made.text.size() <= most_text;
}

}  // namespace

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
    if (is_small(made->shape)) made->cubin = compiler_->compile(made->shape.text, major_, minor_);
    made->shape.text.clear();
    at = kernels_.emplace(std::move(signature), std::move(made)).first;
  }
  return at->second->cubin.empty() ? nullptr : at->second.get();
}

}  // namespace deltamatch::gpu
