// How many GPUs there are, and an engine that matches on the first, if there is one.
#include <cstdio>

#include "deltamatch/engine.hpp"
#include "deltamatch/gpu.hpp"

int main() {
  const bool found = !deltamatch::gpu_devices().empty();
  deltamatch::EngineOptions options;
  if (found) options.backend = deltamatch::make_gpu_backend();
  const deltamatch::Engine engine(options);
  std::printf("%s\n", found == deltamatch::gpu_absence().empty() && engine.graph().edges == 0 ? "ready" : "not ready");
}
