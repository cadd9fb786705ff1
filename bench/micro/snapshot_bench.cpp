// How fast is a graph saved as a snapshot, and restored? Items are edges. The graph that is restored is counted.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

#include "deltamatch/engine.hpp"

namespace {

using namespace deltamatch;

constexpr std::size_t edges = 1'000'000;
constexpr Timestamp day = 86'400'000'000;

/// Payments between 200,000 accounts, with six labels. With a window, edges have times that are almost in order.
Engine draw(bool text, Timestamp window) {
  constexpr std::string_view labels[] = {"PAYS", "OWNS", "CALLS", "REFUNDS", "TRANSFER", "WITHDRAWS"};
  std::mt19937_64 random(1);
  Engine engine({.threads = 1, .window = window});
  UpdateBatch batch;
  Timestamp time = 1'700'000'000'000'000;
  while (batch.size() < edges) {
    const std::uint64_t source = random() % 200'000;
    const std::uint64_t target = random() % 200'000;
    const std::string source_text = "acct-" + std::to_string(source);
    const std::string target_text = "acct-" + std::to_string(target);
    Update update;
    update.source = text ? Id(std::string_view(source_text)) : Id(static_cast<std::int64_t>(source));
    update.target = text ? Id(std::string_view(target_text)) : Id(static_cast<std::int64_t>(target));
    update.label = labels[random() % 6];
    update.time = time += static_cast<Timestamp>(random() % 40);
    batch.add(update);
  }
  engine.load(batch);
  return engine;
}

std::filesystem::path path() {
  return std::filesystem::temp_directory_path() / ("deltamatch-bench-" + std::to_string(::getpid()) + ".dms");
}

void save(benchmark::State& state, bool text, Timestamp window) {
  const Engine engine = draw(text, window);
  for ([[maybe_unused]] auto _ : state) engine.save(path());
  state.counters["bytes/edge"] = static_cast<double>(std::filesystem::file_size(path())) / static_cast<double>(edges);
  if (Engine::restore(path(), 1).graph().edges != engine.graph().edges)
    state.SkipWithError("what was saved does not come back");
  std::filesystem::remove(path());
  state.SetItemsProcessed(static_cast<std::int64_t>(engine.graph().edges) * state.iterations());
}

void restore(benchmark::State& state, bool text, Timestamp window) {
  const Engine engine = draw(text, window);
  engine.save(path());
  for ([[maybe_unused]] auto _ : state) {
    if (Engine::restore(path(), 1).graph().edges != engine.graph().edges)
      state.SkipWithError("what was saved does not come back");
  }
  std::filesystem::remove(path());
  state.SetItemsProcessed(static_cast<std::int64_t>(engine.graph().edges) * state.iterations());
}

BENCHMARK_CAPTURE(save, integers, false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(save, integers_window, false, day)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(save, strings, true, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(restore, integers, false, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(restore, integers_window, false, day)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(restore, strings, true, 0)->Unit(benchmark::kMillisecond);

}  // namespace
