// Matching policies against each other: makes a graph and a stream of updates, matches every batch under every policy on one
// engine (bench/contest.hpp), holds the counts to each other, and prints JSON lines: one for the graph, and one for each
// combination of query set, batch size and policy. Exits with 1 where counts differ or a policy fails.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "contest.hpp"
#include "deltamatch/error.hpp"
#include "engine/bulk.hpp"
#include "graphs.hpp"
#ifdef DELTAMATCH_WITH_GPU
#include "deltamatch/gpu.hpp"
#endif

namespace deltamatch::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
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
  std::vector<std::string> policies{"cpu"};
  std::vector<std::size_t> batch{4096};
  unsigned batches = 3;
  unsigned warmup = 1;
  std::string memory = "1G";
  double walks = 0;
  bool measure = false;
  GpuTables tables = GpuTables::automatic;
  double idle_share = 0;
  unsigned threads = 0;
  std::uint64_t seed = 1;
  double patience = 60;
  double limit = 1e9;
  std::string corrupt;
  std::string out;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::size_t parse_bytes(std::string text) {
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t unit = std::string("KMG").find(text.back());
    if (unit != std::string::npos) {
      shift = static_cast<unsigned>(unit + 1) * 10;
      text.pop_back();
    }
  }
  std::size_t read = 0;
  const unsigned long long number = std::stoull(text, &read);
  if (read != text.size()) throw std::invalid_argument("--memory is no number of bytes");
  return static_cast<std::size_t>(number) << shift;
}

// Lines go to standard output and to the file, each as soon as it is known: a run that is cut short leaves what it measured.
class Report {
 public:
  explicit Report(const std::string& path) {
    if (path.empty()) return;
    file_.open(path, std::ios::app);
    if (!file_) throw Error(path, "cannot be written", "check the path");
  }
  void line(const Json& json) {
    const std::string text = json.dump();
    std::cout << text << std::endl;
    if (file_.is_open()) file_ << text << std::endl;
  }

 private:
  std::ofstream file_;
};

// The queries that stand at the same time.
struct QuerySet {
  std::string name;
  std::vector<Query> queries;
};

Query read_query(const std::filesystem::path& path, bool directed) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::usage, path.string(), "the query cannot be read", "check the path");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string name = path.stem().string();
  return path.extension() == ".graph" ? parse_query_graph(text, name, directed, path.string())
                                      : parse_pattern(text, name, path.string());
}

std::vector<QuerySet> read_queries(const Options& options) {
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

// Which engine a policy runs on: unified memory moves away under all others.
enum class Home { host, pinned, managed };

Home home_of(const std::string& policy) {
  return policy.starts_with("cpu") ? Home::host : policy == "managed" ? Home::managed : Home::pinned;
}

#ifdef DELTAMATCH_WITH_GPU
std::shared_ptr<Backend> gpu_backend(const Options& options, const std::string& policy) {
  static const std::map<std::string, CachePolicy> names{
      {"none", CachePolicy::none},       {"degree", CachePolicy::degree},           {"k-hop", CachePolicy::k_hop},
      {"managed", CachePolicy::managed}, {"random-walk", CachePolicy::random_walk}, {"resident", CachePolicy::resident}};
  const auto at = names.find(policy);
  if (at == names.end()) throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered");
  const bool cached = policy == "degree" || policy == "k-hop" || policy == "random-walk";
  return make_gpu_backend({.devices = {0},
                           .policy = at->second,
                           .memory = cached ? parse_bytes(options.memory) : 0,
                           .walks = options.walks,
                           .measure = options.measure,
                           .testing = {.idle_share = options.idle_share, .tables = options.tables}});
}
#else
std::shared_ptr<Backend> gpu_backend(const Options&, const std::string& policy) {
  throw Error(ErrorKind::usage, "--policies", "'" + policy + "' is not offered in a build without CUDA", "give cpu");
}
#endif

// The engine on which some of the policies run.
struct Arena {
  std::vector<std::string> policies;
  std::vector<std::shared_ptr<Backend>> backends;  // of those that run on the GPU
  std::shared_ptr<Contest> contest;
};

Arena make_arena(const Options& options, const std::vector<std::string>& policies, bool managed) {
  Arena arena;
  arena.policies = policies;
  graph::SlabAllocator* slabs = &graph::heap_slabs();
  std::vector<Contestant> contestants;
  for (const std::string& policy : policies) {
    Contestant contestant{policy, match::make_cpu_matcher, policy == options.corrupt};
    if (policy == "cpu-1") {
      const auto single = std::make_shared<Workers>(1);
      contestant.make = [single](Workers&) { return match::make_cpu_matcher(*single); };
    } else if (policy != "cpu") {
      const std::shared_ptr<Backend> backend = gpu_backend(options, policy);
      contestant.make = [backend](Workers& workers) { return backend->make_matcher(workers); };
      // Registered memory, which all others can read too.
      if (managed || (policy != "resident" && slabs == &graph::heap_slabs())) slabs = &backend->slabs();
      arena.backends.push_back(backend);
    }
    contestants.push_back(std::move(contestant));
  }
  arena.contest = std::make_shared<Contest>(*slabs, std::move(contestants), std::chrono::duration<double>(options.patience));
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

constexpr std::array<const char*, 6> steps{"apply", "estimate", "cache", "match", "settle", "total"};

// What a policy did over the batches of one query set and batch size.
struct Record {
  std::array<Summary, steps.size()> seconds;
  CacheStatistics before;  // the measured batches
  CacheStatistics after;
  std::uint64_t before_batches = 0;
  std::vector<Count> counts;  // summed, as in Heat
  bool agrees = true;
  std::string trouble;
};

class Bench {
 public:
  Bench(const Options& options, Report& report) : options_(&options), report_(&report), workers_(options.threads) {}

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
  Graph make_graph() {
    if (options_->graph == "rmat") {
      return make_rmat({.scale = options_->scale, .edges = options_->edges, .directed = options_->directed}, options_->seed,
                       workers_);
    }
    if (options_->graph == "ldbc") {
      return make_social({.vertices = options_->vertices,
                          .edges = options_->edges,
                          .exponent = options_->exponent,
                          .max_degree = options_->max_degree,
                          .local = options_->local,
                          .directed = options_->directed},
                         options_->seed, workers_);
    }
    const auto side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(options_->vertices)));
    return make_grid({.width = side, .height = side}, options_->seed, workers_);
  }

  void prepare() {
    auto from = Clock::now();
    graph_ = make_graph();
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
        {.directed = options_->directed, .threads = options_->threads, .backend = arena.contest}, bulk);
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

  UpdateBatch updates(std::size_t from, std::size_t count, bool backwards) const {
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
    for (; done < options_->warmup + options_->batches && seconds_since(start_) <= options_->limit; ++done) {
      arena.contest->admit(present);
      const BatchResult result = engine.process(updates(done * batch, batch, false));
      if (result.inserted + result.deleted != batch) throw Error("stream", "an update changed nothing");
      inserted += result.inserted;
      const std::string name = set.name + "/" + std::to_string(batch) + "/" + std::to_string(done);
      for (std::size_t p = 0; p < records.size(); ++p) {
        if (present[p]) present[p] = take(arena, p, records[p], result, name, done >= options_->warmup);
      }
    }
    for (const QueryId id : ids) engine.remove_query(id);
    // The next set finds the same start graph.
    for (std::size_t b = done; b-- > 0;) engine.load(updates(b * batch, batch, true));
    for (std::size_t p = 0; p < records.size(); ++p) {
      print(set, arena.policies[p], batch, done - std::min<std::size_t>(done, options_->warmup), records[p]);
    }
  }

  // Returns whether the policy goes on to the next batch.
  bool take(const Arena& arena, std::size_t p, Record& record, const BatchResult& result, const std::string& name,
            bool measured) {
    const Heat& heat = arena.contest->heats()[p];
    if (!heat.error.empty()) {
      record.trouble = heat.error;
      ++failures_;
      return false;
    }
    ++calls_[p];
    last_[p] = heat.statistics;
    if (!heat.complete) {
      record.trouble = "out of time";
    } else if (!ledger_.agrees(name, heat.counts)) {
      record.agrees = false;
      ++failures_;
      Json line{{"kind", "mismatch"}, {"batch", name}, {"policy", arena.policies[p]}};
      for (const Count count : heat.counts) line["counts"].push_back(to_string(count));
      for (const Count count : ledger_.known(name)) line["expected"].push_back(to_string(count));
      report_->line(line);
    }
    if (!measured) {
      record.before = heat.statistics;
      record.before_batches = calls_[p];
      return heat.complete;
    }
    const double apply = result.seconds.apply;
    const double settle = result.seconds.settle;
    const std::array<double, steps.size()> seconds{
        apply, heat.estimate, heat.cache, heat.match, settle, apply + heat.estimate + heat.cache + heat.match + settle};
    for (std::size_t s = 0; s < steps.size(); ++s) record.seconds[s].values.push_back(seconds[s]);
    record.after = heat.statistics;
    record.counts.resize(heat.counts.size());
    for (std::size_t i = 0; i < heat.counts.size(); ++i) record.counts[i] += heat.counts[i];
    return heat.complete;
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
              {"agrees", record.agrees}};
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
      const auto per_batch = [&](std::uint64_t before, std::uint64_t after) {
        return static_cast<double>(after - before) / static_cast<double>(record.seconds.back().values.size());
      };
      line["hits"] = per_batch(record.before.hits, record.after.hits);
      line["misses"] = per_batch(record.before.misses, record.after.misses);
      line["shared_parts"] = per_batch(record.before.shared_parts, record.after.shared_parts);
      line["copied_bytes"] = per_batch(record.before.copied_bytes, record.after.copied_bytes);
      line["cached_lists"] = record.after.cached_lists;
      line["cached_bytes"] = record.after.cached_bytes;
      line["memory"] = parse_bytes(options_->memory);
      if (options_->measure) {
        // What is told is the mean over all batches so far.
        const auto before = static_cast<double>(record.before_batches);
        const auto now = static_cast<double>(record.seconds.back().values.size());
        line["coverage"] = (record.after.coverage * (before + now) - record.before.coverage * before) / now;
      }
    }
    report_->line(line);
  }

  const Options* options_;
  Report* report_;
  Workers workers_;
  Clock::time_point start_ = Clock::now();
  Graph graph_;
  std::vector<std::uint8_t> labels_;
  std::vector<Change> changes_;
  Ledger ledger_;
  std::vector<std::uint64_t> calls_;  // by policy: batches matched since its matcher was made
  std::vector<CacheStatistics> last_;
  int failures_ = 0;
  int skipped_ = 0;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--graph", options.graph, "What to make")->check(CLI::IsMember({"rmat", "ldbc", "grid"}));
  app.add_option("--scale", options.scale, "rmat: 2^scale vertices");
  app.add_option("--edges", options.edges, "rmat, ldbc: edges drawn; repetitions are dropped");
  app.add_option("--vertices", options.vertices, "ldbc, grid: vertices");
  app.add_option("--max-degree", options.max_degree, "ldbc: expected degree of the heaviest vertex");
  app.add_option("--exponent", options.exponent, "ldbc: of the degree distribution");
  app.add_option("--local", options.local, "ldbc: share of edges within communities");
  app.add_flag("--directed,!--undirected", options.directed, "Edges have a direction");
  app.add_option("--labels", options.labels, "Vertex labels 0, 1, ...; 0: none")->check(CLI::Range(0, 256));
  app.add_option("--queries", options.queries, "Query files or folders of them")->delimiter(',')->required();
  app.add_flag("--together", options.together, "All queries of a folder stand at once");
  app.add_option("--policies", options.policies, "cpu, cpu-1 (one thread), none, degree, k-hop, managed, random-walk, resident")
      ->delimiter(',');
  app.add_option("--batch", options.batch, "Updates in a batch; several: one run for each")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--batches", options.batches, "Batches that are measured")->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "Batches before those");
  app.add_option("--memory", options.memory, "Device memory for the lists of each caching policy, e.g. 512M");
  app.add_option("--walks", options.walks, "Random walks for each batch");
  app.add_option("--idle-share", options.idle_share, "Share of the warps that must be idle before work is shared with them");
  app.add_option("--tables", options.tables, "Which sums are counted with tables")
      ->transform(CLI::CheckedTransformer(std::map<std::string, GpuTables>{
          {"auto", GpuTables::automatic}, {"always", GpuTables::always}, {"never", GpuTables::never}}));
  app.add_flag("--measure", options.measure, "Count every look-up on the device, for coverage (slows matching down)");
  app.add_option("--threads", options.threads, "Threads; 0: as many as there are cores");
  app.add_option("--seed", options.seed, "Of graph, labels and stream");
  app.add_option("--patience", options.patience, "Seconds for a batch under one policy, which is then stopped");
  app.add_option("--limit", options.limit, "Seconds after which no further batch is begun");
  app.add_option("--corrupt", options.corrupt, "Adds one to this policy's counts, to see that it is noticed");
  app.add_option("--out", options.out, "Appends the JSON lines to this file, too");
}

}  // namespace
}  // namespace deltamatch::bench

int main(int argc, char** argv) {
  using namespace deltamatch;
  CLI::App app{"Matches a stream of updates under several policies and compares counts and times"};
  bench::Options options;
  bench::add_options(app, options);
  app.option_defaults()->always_capture_default();
  CLI11_PARSE(app, argc, argv);
  try {
    bench::Report report(options.out);
    return bench::Bench(options, report).run();
  } catch (const std::exception& error) {
    std::cerr << "gpu_bench: " << error.what() << '\n';
    return 1;
  }
}
