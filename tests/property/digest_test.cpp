// The running digest: an engine that goes on, one that was restored, and one that repeats the accepted updates number alike.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits simple{};
constexpr Traits simple_with_attributes{.attributes = true};
constexpr Traits keyed{.edges = EdgeModel::keyed, .attributes = true};
constexpr Traits keyed_within{.windows = false, .edges = EdgeModel::keyed, .attributes = true, .within = true};
constexpr Traits events{.edges = EdgeModel::events, .attributes = true};
constexpr Traits events_within{.windows = false, .edges = EdgeModel::events, .attributes = true, .within = true};

/// How the engines take a stream.
struct Run {
  unsigned threads = 1;
  EventOrder order = EventOrder::arrival;
  bool by_record = false;
};

std::optional<Subject> subject_of(const Scenario& scenario, const Run& run) {
  try {
    return std::optional<Subject>(std::in_place, scenario, run.threads, run.order);
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return std::nullopt;
  }
}

/// The updates that a log holds of a batch: those that were taken and not refused.
UpdateBatch accepted(const UpdateBatch& batch, const BatchResult& result) {
  const std::span<const Update> updates = batch.updates().first(result.consumed);
  UpdateBatch accepted;
  std::size_t at = 0;
  for (const Reject& reject : result.rejects) {
    if (reject.index >= updates.size()) break;
    const RecordBounds record = record_around(updates, reject.index);
    for (; at < record.first; ++at) accepted.add(updates[at]);
    at = record.last;
  }
  for (; at < updates.size(); ++at) accepted.add(updates[at]);
  accepted.set_watermark(result.watermark);
  return accepted;
}

Engine copy_of(const Engine& engine, unsigned threads) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("deltamatch-digest-" + std::to_string(::getpid()) + ".dms");
  engine.save(path);
  Engine copy = Engine::restore(path, threads);
  std::filesystem::remove(path);
  return copy;
}

void hold_on(const Traits& traits, int cases, const Run& run = {}) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    if (run.order == EventOrder::time || run.by_record) {
      if (scenario.window == 0 && !traits.within) scenario.window = 10;
      for (Record& record : scenario.stream) record.continues = false;  // a batch may end behind each
    }
    std::optional<Subject> live = subject_of(scenario, run);
    if (!live) return;
    Judge judge(scenario);  // it only says which cases have too many matches
    if (!judge.take(scenario.start)) return;
    live->load(scenario.start);
    std::optional<Subject> restored;
    std::optional<Engine> repeated(copy_of(live->engine(), 1));
    const auto batches = scenario.batches();
    const auto at = static_cast<std::size_t>(*below(static_cast<int>(batches.size())));
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (i == at) restored.emplace(scenario, copy_of(live->engine(), 1));
      if (!judge.take(batches[i])) return;
      UpdateBatch batch = batch_of(batches[i]);
      for (bool more = true; more;) {
        repeated->retain(live->engine().retention());
        repeated->watch_vertices(live->engine().watches_vertices());
        const RunningDigest before = live->engine().digest();
        const BatchResult result = live->process(batch, run.by_record).result;
        const RunningDigest digest = live->engine().digest();
        RC_ASSERT(digest.begin == Hash128{});
        RC_ASSERT(digest.now != before.now);
        repeated->absorb(accepted(batch, result));
        RC_ASSERT(repeated->digest() == digest);
        if (restored) {
          (void)restored->process(batch, run.by_record);
          RC_ASSERT(restored->engine().digest() == digest);
        }
        more = result.cut;
        if (more) batch.drop_first(result.consumed);
      }
    }
    // The numbers themselves are the same, too.
    live->engine().begin_digest();
    repeated->begin_digest();
    restored->engine().begin_digest();
    RC_ASSERT(repeated->digest() == live->engine().digest());
    RC_ASSERT(restored->engine().digest() == live->engine().digest());
  });
}

constexpr Traits restless{.attributes = true, .restless = true};

TEST(RunningDigest, IsThatOfAReplicaWithSimpleEdges) { hold_on(simple, 200); }
TEST(RunningDigest, IsThatOfAReplicaWithAttributesOfVertices) { hold_on(simple_with_attributes, 200); }
TEST(RunningDigest, IsThatOfAReplicaIfLabelsChange) { hold_on(restless, 200); }
TEST(RunningDigest, IsThatOfAReplicaWithKeys) { hold_on(keyed, 200); }
TEST(RunningDigest, IsThatOfAReplicaWithKeysAndWithin) { hold_on(keyed_within, 150); }
TEST(RunningDigest, IsThatOfAReplicaWithEvents) { hold_on(events, 200); }
TEST(RunningDigest, IsThatOfAReplicaWithEventsAndWithin) { hold_on(events_within, 150); }
TEST(RunningDigest, DoesNotDependOnThreads) { hold_on(events, 50, {.threads = 3}); }

constexpr Run by_time{.order = EventOrder::time};
TEST(RunningDigest, IsThatOfAReplicaThatOrdersByTime) { hold_on(simple, 150, by_time); }
TEST(RunningDigest, IsThatOfAReplicaThatOrdersKeysByTime) { hold_on(keyed, 150, by_time); }
TEST(RunningDigest, IsThatOfAReplicaThatOrdersEventsByTime) { hold_on(events, 150, by_time); }

constexpr Run by_record{.by_record = true};
TEST(RunningDigest, IsThatOfAReplicaThatGoesByRecord) { hold_on(simple, 150, by_record); }
TEST(RunningDigest, IsThatOfAReplicaThatGoesByRecordWithKeys) { hold_on(keyed, 150, by_record); }
TEST(RunningDigest, IsThatOfAReplicaThatGoesByRecordWithEvents) { hold_on(events, 150, by_record); }

}  // namespace
}  // namespace deltamatch::property
