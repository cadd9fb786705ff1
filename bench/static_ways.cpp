// Matching a whole graph in several ways on one thread: the matcher's sums, its enumeration, and the edge-at-a-time join of
// GpSM with all partial matches in memory. Counts are compared before a time is told; times are medians over rounds in which
// the ways take turns.
//
//   bench_static_ways --graph email-enron.jlg --query bench/queries/one-label [--memory 4096] [--rounds 5]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options/queries.hpp"
#include "edge_join.hpp"
#include "thread_time.hpp"
#include "whole_graph.hpp"

namespace {

using namespace deltamatch;  // NOLINT(google-build-using-namespace)

struct Options {
  std::string graph;
  std::vector<std::string> queries;
  std::size_t memory = 4096;  ///< MiB for the partial matches of the join
  int rounds = 5;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void expect_equal(const Query& query, const char* way, Count found, Count expected) {
  if (found == expected) return;
  throw std::runtime_error(query.name + ": " + way + " finds " + to_string(found) + " embeddings, sums say " +
                           to_string(expected));
}

void measure(const Query& query, graph::DataGraph& graph, const Options& options) {
  Workers one(1);
  std::vector<double> sums;
  std::vector<double> walks;
  std::vector<double> filters;
  std::vector<double> joins;
  Count embeddings = 0;
  bench::EdgeJoin join;
  for (int round = 0; round < options.rounds; ++round) {
    const double start = bench::thread_seconds();
    embeddings = bench::sum_embeddings(query, graph, one);
    sums.push_back(bench::thread_seconds() - start);
    const bench::Walked walked = bench::walk(query, graph);
    expect_equal(query, "enumeration", walked.embeddings, embeddings);
    walks.push_back(walked.seconds);
    if (!join.complete) continue;  // once too much, always too much
    join = bench::join_edges(query, graph, options.memory << 20, one);
    if (!join.complete) continue;
    expect_equal(query, "the join", join.embeddings, embeddings);
    filters.push_back(join.filter_seconds);
    joins.push_back(join.join_seconds);
  }
  const std::uint64_t most = join.partials.empty() ? 0 : *std::max_element(join.partials.begin(), join.partials.end());
  std::printf("%-16s embeddings %s  sums %.4f s  enumeration %.4f s  join ", query.name.c_str(), to_string(embeddings).c_str(),
              median(sums), median(walks));
  if (join.complete) {
    std::printf("%.4f s (and %.4f s for candidates)", median(joins), median(filters));
  } else {
    std::printf("over %zu MiB after %zu of %zu edges", options.memory, join.partials.size(), query.edges.size());
  }
  std::printf("  candidate edges %llu in %.1f MiB  most partial matches %llu  in memory %.1f MiB\n",
              static_cast<unsigned long long>(join.candidate_edges), static_cast<double>(join.candidate_bytes) / 1048576,
              static_cast<unsigned long long>(most), static_cast<double>(join.peak_bytes) / 1048576);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Ways to match a whole graph");
  app.add_option("--graph", options.graph, "Read as undirected")->required();
  app.add_option("--query", options.queries, "Files, directories, or name=PATTERN")->required();
  app.add_option("--memory", options.memory, "MiB for the partial matches of the join");
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto queries = cli::read_queries(options.queries, false);
    const auto graph = bench::read_graph(options.graph);
    std::printf("%s: %zu vertices, %llu edges\n", options.graph.c_str(), graph->dictionary.size(),
                static_cast<unsigned long long>(graph->edges()));
    for (const cli::NamedQuery& query : queries) measure(query.query, *graph, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_static_ways: %s\n", error.what());
    return 1;
  }
  return 0;
}
