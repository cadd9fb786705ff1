// Counts in a whole graph under every policy. What does caching a part of it cost, beside caching all and beside the CPU?
#include "gpu_bench_whole.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/seconds.hpp"
#include "bench/harness/from_options.hpp"
#include "deltamatch/error.hpp"
#include "engine/storage/bulk_loader.hpp"

namespace deltamatch::bench {

namespace {

using Clock = std::chrono::steady_clock;

class WholeBench {
 public:
  WholeBench(const BenchOptions& options, Report& report)
      : options_(options), report_(report), workers_(options.threads), graph_(make_graph(options, workers_)) {
    if (options.labels > 0) labels_ = draw_labels(graph_.vertices, options.labels, options.seed, workers_);
    report_.line({{"kind", "whole-graph"},
                  {"graph", graph_.name},
                  {"seed", options.seed},
                  {"directed", options.directed},
                  {"labels", options.labels},
                  {"edges", graph_.edges.size()},
                  {"threads", workers_.size()},
                  {"seconds", seconds_since(start_)}});
  }

  int run() {
    const std::vector<QuerySet> sets = read_queries(options_);
    for (const std::string& policy : options_.policies) {
      const std::vector<unsigned> all{0};
      for (const unsigned part : parse_policy(policy).caches() ? options_.parts : all) {
        if (!in_time()) {
          ++skipped_;
        } else {
          compete(sets, policy, part);
        }
      }
    }
    report_.line({{"kind", "end"}, {"failures", failures_}, {"skipped", skipped_}, {"seconds", seconds_since(start_)}});
    return failures_ == 0 ? 0 : 1;
  }

 private:
  [[nodiscard]] bool in_time() const { return seconds_since(start_) <= options_.limit; }

  [[nodiscard]] Engine load(const std::string& policy, unsigned part) {
    EngineOptions made{.directed = options_.directed, .threads = options_.threads};
    if (policy == "cpu-1") made.threads = 1;
    const std::size_t memory = part == 0 ? 0 : bytes_ / part;
    if (!policy.starts_with("cpu")) made.backend = gpu_backend(options_, policy, memory);
    engine::BulkGraph bulk{graph_.vertices, graph_.edges.span(), labels_, {}};
    for (unsigned label = 0; label < options_.labels; ++label) bulk.label_names.push_back(std::to_string(label));
    return engine::BulkLoader::load(made, bulk);
  }

  void compete(const std::vector<QuerySet>& sets, const std::string& policy, unsigned part) {
    if (part != 0 && bytes_ == 0) bytes_ = load("cpu", 0).graph().adjacency_bytes;
    Engine engine = load(policy, part);
    bytes_ = engine.graph().adjacency_bytes;
    // Opens the device and numbers vertices by degree. This happens once and is not in the reported times.
    (void)engine.match(sets.front().queries.front(), timed());
    for (const QuerySet& set : sets) {
      for (const Query& query : set.queries) {
        if (in_time()) {
          count(engine, query, policy, part);
        } else {
          ++skipped_;
        }
      }
    }
  }

  [[nodiscard]] StaticOptions timed() const {
    StaticOptions made;
    made.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options_.patience));
    return made;
  }

  void count(Engine& engine, const Query& query, const std::string& policy, unsigned part) {
    Json line{{"kind", "whole"},
              {"graph", graph_.name},
              {"directed", options_.directed},
              {"labels", options_.labels},
              {"query", query.name},
              {"policy", policy},
              {"part", part},
              {"agrees", nullptr}};  // null until another policy has counted it
    const BackendStatistics before = engine.backend_statistics();
    try {
      const StaticResult result = engine.match(query, timed());
      const BackendStatistics after = engine.backend_statistics();
      line["seconds"] = result.seconds;
      const std::string matches = to_string(result.matches + (policy == options_.corrupt ? 1 : 0));
      line["matches"] = matches;
      if (!policy.starts_with("cpu")) {
        line["kernel"] = after.real("kernel_seconds") - before.real("kernel_seconds");
        for (const char* const name : {"hits", "misses", "copied_bytes"}) line[name] = after.count(name) - before.count(name);
        line["cached_bytes"] = after.count("cached_bytes");
        if (!after.notice.empty()) line["notice"] = after.notice;
      }
      if (result.shortfall != Shortfall::none) {
        line["trouble"] = "out of time";
      } else if (const auto [first, alone] = counts_.emplace(query.name, matches); !alone) {
        line["agrees"] = first->second == matches;
        if (first->second != matches) {
          line["expected"] = first->second;
          ++failures_;
        }
      }
    } catch (const std::exception& error) {
      line["trouble"] = error.what();
      ++failures_;
    }
    report_.line(line);
  }

  const BenchOptions& options_;
  Report& report_;
  Workers workers_;
  Clock::time_point start_ = Clock::now();
  Graph graph_;
  std::vector<std::uint8_t> labels_;
  std::size_t bytes_ = 0;                      // of the graph's lists
  std::map<std::string, std::string> counts_;  // by query, as seen first
  int failures_ = 0;
  int skipped_ = 0;
};

}  // namespace

int run_whole(const BenchOptions& options, Report& report) { return WholeBench(options, report).run(); }

}  // namespace deltamatch::bench
