// How fast does the log of batches take updates, and give them back? Items are updates. `synced` waits for the disk after every
// batch, as a service does if no other batch is waiting. What was appended is read back and counted.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/service/state/log.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

constexpr std::size_t total = 1'000'000;
const std::string fingerprint(32, '0');

/// A stream of payments: a million accounts, six labels, and times that are almost in order.
std::vector<UpdateBatch> draw(std::size_t batch_size, bool text) {
  constexpr std::string_view labels[] = {"PAYS", "OWNS", "CALLS", "REFUNDS", "TRANSFER", "WITHDRAWS"};
  std::mt19937_64 random(1);
  std::vector<UpdateBatch> batches(total / batch_size);
  Timestamp time = 1'700'000'000'000'000;
  for (UpdateBatch& batch : batches) {
    while (batch.size() < batch_size) {
      const std::uint64_t source = random() % 1'000'000;
      const std::uint64_t target = random() % 1'000'000;
      const std::string source_text = "acct-" + std::to_string(source);
      const std::string target_text = "acct-" + std::to_string(target);
      Update update;
      update.kind = random() % 5 == 0 ? UpdateKind::delete_edge : UpdateKind::insert_edge;
      update.source = text ? Id(std::string_view(source_text)) : Id(static_cast<std::int64_t>(source));
      update.target = text ? Id(std::string_view(target_text)) : Id(static_cast<std::int64_t>(target));
      update.label = labels[random() % 6];
      update.time = time += static_cast<Timestamp>(random() % 40);
      batch.add(update);
    }
  }
  return batches;
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("deltamatch-bench-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::uint64_t append_all(Log& log, const std::vector<UpdateBatch>& batches, bool synced) {
  for (const UpdateBatch& batch : batches) {
    CommitPoint mark;
    mark.batch = log.last_batch() + 1;
    mark.ends[{"payments", 0}] = static_cast<std::int64_t>(mark.batch);
    log.append(mark, batch.updates(), batch.watermark(), {});
    if (synced) log.sync();
  }
  return log.bytes();
}

std::size_t count_read(const Folder& folder) {
  LogReader reader(folder.path(), fingerprint, {.updates_from = 0, .alerts_from = LogReader::none});
  std::size_t count = 0;
  for (LogReader::Entry entry{}; (entry = reader.next()) != LogReader::Entry::end;) {
    if (entry == LogReader::Entry::batch) count += reader.batch().updates.size();
  }
  return count;
}

void append(benchmark::State& state, bool text, bool synced) {
  const std::vector<UpdateBatch> batches = draw(static_cast<std::size_t>(state.range(0)), text);
  const std::size_t updates = batches.size() * batches.front().size();
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    std::optional<Log> log(std::in_place, folder.path(), fingerprint, 0);
    state.ResumeTiming();
    const std::uint64_t bytes = append_all(*log, batches, synced);
    state.PauseTiming();
    if (count_read(folder) != updates) state.SkipWithError("what was appended does not come back");
    state.counters["bytes/update"] = static_cast<double>(bytes) / static_cast<double>(updates);
    log.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(updates) * state.iterations());
}

void read(benchmark::State& state, bool text) {
  const std::vector<UpdateBatch> batches = draw(static_cast<std::size_t>(state.range(0)), text);
  const std::size_t updates = batches.size() * batches.front().size();
  const Folder folder;
  Log log(folder.path(), fingerprint, 0);
  append_all(log, batches, false);
  for ([[maybe_unused]] auto _ : state) {
    if (count_read(folder) != updates) state.SkipWithError("what was appended does not come back");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(updates) * state.iterations());
}

BENCHMARK_CAPTURE(append, integers, false, false)->Arg(1000)->Arg(8192)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(append, strings, true, false)->Arg(1000)->Arg(8192)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(append, strings_synced, true, true)->Arg(8192)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(read, integers, false)->Arg(8192)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, strings, true)->Arg(8192)->Unit(benchmark::kMillisecond);

}  // namespace
