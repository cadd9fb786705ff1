// How many GPUs there are, and an engine that matches on the first, if there is one.
#include <cstdio>

#include "deltamatch/engine.hpp"
#include "deltamatch/gpu.hpp"

int main() {
  const int count = deltamatch::gpu_count();
  deltamatch::EngineOptions options;
  if (count > 0) options.backend = deltamatch::make_gpu_backend();
  const deltamatch::Engine engine(options);
  std::printf("%s\n", count >= 0 && engine.graph().edges == 0 ? "ready" : "not ready");
}
