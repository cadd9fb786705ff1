// What results must not depend on: threads, the order within a batch, dense ids, how a stream is cut, a restart.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits tidy = {.vertex_records = true, .windows = true, .untidy = false};
constexpr Traits edges_only = {.vertex_records = false, .windows = true, .untidy = false};

/// Asserts the same counts, digests and listings, in the same order.
void same_bytes(const std::vector<Output>& a, const std::vector<Output>& b) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].matches != b[i].matches) fail("batch " + std::to_string(i + 1) + ": the listings differ");
    RC_ASSERT(a[i].result.queries.size() == b[i].result.queries.size());
    for (std::size_t q = 0; q < a[i].result.queries.size(); ++q) {
      const QueryDelta& x = a[i].result.queries[q];
      const QueryDelta& y = b[i].result.queries[q];
      RC_ASSERT(x.added == y.added);
      RC_ASSERT(x.removed == y.removed);
      RC_ASSERT(x.added_digest == y.added_digest);
      RC_ASSERT(x.removed_digest == y.removed_digest);
    }
  }
}

/// A permutation of 0..n-1; shrinks towards the identity.
std::vector<std::size_t> draw_permutation(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i + 1 < n; ++i)
    std::swap(order[i], order[i + static_cast<std::size_t>(*below(static_cast<int>(n - i)))]);
  return order;
}

/// The batch in another order. The records of each edge keep their order.
std::vector<Record> draw_reordered(std::span<const Record> batch, bool directed) {
  oracle::DataGraph names;
  names.directed = directed;
  const auto edge = [&](const Record& record) { return names.edge(record.source, record.label, record.target); };
  std::map<oracle::DataEdge, std::vector<std::size_t>> left;  // positions of each edge's records, the first one last
  for (std::size_t i = batch.size(); i-- > 0;) left[edge(batch[i])].push_back(i);
  std::vector<Record> result;
  for (const std::size_t at : draw_permutation(batch.size())) {
    auto& positions = left[edge(batch[at])];
    result.push_back(batch[positions.back()]);
    positions.pop_back();
  }
  return result;
}

TEST(Independence, OfThreads) {
  hold(150, [] {
    const Scenario scenario = *scenarios();
    Subject one(scenario, 1);
    Subject four(scenario, 4);
    const auto a = judged_run(scenario, one, scenario.batches());
    if (!a) return;
    const auto b = judged_run(scenario, four, scenario.batches());
    same_bytes(*a, *b);
  });
}

/// Plans that many queries begin at one edge are told apart by what its ends have.
TEST(Independence, OfOtherQueries) {
  hold(100, [] {
    Scenario crowd = *scenarios();
    const std::vector<Standing> drawn = crowd.queries;
    for (const char* copy : {"-2", "-3", "-4"}) {
      for (Standing standing : drawn) {
        standing.query.name += copy;
        crowd.queries.push_back(std::move(standing));
      }
    }
    Subject subject(crowd, 1);
    (void)judged_run(crowd, subject, crowd.batches());
  });
}

/// Processes the batch, and abandons it when the engine asks for the n-th time whether to stop. Returns false if the batch ends
/// before. It asks a fourth time only if there is a sink.
bool abandoned(Subject& subject, const Scenario& scenario, std::span<const Record> batch, int n) {
  const UpdateBatch updates = batch_of(batch);
  Recorder recorder;
  std::atomic<int> asked = 0;
  BatchOptions options;
  options.on_reject = scenario.on_reject;
  options.sink = scenario.lists() ? &recorder : nullptr;
  options.stop = [&] { return ++asked >= n; };
  return !subject.engine().process(updates, options).has_value();
}

TEST(Independence, OfBatchesThatWereAbandoned) {
  hold(150, [] {
    const Scenario scenario = *scenarios();
    const unsigned threads = *below(2) == 0 ? 1 : 3;
    Subject plain(scenario, 1);
    Subject stopped(scenario, threads);
    const auto a = judged_run(scenario, plain, scenario.batches());
    if (!a) return;
    stopped.load(scenario.start);
    std::vector<Output> b;
    for (const auto batch : scenario.batches()) {
      const std::vector<std::string> before = tell(stopped.engine());
      const std::uint64_t number = stopped.engine().batch();
      if (!abandoned(stopped, scenario, batch, 1 + *below(scenario.lists() ? 4 : 3))) fail("the batch was not abandoned");
      if (tell(stopped.engine()) != before) fail("an abandoned batch has left something in the graph");
      RC_ASSERT(stopped.engine().batch() == number);
      b.push_back(stopped.process(batch));
    }
    same_bytes(*a, b);
    if (tell(plain.engine()) != tell(stopped.engine())) fail("the graphs differ");
  });
}

TEST(Independence, OfTheMemoryThatListedMatchesHave) {
  hold(150, [] {
    const Scenario scenario = *scenarios();
    const int memory = *below(3);
    Subject plain(scenario, 1);
    Subject spooling(scenario, 2);
    spooling.engine().spool({.memory = static_cast<std::uint64_t>(memory) * 200, .folder = {}});
    const auto a = judged_run(scenario, plain, scenario.batches());
    if (!a) return;
    const auto b = judged_run(scenario, spooling, scenario.batches());
    same_bytes(*a, *b);
  });
}

TEST(Independence, OfTheOrderWithinABatch) {
  hold(150, [] {
    const Scenario scenario = *scenarios(edges_only);
    Scenario reordered = scenario;
    reordered.start = draw_reordered(scenario.start, scenario.directed);
    reordered.stream.clear();
    for (const auto batch : scenario.batches()) {
      const auto shuffled = draw_reordered(batch, scenario.directed);
      reordered.stream.insert(reordered.stream.end(), shuffled.begin(), shuffled.end());
    }
    Subject one(scenario, 1);
    Subject other(reordered, 1);
    const auto a = judged_run(scenario, one, scenario.batches());
    if (!a) return;
    const auto b = judged_run(reordered, other, reordered.batches());
    RC_ASSERT(b.has_value());
    same_bytes(*a, *b);
  });
}

TEST(Independence, OfDenseIds) {
  hold(150, [] {
    const Scenario scenario = *scenarios(tidy);
    Subject plain(scenario, 1);
    const auto a = judged_run(scenario, plain, scenario.batches());
    if (!a) return;

    // Every vertex is inserted and deleted, in two other orders. That leaves a shuffled list of free numbers.
    std::map<oracle::ExternalId, std::string> mentioned;
    for (const auto* records : {&scenario.start, &scenario.stream}) {
      for (const Record& record : *records) {
        mentioned[record.source];
        mentioned[record.target];
      }
    }
    std::vector<Record> prelude;
    for (const UpdateKind kind : {UpdateKind::insert_vertex, UpdateKind::delete_vertex}) {
      for (const std::size_t at : draw_permutation(mentioned.size())) {
        Record& record = prelude.emplace_back();
        record.kind = kind;
        record.source = std::next(mentioned.begin(), static_cast<std::ptrdiff_t>(at))->first;
      }
    }
    Subject shuffled(scenario, 1);
    for (const Record& record : prelude) shuffled.load({&record, 1});
    RC_ASSERT(shuffled.engine().graph().vertices == 0U);
    const auto b = judged_run(scenario, shuffled, scenario.batches());
    same_bytes(*a, *b);
  });
}

TEST(Independence, OfTheCutIntoBatches) {
  hold(150, [] {
    const Scenario scenario = *scenarios(tidy);
    const auto other_size = *rc::gen::elementOf(std::vector<std::size_t>{1, 2, 4, 7, 1000});
    Subject one(scenario, 1);
    Subject other(scenario, 1);
    const auto a = judged_run(scenario, one, scenario.batches());
    if (!a) return;
    const auto b = judged_run(scenario, other, scenario.batches(other_size));
    if (!b) return;
    for (std::size_t query = 0; query < scenario.queries.size(); ++query) {
      const auto net = [&](const std::vector<Output>& outputs) {
        Count count = 0;  // modulo 2^128
        MatchDigest digest;
        for (const Output& output : outputs) {
          const QueryDelta& delta = output.result.queries[query];
          count += delta.added - delta.removed;
          digest = plus(digest, minus(delta.added_digest, delta.removed_digest));
        }
        return std::pair(count, digest);
      };
      RC_ASSERT(net(*a).first == net(*b).first);
      RC_ASSERT(net(*a).second == net(*b).second);
    }
  });
}

/// A path that only this process uses, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() / ("deltamatch_property_" + std::to_string(::getpid()) + ".snapshot")) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string saved(const Engine& engine, const TemporaryFile& file) {
  engine.save(file.path());
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether the conditions of all queries can hold, so that an engine takes them.
bool takes_queries(const Scenario& scenario) {
  try {
    Subject(scenario, 1);
    return true;
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return false;
  }
}

void restarts(const Traits& traits) {
  const TemporaryFile file;
  hold(150, [&] {
    const Scenario scenario = *scenarios(traits);
    if (!takes_queries(scenario)) return;
    const auto batches = scenario.batches();
    const auto restart = static_cast<std::size_t>(*below(static_cast<int>(batches.size())));
    Subject plain(scenario, 1);
    const auto a = judged_run(scenario, plain, batches);
    if (!a) return;

    Subject before(scenario, 1);
    before.load(scenario.start);
    std::vector<Output> b;
    for (std::size_t i = 0; i < restart; ++i) b.push_back(before.process(batches[i]));
    before.engine().save(file.path());
    Subject after(scenario, Engine::restore(file.path(), 2));
    RC_ASSERT(after.engine().options().directed == scenario.directed);
    RC_ASSERT(after.engine().options().window == scenario.window);
    RC_ASSERT(after.engine().options().schema == before.engine().options().schema);
    RC_ASSERT(after.engine().options().self_loops == before.engine().options().self_loops);
    RC_ASSERT(tell(after.engine()) == tell(before.engine()));
    for (std::size_t i = restart; i < batches.size(); ++i) {
      b.push_back(after.process(batches[i]));
      const BatchResult& x = (*a)[i].result;
      const BatchResult& y = b.back().result;
      RC_ASSERT(x.batch == y.batch);
      RC_ASSERT(x.watermark == y.watermark);
      RC_ASSERT(x.rejects.size() == y.rejects.size());
      RC_ASSERT(x.inserted == y.inserted);
      RC_ASSERT(x.deleted == y.deleted);
      RC_ASSERT(x.expired == y.expired);
      RC_ASSERT(x.ignored.duplicate_insert == y.ignored.duplicate_insert);
      RC_ASSERT(x.ignored.absent_delete == y.ignored.absent_delete);
      RC_ASSERT(x.ignored.late == y.ignored.late);
    }
    RC_ASSERT(tell(plain.engine()) == tell(after.engine()));
    same_bytes(*a, b);
    if (traits.edges == EdgeModel::simple) return;
    // Slots, ordinals, symbols and free numbers are those of an engine that was never restarted. (Whole matches, as in a judged
    // run, may number vertices anew.)
    Subject whole(scenario, 1);
    whole.load(scenario.start);
    for (const auto& batch : batches) whole.process(batch);
    const bool same = saved(whole.engine(), file) == saved(after.engine(), file);
    RC_ASSERT(same);
  });
}

TEST(Independence, OfARestart) { restarts({}); }
TEST(Independence, OfARestartWithAttributesOfVertices) { restarts({.attributes = true}); }
TEST(Independence, OfARestartOfEvents) { restarts({.edges = EdgeModel::events, .attributes = true}); }
TEST(Independence, OfARestartOfKeyedEdges) { restarts({.edges = EdgeModel::keyed, .attributes = true}); }
TEST(Independence, OfARestartIfLabelsChange) { restarts({.restless = true}); }
TEST(Independence, OfARestartWithSelfLoops) { restarts({.loops = true}); }
TEST(Independence, OfARestartWithSelfLoopsThatAreEvents) { restarts({.edges = EdgeModel::events, .loops = true}); }
TEST(Independence, OfARestartWithin) { restarts({.windows = false, .edges = EdgeModel::events, .within = true}); }

}  // namespace
}  // namespace deltamatch::property
