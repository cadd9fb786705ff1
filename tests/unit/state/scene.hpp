// A service's state without the service: a live engine, the log of its batches, and the directory of both.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ingest/service/state/snapshotter.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {

class Scene {
 public:
  explicit Scene(Timestamp window = 0, bool directed = true, std::uint64_t segment_bytes = 3000, std::uint64_t seed = 1)
      : options_{.directed = directed, .threads = 1, .window = window},
        segment_bytes_(segment_bytes),
        live_(options_),
        draws_(seed) {
    open();
  }

  void open() {
    directory = std::make_unique<StateDirectory>(
        folder_.path() / "state",
        StateIdentity{.application = "test", .directed = options_.directed, .window = options_.window, .topics = {"edges"}},
        journal);
    log = std::make_unique<Log>(directory->path(), directory->fingerprint(), live_.batch(),
                                LogOptions{segment_bytes_, ::fdatasync});
  }
  void close() {
    log.reset();
    directory.reset();
  }

  /// Gives batches to the live engine and logs them.
  void run(std::size_t batches, std::size_t updates = 30) {
    for (std::size_t i = 0; i < batches; ++i) {
      const auto drawn = draws_.batch(updates, &live_);
      append(*log, *drawn);
      mark = drawn->mark;
      marks[mark.batch] = mark;
      states[mark.batch] = to_text(live_);
    }
    log->sync();
  }

  [[nodiscard]] SnapshotterOptions snapshots() const {
    SnapshotterOptions options;
    options.every = std::chrono::seconds(0);
    options.log_bytes = 0;
    options.directed = options_.directed;
    options.window = options_.window;
    options.begin = [this] { return Engine(options_); };
    return options;
  }

  [[nodiscard]] const EngineOptions& options() const { return options_; }
  [[nodiscard]] Engine& live() { return live_; }
  [[nodiscard]] Draws& draws() { return draws_; }

  [[nodiscard]] std::string restored(std::uint64_t batch) const {
    return to_text(Engine::restore(directory->snapshot_path(batch), 1));
  }
  [[nodiscard]] std::vector<std::uint64_t> snapshot_batches() const {
    std::vector<std::uint64_t> batches;
    for (const SnapshotFile& snapshot : directory->snapshots()) batches.push_back(snapshot.batch);
    return batches;
  }

  TestJournal journal;
  std::unique_ptr<StateDirectory> directory;
  std::unique_ptr<Log> log;
  CommitPoint mark;                             // of the latest batch
  std::map<std::uint64_t, CommitPoint> marks;   // by batch
  std::map<std::uint64_t, std::string> states;  // of the live engine after each batch

 private:
  Folder folder_;
  EngineOptions options_;
  std::uint64_t segment_bytes_;
  Engine live_;
  Draws draws_;
};

}  // namespace deltamatch::ingest
