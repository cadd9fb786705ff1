// Looking up the next batch's ids while a batch is matched must not change what any batch does. That holds if vertices vanish
// and come back, if a batch fails, and if another batch comes than was expected.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "graph/batch_resolver.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch::property {
namespace {

/// A graph with its resolver.
class Side {
 public:
  Side(bool directed, Timestamp window)
      : graph_(directed, window > 0),
        window_(window > 0 ? std::make_unique<graph::Window>(window) : nullptr),
        resolver_(graph_, window_.get(), workers_) {}

  const graph::ResolvedBatch& resolve(const UpdateBatch& batch, OnReject on_reject) {
    const graph::ResolvedBatch& resolved = resolver_.resolve(batch, on_reject, watermark_);
    next_watermark_ = resolved.watermark;
    graph_.stage(resolved.net);
    return resolved;
  }
  void anticipate(const UpdateBatch& batch) { resolver_.anticipate(batch, {}); }
  void settle() {
    graph_.settle(workers_);
    resolver_.commit();
    watermark_ = next_watermark_;
  }
  void undo() {
    graph_.unstage();
    resolver_.undo();
  }
  /// What each vertex number stands for, then what each label number stands for.
  [[nodiscard]] std::vector<std::string> vertices() const {
    std::vector<std::string> all;
    for (VertexId v = 0; v < graph_.dictionary.capacity(); ++v) {
      all.push_back(graph_.dictionary.alive(v) ? oracle::to_string(oracle::own(graph_.dictionary.external(v))) + ":" +
                                                     std::string(graph_.vertex_labels.text(graph_.dictionary.label(v)))
                                               : "-");
    }
    for (const LabelTable* labels : {&graph_.vertex_labels, &graph_.edge_labels}) {
      for (LabelId label = 0; label < labels->size(); ++label) all.emplace_back(labels->text(label));
    }
    return all;
  }

 private:
  graph::DataGraph graph_;
  std::unique_ptr<graph::Window> window_;
  graph::BatchResolver resolver_;
  Workers workers_{1};
  std::optional<Timestamp> watermark_;
  std::optional<Timestamp> next_watermark_;
};

void same(const graph::ResolvedBatch& a, const graph::ResolvedBatch& b) {
  RC_ASSERT(a.net.inserted == b.net.inserted);
  RC_ASSERT(a.net.inserted_times == b.net.inserted_times);
  RC_ASSERT(a.net.removed == b.net.removed);
  RC_ASSERT(a.consumed == b.consumed);
  RC_ASSERT(a.expired == b.expired);
  RC_ASSERT(a.ignored.duplicate_insert == b.ignored.duplicate_insert);
  RC_ASSERT(a.ignored.absent_delete == b.ignored.absent_delete);
  RC_ASSERT(a.ignored.superseded == b.ignored.superseded);
  RC_ASSERT(a.ignored.late == b.ignored.late);
  RC_ASSERT(a.watermark == b.watermark);
  RC_ASSERT(a.rebound == b.rebound);
  RC_ASSERT(a.rejects.size() == b.rejects.size());
  for (std::size_t i = 0; i < a.rejects.size(); ++i) {
    RC_ASSERT(a.rejects[i].index == b.rejects[i].index);
    RC_ASSERT(a.rejects[i].reason == b.rejects[i].reason);
  }
}

TEST(Anticipation, ChangesNothingOfWhatABatchComesTo) {
  hold(1500, [] {
    const Scenario scenario = *scenarios();
    Side plain(scenario.directed, scenario.window);
    Side ahead(scenario.directed, scenario.window);
    std::vector<std::span<const Record>> cut = scenario.batches();
    cut.insert(cut.begin(), scenario.start);
    UpdateBatch batch = batch_of(cut[0]);
    for (std::size_t k = 0; k < cut.size();) {
      same(plain.resolve(batch, scenario.on_reject), ahead.resolve(batch, scenario.on_reject));
      RC_ASSERT(plain.vertices() == ahead.vertices());

      // The next batch may be unknown, known, or known in part. It may also turn out to be another.
      UpdateBatch next;
      if (k + 1 < cut.size()) {
        const auto known = static_cast<std::size_t>(*below(static_cast<int>(cut[k + 1].size()) + 1));
        for (std::size_t i = 0; i < known; ++i) next.add(cut[k + 1][i].view());
        if (*below(4) != 0) ahead.anticipate(next);
        for (std::size_t i = known; i < cut[k + 1].size(); ++i) next.add(cut[k + 1][i].view());
        if (*below(2) != 0) ahead.anticipate(next);
        if (*below(6) == 0) ahead.anticipate(batch);
      }
      const int fate = *below(5);
      if (fate > 1) {
        plain.settle();
        ahead.settle();
      } else {
        plain.undo();
        ahead.undo();
      }
      RC_ASSERT(plain.vertices() == ahead.vertices());
      if (fate == 0) continue;  // the same batch once more
      batch = std::move(next);
      ++k;
    }
  });
}

/// Delays the batch until the engine has asked for the next one, and a little longer. It can also make the batch fail.
class SlowSink final : public MatchSink {
 public:
  void begin(std::uint64_t batch) override {
    if (wait) {
      const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (!asked && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    if (fail) throw std::runtime_error("the sink fails");
    recorder.begin(batch);
  }
  void write(const Match& match) override { recorder.write(match); }
  void commit() override { recorder.commit(); }
  void abort() noexcept override {}

  Recorder recorder;
  std::atomic<bool> asked{false};
  bool wait = false;
  bool fail = false;
};

// The engine asks for the next batch only if a backend matches.
TEST(Anticipation, ChangesNothingOfWhatTheEngineTells) {
  double anticipated = 0;
  hold(60, [&] {
    const Scenario scenario = *scenarios();
    Subject plain(scenario, 1);
    Subject ahead(scenario, Engine({.directed = scenario.directed,
                                    .threads = 2,
                                    .window = scenario.window,
                                    .backend = std::make_shared<test::IdleBackend>()}));
    plain.load(scenario.start);
    ahead.load(scenario.start);
    std::vector<UpdateBatch> batches;
    for (const auto batch : scenario.batches()) batches.push_back(batch_of(batch));
    bool failing = false;
    bool jumped = false;
    for (std::size_t k = 0; k < batches.size();) {
      if (!jumped && *below(10) == 0) {  // another one than announced
        k = static_cast<std::size_t>(*below(static_cast<int>(batches.size())));
        jumped = true;
      }
      failing = scenario.lists() && !failing && *below(4) == 0;
      std::vector<Listed> told[2];
      std::vector<QueryDelta> deltas[2];
      Subject* const subjects[] = {&plain, &ahead};
      for (const std::size_t s : {0U, 1U}) {
        SlowSink sink;
        sink.wait = s == 1 && k + 1 < batches.size();
        sink.fail = failing;
        const Upcoming upcoming = [&](const std::stop_token&) -> const UpdateBatch* {
          sink.asked = true;
          return k + 1 < batches.size() ? &batches[k + 1] : nullptr;
        };
        try {
          MatchSink* const taken = scenario.lists() ? &sink : nullptr;
          const BatchResult result =
              subjects[s]->engine().process(batches[k], scenario.on_reject, taken, s == 1 ? upcoming : Upcoming());
          RC_ASSERT(!failing);
          anticipated += result.seconds.anticipate;
          deltas[s] = result.queries;
          told[s] = sink.recorder.finish(result.batch);
        } catch (const std::runtime_error&) {
          if (!failing) throw;
        }
      }
      RC_ASSERT(told[0] == told[1]);
      for (std::size_t q = 0; q < deltas[0].size(); ++q) {
        RC_ASSERT(deltas[0][q].added == deltas[1][q].added);
        RC_ASSERT(deltas[0][q].removed == deltas[1][q].removed);
      }
      RC_ASSERT(tell(plain.engine()) == tell(ahead.engine()));
      if (!failing || *below(2) == 0) ++k;
    }
  });
  EXPECT_GT(anticipated, 0);
}

}  // namespace
}  // namespace deltamatch::property
