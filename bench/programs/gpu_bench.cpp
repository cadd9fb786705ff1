// Compares policies of matching, on a stream or (gpu_bench_whole.cpp) on a whole graph.
//
// It makes a graph and a stream of updates. One engine matches every batch under every policy
// (bench/harness/matcher_comparison.hpp), and the counts are compared. Prints JSON lines: one for the graph, and one for each
// query set, batch size and policy. Exits with 1 if counts differ or a policy fails.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <utility>

#include "base/seconds.hpp"
#include "bench/harness/bench_options.hpp"
#include "bench/harness/from_options.hpp"
#include "bench/harness/graphs.hpp"
#include "bench/harness/matcher_comparison.hpp"
#include "bench/harness/result_lines.hpp"
#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"
#include "gpu_bench_whole.hpp"

namespace deltamatch::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Which engine a policy runs on. Unified memory has one of its own, because its pages move under all other policies.
enum class Home { host, pinned, managed };

Home home_of(const std::string& policy) {
  const PolicyChoice choice = parse_policy(policy);
  return choice.cpu() ? Home::host : choice.name == "managed" ? Home::managed : Home::pinned;
}

// The engine on which some of the policies run.
struct Arena {
  std::vector<std::string> policies;
  std::vector<std::shared_ptr<Backend>> backends;  // of the policies that run on the GPU
  std::shared_ptr<MatcherComparison> comparison;
};

Arena make_arena(const BenchOptions& options, const std::vector<std::string>& policies, bool managed) {
  Arena arena;
  arena.policies = policies;
  graph::SlabAllocator* slabs = &graph::heap_slabs();
  std::vector<ComparedMatcher> matchers;
  for (const std::string& policy : policies) {
    ComparedMatcher matcher{policy, match::make_cpu_matcher, policy == options.corrupt};
    if (policy == "cpu-1") {
      const auto single = std::make_shared<Workers>(1);
      matcher.make = [single](Workers&) { return match::make_cpu_matcher(*single); };
    } else if (policy != "cpu") {
      const std::shared_ptr<Backend> backend = gpu_backend(options, policy, parse_bytes(options.memory));
      matcher.make = [backend](Workers& workers) { return backend->make_matcher(workers); };
      // Registered memory, which all others can read, too.
      if (managed || (parse_policy(policy).name != "resident" && slabs == &graph::heap_slabs())) slabs = &backend->slabs();
      arena.backends.push_back(backend);
    }
    matchers.push_back(std::move(matcher));
  }
  arena.comparison =
      std::make_shared<MatcherComparison>(*slabs, std::move(matchers), std::chrono::duration<double>(options.patience));
  return arena;
}

struct Summary {
  std::vector<double> values;
  [[nodiscard]] double mean() const {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  [[nodiscard]] double median() const {
    if (values.empty()) return 0;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
};

// Looking ahead runs beside the other steps, so it is not in the total.
constexpr std::array<const char*, 8> steps{"apply", "estimate", "cache", "match", "kernel", "settle", "anticipate", "total"};

// What a policy did over the batches of one query set and batch size.
struct Record {
  std::array<Summary, steps.size()> seconds;
  BackendStatistics before;  // the measured batches
  BackendStatistics after;
  std::uint64_t before_batches = 0;
  std::vector<Count> counts;         // summed, as in Heat
  std::vector<std::string> counted;  // the batches that it counted
  bool agrees = true;
  std::string trouble;
};

class Bench {
 public:
  Bench(const BenchOptions& options, Report& report) : options_(&options), report_(&report), workers_(options.threads) {}

  int run() {
    const std::vector<QuerySet> sets = read_queries(*options_);
    prepare();
    std::vector<std::string> managed;
    std::vector<std::string> others;
    for (const std::string& policy : options_->policies) {
      (home_of(policy) == Home::managed ? managed : others).push_back(policy);
    }
    if (!others.empty()) compete(sets, make_arena(*options_, others, false));
    if (!managed.empty()) compete(sets, make_arena(*options_, managed, true));
    report_->line({{"kind", "end"}, {"failures", failures_}, {"skipped", skipped_}, {"seconds", seconds_since(start_)}});
    return failures_ == 0 ? 0 : 1;
  }

 private:
  void prepare() {
    auto from = Clock::now();
    graph_ = make_graph(*options_, workers_);
    const double generating = seconds_since(from);
    from = Clock::now();
    const DegreeReport degrees = check_degrees(graph_, workers_);
    const double checking = seconds_since(from);
    const std::size_t edges = graph_.edges.size();
    from = Clock::now();
    if (options_->labels > 0) labels_ = draw_labels(graph_.vertices, options_->labels, options_->seed, workers_);
    const std::size_t largest = *std::max_element(options_->batch.begin(), options_->batch.end());
    changes_ = draw_changes(graph_, largest * (options_->batches + options_->warmup), options_->seed);
    report_->line({{"kind", "graph"},
                   {"graph", graph_.name},
                   {"seed", options_->seed},
                   {"directed", options_->directed},
                   {"labels", options_->labels},
                   {"vertices", degrees.linked},
                   {"edges", edges},
                   {"drawn", graph_.drawn},
                   {"start_edges", graph_.edges.size()},
                   {"max_degree", degrees.largest},
                   {"mean_degree", degrees.mean},
                   {"degrees_ok", degrees.ok},
                   {"degrees_worst", degrees.worst},
                   {"threads", workers_.size()},
                   {"seconds", {{"generate", generating}, {"check", checking}, {"draw", seconds_since(from)}}}});
    if (!degrees.ok) ++failures_;
  }

  void compete(const std::vector<QuerySet>& sets, const Arena& arena) {
    const auto from = Clock::now();
    engine::BulkGraph bulk{graph_.vertices, graph_.edges.span(), labels_, {}};
    for (unsigned label = 0; label < options_->labels; ++label) bulk.label_names.push_back(std::to_string(label));
    Engine engine = engine::BulkLoader::load(
        {.directed = options_->directed, .threads = options_->threads, .backend = arena.comparison}, bulk);
    report_->line({{"kind", "load"},
                   {"graph", graph_.name},
                   {"policies", arena.policies},
                   {"vertices", engine.graph().vertices},
                   {"edges", engine.graph().edges},
                   {"adjacency_bytes", engine.graph().adjacency_bytes},
                   {"seconds", seconds_since(from)}});
    calls_.assign(arena.policies.size(), 0);
    last_.assign(arena.policies.size(), {});
    for (const QuerySet& set : sets) {
      for (const std::size_t batch : options_->batch) {
        if (seconds_since(start_) > options_->limit) {
          ++skipped_;
          continue;
        }
        compete_on(engine, arena, set, batch);
      }
    }
  }

  [[nodiscard]] UpdateBatch updates(std::size_t from, std::size_t count, bool backwards) const {
    UpdateBatch batch;
    for (std::size_t i = from; i < from + count; ++i) {
      const Change& change = changes_[i];
      Update update;
      update.kind = change.insert != backwards ? UpdateKind::insert_edge : UpdateKind::delete_edge;
      update.source = std::int64_t{change.edge.first};
      update.target = std::int64_t{change.edge.second};
      if (options_->labels > 0 && update.kind == UpdateKind::insert_edge) {
        update.source_label = label_name(change.edge.first);
        update.target_label = label_name(change.edge.second);
      }
      batch.add(update);
    }
    return batch;
  }

  [[nodiscard]] std::string_view label_name(std::uint32_t vertex) const {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> all;
      for (unsigned label = 0; label < 256; ++label) all.push_back(std::to_string(label));
      return all;
    }();
    return names[labels_[vertex]];
  }

  void compete_on(Engine& engine, const Arena& arena, const QuerySet& set, std::size_t batch) {
    std::vector<QueryId> ids;
    for (const Query& query : set.queries) ids.push_back(engine.add_query(query));
    std::vector<Record> records(arena.policies.size());
    for (std::size_t p = 0; p < records.size(); ++p) {
      records[p].before = last_[p];
      records[p].before_batches = calls_[p];
    }
    std::vector<bool> present(records.size(), true);
    std::uint64_t inserted = 0;
    std::size_t done = 0;
    const std::size_t wanted = options_->warmup + options_->batches;
    UpdateBatch current = updates(0, batch, false);
    for (; done < wanted && seconds_since(start_) <= options_->limit; ++done) {
      arena.comparison->admit(present);
      UpdateBatch next;
      if (done + 1 < wanted) next = updates((done + 1) * batch, batch, false);
      Upcoming upcoming;
      if (options_->ahead) upcoming = [&](const std::stop_token&) { return done + 1 < wanted ? &next : nullptr; };
      const BatchResult result = engine.process(current, OnReject::stop, nullptr, upcoming);
      current = std::move(next);
      if (result.inserted + result.deleted != batch) throw Error("stream", "an update changed nothing");
      inserted += result.inserted;
      const std::string name = set.name + "/" + std::to_string(batch) + "/" + std::to_string(done);
      for (std::size_t p = 0; p < records.size(); ++p) {
        if (present[p]) present[p] = take(arena, p, records[p], result, name, done >= options_->warmup);
      }
    }
    for (const QueryId id : ids) engine.remove_query(id);
    // Restores the start graph for the next set.
    for (std::size_t b = done; b-- > 0;) engine.load(updates(b * batch, batch, true));
    for (std::size_t p = 0; p < records.size(); ++p) {
      print(set, arena.policies[p], batch, done - std::min<std::size_t>(done, options_->warmup), records[p]);
    }
  }

  // Returns whether the policy takes part in the next batch.
  bool take(const Arena& arena, std::size_t p, Record& record, const BatchResult& result, const std::string& name,
            bool measured) {
    const MatcherRun& run = arena.comparison->runs()[p];
    if (!run.error.empty()) {
      record.trouble = run.error;
      ++failures_;
      return false;
    }
    ++calls_[p];
    const double kernel =
        run.statistics.real("kernel_seconds") - std::exchange(last_[p], run.statistics).real("kernel_seconds");
    if (run.complete) record.counted.push_back(name);
    if (!run.complete) {
      record.trouble = "out of time";
    } else if (!known_counts_.agrees(name, run.counts)) {
      record.agrees = false;
      ++failures_;
      Json line{{"kind", "mismatch"}, {"batch", name}, {"policy", arena.policies[p]}};
      for (const Count count : run.counts) line["counts"].push_back(to_string(count));
      for (const Count count : known_counts_.known(name)) line["expected"].push_back(to_string(count));
      report_->line(line);
    }
    if (!measured) {
      record.before = run.statistics;
      record.before_batches = calls_[p];
      return run.complete;
    }
    const double apply = result.seconds.apply;
    const double settle = result.seconds.settle;
    const std::array<double, steps.size()> seconds{apply,
                                                   run.estimate,
                                                   run.cache,
                                                   run.match,
                                                   kernel,
                                                   settle,
                                                   result.seconds.anticipate,
                                                   apply + run.estimate + run.cache + run.match + settle};
    for (std::size_t s = 0; s < steps.size(); ++s) record.seconds[s].values.push_back(seconds[s]);
    record.after = run.statistics;
    record.counts.resize(run.counts.size());
    for (std::size_t i = 0; i < run.counts.size(); ++i) record.counts[i] += run.counts[i];
    return run.complete;
  }

  // A backend reports means over all batches so far. Returns those of the batches that were measured here.
  static double of_batches(const Record& record, const std::string& name) {
    const auto earlier = static_cast<double>(record.before_batches);
    const auto now = static_cast<double>(record.seconds.back().values.size());
    return (record.after.real(name) * (earlier + now) - record.before.real(name) * earlier) / now;
  }

  void print(const QuerySet& set, const std::string& policy, std::size_t batch, std::size_t batches, const Record& record) {
    Json line{{"kind", "bench"},
              {"graph", graph_.name},
              {"directed", options_->directed},
              {"labels", options_->labels},
              {"query", set.name},
              {"policy", policy},
              {"batch", batch},
              {"batches", record.seconds.back().values.size()},
              {"ahead", options_->ahead},
              {"agrees", nullptr}};
    const auto compared = std::count_if(record.counted.begin(), record.counted.end(),
                                        [&](const std::string& name) { return known_counts_.compared(name); });
    if (compared > 0) line["agrees"] = record.agrees;
    line["compared"] = compared;
    if (!record.trouble.empty()) line["trouble"] = record.trouble;
    if (record.seconds.back().values.size() < batches) line["wanted"] = batches;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      line["median"][steps[s]] = record.seconds[s].median();
      line["mean"][steps[s]] = record.seconds[s].mean();
    }
    line["totals"] = record.seconds.back().values;
    const std::size_t queries = set.queries.size();
    if (record.counts.size() == 2 * queries) {
      Count sums[2] = {0, 0};
      for (std::size_t i = 0; i < 2 * queries; ++i) sums[i / queries] += record.counts[i];
      line["removed"] = to_string(sums[0]);
      line["new"] = to_string(sums[1]);
    }
    if (home_of(policy) != Home::host && !record.seconds.back().values.empty()) {
      for (const char* const name : {"hits", "misses", "filled", "shared_parts", "copied_bytes"}) {
        line[name] = static_cast<double>(record.after.count(name) - record.before.count(name)) /
                     static_cast<double>(record.seconds.back().values.size());
      }
      line["choices"] = record.after.count("choices") - record.before.count("choices");
      for (const char* const name : {"cached_lists", "cached_bytes"}) line[name] = record.after.count(name);
      line["memory"] = parse_bytes(options_->memory);
      if (options_->fresh) line["fresh"] = true;
      if (options_->tables != "auto") line["tables"] = options_->tables;
      if (options_->reuse != "auto") line["reuse"] = options_->reuse;
      if (options_->idle_share > 0) line["idle_share"] = options_->idle_share;
      if (parse_policy(policy).name == "random-walk") {
        line["walk_count"] = options_->walk_count;
        if (options_->walks > 0) line["walks"] = options_->walks;
      }
      if (!record.after.notice.empty()) line["notice"] = record.after.notice;
      if (options_->measure) {
        line["coverage"] = of_batches(record, "coverage");
        for (const int percent : {1, 2, 3, 4, 5, 10, 20}) {
          const std::string top = "top_" + std::to_string(percent) + "_";
          if (record.after.find(top + "accesses") == nullptr) continue;
          line["top"].push_back({{"share", percent / 100.0},
                                 {"accesses", of_batches(record, top + "accesses")},
                                 {"coverage", of_batches(record, top + "coverage")},
                                 {"bytes", of_batches(record, top + "bytes")}});
        }
      }
    }
    report_->line(line);
  }

  const BenchOptions* options_;
  Report* report_;
  Workers workers_;
  Clock::time_point start_ = Clock::now();
  Graph graph_;
  std::vector<std::uint8_t> labels_;
  std::vector<Change> changes_;
  KnownCounts known_counts_;
  std::vector<std::uint64_t> calls_;  // by policy: batches matched since its matcher was made
  std::vector<BackendStatistics> last_;
  int failures_ = 0;
  int skipped_ = 0;
};

}  // namespace
}  // namespace deltamatch::bench

int main(int argc, char** argv) {
  using namespace deltamatch;
  CLI::App app{"Matches a stream of updates under several policies and compares counts and times"};
  bench::BenchOptions options;
  bench::add_options(app, options);
  app.option_defaults()->always_capture_default();
  CLI11_PARSE(app, argc, argv);
  try {
    bench::check_options(options);
    bench::Report report(options.out);
    return options.whole ? bench::run_whole(options, report) : bench::Bench(options, report).run();
  } catch (const std::exception& error) {
    std::cerr << "gpu_bench: " << error.what() << '\n';
    return 1;
  }
}
