#include "gpu/made/made_kernels.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// What a block may have without asking for more.
constexpr std::uint32_t most_shared_bytes = 46U << 10;
// Longer texts take many seconds to compile.
constexpr std::size_t most_text = std::size_t{128} << 10;
// Bytes of texts and cubins that are kept for other engines. A plan of five vertices takes some hundred KiB.
constexpr std::size_t most_cubins = std::size_t{64} << 20;

// Whether the kernels of a plan are worth compiling, and can run.
bool is_small(const MadeText& made, const std::string& text) {
  const std::uint32_t shared = made_threads / 32 * (made.bitmaps * bitmap_bytes + made.meetings * meeting_bytes);
  return made.ways.size() <= made_ways && made.task_words <= most_task_words && shared <= most_shared_bytes &&
         text.size() <= most_text;
}

Cubins& cubins_of_process() {
  static Cubins cubins(most_cubins);
  return cubins;
}

}  // namespace

MadeKernels::MadeKernels(int major, int minor) : major_(major), minor_(minor), compiler_(Compiler::open()) {
  if (!compiler_) {
    throw Error("kernels made for plans", "NVRTC is not installed", "install it, or set DELTAMATCH_NVRTC to libnvrtc.so");
  }
}

void MadeKernels::choose(FlatPrograms& flat, Workers& workers) {
  struct Choice {
    const MadeKernel** place;
    const MadeKernel* kernel;
  };
  std::vector<Choice> choices;
  BySignature made;
  for (FlatWork* work : {&flat.sums, &flat.walks}) {
    work->made.assign(work->programs.size(), nullptr);
    for (std::size_t p = 0; p < work->programs.size(); ++p) {
      const Program& program = work->programs[p];
      if (!can_be_made(flat, program)) continue;
      std::string signature = signature_of(flat, program);
      const auto known = kernels_.find(signature);
      if (known != kernels_.end()) {
        choices.push_back({&work->made[p], known->second.get()});
        continue;
      }
      std::unique_ptr<MadeKernel>& own = made[std::move(signature)];
      if (!own) own = std::make_unique<MadeKernel>(write_kernels(flat, program));
      choices.push_back({&work->made[p], own.get()});
    }
  }
  compile(made, workers);
  kernels_.merge(made);
  for (const Choice& choice : choices) *choice.place = choice.kernel->cubin ? choice.kernel : nullptr;
}

// Takes the kernels' texts.
void MadeKernels::compile(BySignature& made, Workers& workers) {
  std::vector<MadeKernel*> kernels;
  std::vector<std::string> texts;
  for (auto& [signature, kernel] : made) {
    std::string text = std::exchange(kernel->shape.text, {});
    if (!is_small(kernel->shape, text)) continue;
    kernels.push_back(kernel.get());
    // Devices of other capabilities need other cubins.
    texts.push_back(fmt::format("// {}.{}\n", major_, minor_) + text);
  }
  const auto one = [this](const std::string& text) { return compiler_->compile(text, major_, minor_); };
  const std::vector<Cubin> cubins = cubins_of_process().of(texts, one, workers);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i]->cubin = cubins[i];
}

}  // namespace deltamatch::gpu
