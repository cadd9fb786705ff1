// What gpu_bench is told, what that says to a GPU, and the queries that it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/gpu.hpp"
#include "deltamatch/query.hpp"

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

/// What a graph, a stream over it, its queries and their walks are told by.
void add_stream_options(CLI::App& app, BenchOptions& options);
/// These and all others of gpu_bench.
void add_options(CLI::App& app, BenchOptions& options);

/// "512M" and the like. Throws Error.
[[nodiscard]] std::size_t parse_bytes(std::string text);

/// A policy as --policies has it: 2xrandom-walk@512 shares batches over the first two GPUs and takes a miss to cost as much as
/// reading 512 bytes more.
struct PolicyChoice {
  std::string name;
  int devices = 1;
  double miss_bytes = 0;  ///< 0: as ever

  [[nodiscard]] bool cpu() const noexcept { return name == "cpu" || name == "cpu-1"; }
  [[nodiscard]] bool caches() const noexcept {
    return name == "automatic" || name == "degree" || name == "k-hop" || name == "random-walk";
  }
};
/// Throws Error where there is no such policy.
[[nodiscard]] PolicyChoice parse_policy(const std::string& words);
/// Whether there are such policies, each named once, and amounts that are told in words are some. Throws Error.
void check_options(const BenchOptions& options);

/// What a GPU is to do under a policy; `memory`: bytes for what a caching policy caches. Throws Error where there is no such
/// policy.
[[nodiscard]] GpuOptions gpu_options(const BenchOptions& options, const std::string& policy, std::size_t memory);

/// The queries that stand at the same time.
struct QuerySet {
  std::string name;
  std::vector<Query> queries;
};

/// One set for each file, or with `together` for each folder. Throws Error.
[[nodiscard]] std::vector<QuerySet> read_queries(const BenchOptions& options);

}  // namespace deltamatch::bench
