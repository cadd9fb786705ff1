#include "bench_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::bench {

namespace {

Query read_query(const std::filesystem::path& path, bool directed) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::usage, path.string(), "the query cannot be read", "check the path");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string name = path.stem().string();
  return path.extension() == ".graph" ? parse_query_graph(text, name, directed, path.string())
                                      : parse_pattern(text, name, path.string());
}

// The whole text must be a number.
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && behind == end && !text.empty() ? std::optional(number) : std::nullopt;
}

// The policies that need a GPU.
const std::map<std::string, CachePolicy>& policy_names() {
  static const std::map<std::string, CachePolicy> names{
      {"automatic", CachePolicy::automatic}, {"none", CachePolicy::none},       {"degree", CachePolicy::degree},
      {"k-hop", CachePolicy::k_hop},         {"managed", CachePolicy::managed}, {"random-walk", CachePolicy::random_walk},
      {"resident", CachePolicy::resident}};
  return names;
}

}  // namespace

std::size_t parse_bytes(std::string text) {
  const std::string given = text;
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t unit = std::string("KMG").find(text.back());
    if (unit != std::string::npos) {
      shift = static_cast<unsigned>(unit + 1) * 10;
      text.pop_back();
    }
  }
  const auto number = parse_number<std::size_t>(text);
  if (!number || *number > std::numeric_limits<std::size_t>::max() >> shift) {
    throw Error(ErrorKind::usage, "--memory", "'" + given + "' is not a number of bytes", "write it as 512M");
  }
  return *number << shift;
}

std::vector<QuerySet> read_queries(const BenchOptions& options) {
  namespace fs = std::filesystem;
  std::vector<QuerySet> sets;
  for (const fs::path path : options.queries) {
    if (!fs::is_directory(path)) {
      sets.push_back({path.stem().string(), {read_query(path, options.directed)}});
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".graph" || extension == ".pattern") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) throw Error(ErrorKind::usage, path.string(), "holds no query");
    if (options.together) sets.push_back({path.filename().string(), {}});
    for (const fs::path& file : files) {
      if (!options.together) sets.push_back({file.stem().string(), {}});
      sets.back().queries.push_back(read_query(file, options.directed));
    }
  }
  return sets;
}

PolicyChoice parse_policy(const std::string& words) {
  constexpr int most_devices = 64;
  const auto refuse = [&](const char* what) { throw Error(ErrorKind::usage, "--policies", "'" + words + "' " + what); };
  PolicyChoice made{.name = words};
  const std::size_t name_at = words.find_first_not_of("0123456789");
  if (name_at != 0 && name_at != std::string::npos && words[name_at] == 'x') {
    made.devices = parse_number<int>(words.substr(0, name_at)).value_or(0);
    made.name = words.substr(name_at + 1);
    if (made.devices < 1 || made.devices > most_devices) refuse("is on no number of devices, or on too many");
  }
  // What follows a mark at the end of the name, which is cut off.
  const auto cut = [&](char mark) -> std::optional<std::string> {
    const std::size_t at = made.name.find(mark);
    if (at == std::string::npos) return std::nullopt;
    std::string tail = made.name.substr(at + 1);
    made.name.resize(at);
    return tail;
  };
  if (const std::optional<std::string> kernels = cut('+')) {
    if (*kernels != "made") refuse("has no such kernels");
    if (made.cpu()) refuse("is on no device");
    made.kernels = GpuMade::always;
  }
  const std::optional<std::string> miss = cut('@');
  const std::optional<std::string> share = cut('%');
  if (miss) {
    const auto bytes = parse_number<std::uint32_t>(*miss);
    if (!bytes || *bytes == 0) refuse("has no number of bytes");
    if (made.name != "random-walk") refuse("does not ask what a miss costs");
    made.miss_bytes = *bytes;
  }
  if (share) {
    const auto percent = parse_number<unsigned>(*share);
    if (!percent || *percent > 100) refuse("has no percentage");
    if (made.name != "random-walk") refuse("fills nothing on a miss");
    made.ring_share = *percent == 0 ? -1 : *percent / 100.0;
  }
  if (!made.cpu() && !policy_names().contains(made.name)) refuse("is not offered");
  if (made.cpu() && made.name != words) refuse("is on no device");
  return made;
}

void check_options(const BenchOptions& options) {
  std::set<std::string> seen;
  for (const std::string& policy : options.policies) {
    (void)parse_policy(policy);
    if (!seen.insert(policy).second) throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is named twice");
  }
  (void)parse_bytes(options.memory);
  if (!options.corrupt.empty() && !seen.contains(options.corrupt)) {
    throw Error(ErrorKind::usage, "--corrupt", "'" + options.corrupt + "' is none of the policies");
  }
}

GpuSettings gpu_settings(const BenchOptions& options, const std::string& policy, std::size_t memory) {
  static const std::map<std::string, GpuReuse> reuse{
      {"auto", GpuReuse::automatic}, {"always", GpuReuse::always}, {"never", GpuReuse::never}};
  static const std::map<std::string, GpuTables> tables{
      {"auto", GpuTables::automatic}, {"always", GpuTables::always}, {"never", GpuTables::never}};
  static const std::map<std::string, WalkCount> walk_counts{
      {"even", WalkCount::even}, {"fixed", WalkCount::fixed}, {"paper", WalkCount::paper}, {"formula", WalkCount::formula}};
  const PolicyChoice choice = parse_policy(policy);
  std::vector<int> devices(static_cast<std::size_t>(choice.devices));
  std::iota(devices.begin(), devices.end(), 0);
  return {{.devices = std::move(devices),
           .policy = policy_names().at(choice.name),
           .memory = choice.caches() ? memory : 0,
           .walks = options.walks,
           .walk_count = walk_counts.at(options.walk_count),
           .measure = options.measure},
          {.idle_share = options.idle_share,
           .tables = tables.at(options.tables),
           .reuse = reuse.at(options.reuse),
           .made = choice.kernels,
           .forgets = options.fresh,
           .ring_share = choice.ring_share,
           .miss_bytes = choice.miss_bytes}};
}

void add_stream_options(CLI::App& app, BenchOptions& options) {
  app.add_option("--graph", options.graph, "What to make")->check(CLI::IsMember({"rmat", "ldbc", "grid"}));
  app.add_option("--scale", options.scale, "rmat: 2^scale vertices");
  app.add_option("--edges", options.edges, "rmat, ldbc: edges drawn; repetitions are dropped");
  app.add_option("--vertices", options.vertices, "ldbc, grid: vertices");
  app.add_option("--max-degree", options.max_degree, "ldbc: expected degree of the heaviest vertex");
  app.add_option("--exponent", options.exponent, "ldbc: of the degree distribution");
  app.add_option("--local", options.local, "ldbc: share of edges within communities");
  app.add_flag("--directed,!--undirected", options.directed, "Edges have a direction");
  app.add_option("--queries", options.queries, "Query files or folders of them")->delimiter(',')->required();
  app.add_flag("--together", options.together, "All queries of a folder stand at once");
  app.add_option("--batches", options.batches, "Batches that are measured")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "Batches before those");
  app.add_option("--walks", options.walks, "Random walks for each batch")->check(CLI::NonNegativeNumber);
  app.add_option("--threads", options.threads, "Threads; 0: as many as there are cores");
  app.add_option("--seed", options.seed, "Of graph, labels and stream");
  app.add_option("--out", options.out, "Appends the JSON lines to this file, too");
}

void add_options(CLI::App& app, BenchOptions& options) {
  add_stream_options(app, options);
  app.add_option("--labels", options.labels, "Vertex labels 0, 1, ...; 0: none")->check(CLI::Range(0, 256));
  app.add_flag("--whole", options.whole, "Count the whole graph once, without a stream");
  app.add_option("--parts", options.parts,
                 "Whole graphs: caches hold one of so many parts of the lists; several: one run for each")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--policies", options.policies,
         "cpu, cpu-1 (one thread), none, degree, k-hop, managed, random-walk, resident, automatic. random-walk@BYTES "
         "takes a miss to cost so much more than reading its list. random-walk%PERCENT lets kernels fill so much of the cache. "
         "2xresident shares batches over two GPUs. resident+made compiles kernels for each plan")
      ->delimiter(',');
  app.add_option("--batch", options.batch, "Updates in a batch; several: one run for each")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
  app.add_option("--memory", options.memory, "Device memory for the lists of each caching policy, e.g. 512M");
  app.add_option("--walk-count", options.walk_count, "How walks are drawn and counted")
      ->check(CLI::IsMember({"even", "fixed", "paper", "formula"}));
  app.add_option("--idle-share", options.idle_share, "Share of the warps that must be idle before work is shared with them");
  app.add_option("--tables", options.tables, "Which sums are counted with tables")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--reuse", options.reuse, "Whether loops read again what a loop above them has found")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--measure", options.measure, "Count every look-up on the device, for coverage (slows matching down)");
  app.add_flag("--fresh", options.fresh, "Forget the cache before every batch, to see what lists that stay there save");
  app.add_flag("--ahead", options.ahead,
               "Look the ids of the next batch up while this one is matched, which takes a core from policies on the CPU");
  app.add_option("--patience", options.patience, "Seconds for a batch under one policy, which is then stopped");
  app.add_option("--limit", options.limit, "Seconds after which no further batch is begun");
  app.add_option("--corrupt", options.corrupt, "Adds one to this policy's counts, to see that it is noticed");
}

}  // namespace deltamatch::bench
