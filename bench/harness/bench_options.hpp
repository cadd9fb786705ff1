// The command line of gpu_bench: its options, what they mean for a GPU, and the queries that it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "gpu/testing.hpp"

namespace CLI {
class App;
}

namespace deltamatch::bench {

struct BenchOptions {
  std::string graph = "rmat";
  unsigned scale = 16;
  std::uint64_t edges = 1 << 20;
  std::uint32_t vertices = 1 << 16;
  double max_degree = 4400;
  double exponent = 2.5;
  double local = 0.5;
  bool directed = false;
  unsigned labels = 0;
  std::vector<std::string> queries;
  bool together = false;
  bool whole = false;
  std::vector<unsigned> parts{4, 8};
  std::vector<std::string> policies{"cpu"};
  std::vector<std::size_t> batch{4096};
  unsigned batches = 3;
  unsigned warmup = 1;
  std::string memory = "1G";
  double walks = 0;
  std::string walk_count = "even";
  bool measure = false;
  bool fresh = false;
  bool ahead = false;
  std::string tables = "auto";
  std::string reuse = "auto";
  double idle_share = 0;
  unsigned threads = 0;
  std::uint64_t seed = 1;
  double patience = 60;
  double limit = 1e9;
  std::string corrupt;
  std::string out;
};

/// Declares the options for the graph, its stream, the queries and the random walks.
void add_stream_options(CLI::App& app, BenchOptions& options);
/// Declares these and all other options of gpu_bench.
void add_options(CLI::App& app, BenchOptions& options);

/// Reads a size such as "512M". Throws Error.
[[nodiscard]] std::size_t parse_bytes(std::string text);

/// A policy of --policies. `2xrandom-walk@512` shares batches between the first two GPUs. It counts a miss as 512 bytes more
/// than its list. `random-walk%50` lets kernels fill half of the cache. `resident+made` compiles kernels for each plan.
struct PolicyChoice {
  std::string name;
  int devices = 1;
  double miss_bytes = 0;  ///< 0: the default
  double ring_share = 0;  ///< 0: the default; below 0: none
  GpuMade kernels = GpuMade::never;

  [[nodiscard]] bool cpu() const noexcept { return name == "cpu" || name == "cpu-1"; }
  [[nodiscard]] bool caches() const noexcept {
    return name == "automatic" || name == "degree" || name == "k-hop" || name == "random-walk";
  }
};
/// Throws Error if there is no such policy.
[[nodiscard]] PolicyChoice parse_policy(const std::string& words);
/// Checks that the policies exist and that each is named once. Checks amounts that are given as words, too. Throws Error.
void check_options(const BenchOptions& options);

/// The options of a GPU under a policy. `memory` is what a caching policy may cache, in bytes. Throws Error if there is no such
/// policy.
[[nodiscard]] GpuSettings gpu_settings(const BenchOptions& options, const std::string& policy, std::size_t memory);

/// Queries that are standing at the same time.
struct QuerySet {
  std::string name;
  std::vector<Query> queries;
};

/// One set for each file, or with `together` for each folder. Throws Error.
[[nodiscard]] std::vector<QuerySet> read_queries(const BenchOptions& options);

}  // namespace deltamatch::bench
